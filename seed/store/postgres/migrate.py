"""Bring a database to the version that this sidecar knows, one step a transaction; refuse a newer one."""

from __future__ import annotations

import psycopg
from psycopg import errors

from seed.errors import StoreError
from seed.store.address import shown
from seed.store.postgres.connect import Database
from seed.store.postgres.schema import MIGRATIONS, PREPARE, VERSION
from seed.store.postgres.server import Connection, refused

_LOCK = 0x51DECA8
"""The advisory lock under which databases are made: two machines that start at once do it one after the other."""


def migrate(database: Database, *, steps: tuple[str, ...] = MIGRATIONS) -> int:
    """Apply the steps that a database lacks. Returns its version afterwards. Raises `StoreError`."""
    url = database.primary.url
    with database.borrowed() as connection:
        try:
            found = version(connection)
            if found > len(steps):
                raise StoreError(
                    f"the database {shown(url)} has version {found}, newer than this sidecar's {len(steps)}",
                    "update the sidecar",
                )
            if found < len(steps):
                _raise_to(connection, steps)
        except errors.InsufficientPrivilege:
            raise StoreError(
                f"the database {shown(url)} is not set up for this sidecar",
                "let the owner of the database run 'sidecar seed' once, then sidecar.admit(role, workspaces)",
            ) from None
        except psycopg.OperationalError as exc:
            raise database.primary.unreachable(exc) from None
        except psycopg.Error as exc:
            raise refused(exc, database.primary) from None
    return len(steps)


def version(connection: Connection) -> int:
    """Return the version of a database, 0 for one without our tables."""
    if connection.execute("SELECT to_regclass('sidecar.versions')").fetchone() == (None,):
        return 0
    row = connection.execute("SELECT COALESCE(max(version), 0) FROM sidecar.versions").fetchone()
    return int(row[0]) if row else 0


def _raise_to(connection: Connection, steps: tuple[str, ...]) -> None:
    connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
    try:
        with connection.transaction():
            connection.execute(PREPARE)
        for number in range(version(connection), len(steps)):
            with connection.transaction():
                connection.execute(steps[number].encode())
                connection.execute("INSERT INTO sidecar.versions (version) VALUES (%s)", (number + 1,))
    finally:
        connection.execute("SELECT pg_advisory_unlock(%s)", (_LOCK,))


def ready(connection: Connection) -> bool:
    """Tell whether a database has exactly the version that this sidecar knows."""
    return version(connection) == VERSION
