"""Open the store and the receipts of a repository at an address."""

from __future__ import annotations

from pathlib import Path

from seed.errors import UnreachableError
from seed.store.address import Address
from seed.store.paths import STORE_FORMAT
from seed.store.postgres.connect import Database
from seed.store.postgres.migrate import migrate, ready
from seed.store.postgres.receipts import PostgresReceipts
from seed.store.postgres.store import PostgresStore


def connected(address: Address) -> Database:
    """Return a database that is of our version. Raises `UnreachableError` or `StoreError`.

    Where the primary is away and a replica is there, it is used as it stands.
    """
    database = Database(address)
    try:
        try:
            database.primary.first()
        except UnreachableError:
            if not database.replicas or not database.read(ready):
                raise
        else:
            migrate(database)
    except BaseException:
        database.close()
        raise
    return database


def open_store(address: Address, repository: str, folder: Path) -> PostgresStore:
    """Return the store of a repository. Raises `StoreError`."""
    # As a new format is a new folder on a disk, so it has rows of its own here: two versions never spoil each other's.
    database = connected(address)
    try:
        return PostgresStore(database, f"{repository}#{STORE_FORMAT}", folder)
    except BaseException:
        database.close()
        raise


def open_receipts(address: Address, repository: str) -> PostgresReceipts:
    """Return the receipts of a repository. Raises `StoreError`."""
    return PostgresReceipts(connected(address), repository)
