"""Open a store or receipts by what is known of the engine. A further engine is named here, and nowhere else."""

from __future__ import annotations

from pathlib import Path

from seed.store import store
from seed.store.address import Address
from seed.store.engine import Chain, Engine, Seen
from seed.store.receipts import Receipts


def open_store(folder: Path) -> Engine:
    """Open the embedded store, for reading alone where the disk takes no writing. Raises `StoreError`."""
    return store.open_store(folder)


def open_receipts(folder: Path) -> Chain:
    """Open the receipts beside what this machine keeps. Raises `StoreError`."""
    return Receipts(folder)


def open_server(address: Address, repository: str, folder: Path) -> Engine:
    """Open the store of a repository (a name that all machines share) on a server. Raises `SidecarError`.

    ``folder`` is this machine's own, for what is no part of the store.
    """
    from seed.store.postgres.opening import open_store as opened

    return opened(address, repository, folder)


def open_server_receipts(address: Address, repository: str) -> Chain:
    """Open the receipts of a repository on a server. Raises `SidecarError`."""
    from seed.store.postgres.opening import open_receipts as opened

    return opened(address, repository)


def look_at_server(address: Address, repository: str, key: str) -> Seen:
    """Return what a server says of itself and of a snapshot, changing nothing. Raises `SidecarError`."""
    from seed.store.postgres.look import look

    return look(address, repository, key)
