"""Which engine holds a repository's store: the server that policy and this user agree on, else the embedded one."""

from __future__ import annotations

import platform
import time
from contextlib import suppress

from seed import seeder
from seed.encodable import encodable
from seed.errors import SidecarError, StoreError, UnreachableError
from seed.git.repository import Repository, head_commit
from seed.git.shared import shared_name
from seed.git.tree import configuration, subtree
from seed.store import opening
from seed.store.address import URL, Address, address
from seed.store.engine import Chain, Engine
from seed.store.paths import kept_folder, store_folder

AWAY_SECONDS = 10.0
"""How long a server that was away is not looked for: to look may take seconds."""
EMBEDDED, SERVER = "sqlite", "postgresql"


class Shelf:
    """The store of one repository, and the embedded one that stands in while the server is away.

    Policy in Git only asks for a server; where it is, only this user says (decision-0010).
    """

    def __init__(self, repo: Repository) -> None:
        self.repo = repo
        self.folder = store_folder(repo.name, repo.common)
        self.fault = ""
        """Why the embedded store answers although policy asks for a server; "" where that is not so."""
        self._again = 0.0
        self._chain: Chain | None = None
        self.address: Address | None = None
        try:
            self.address = asked(repo)
        except StoreError as exc:
            self.fault = str(exc)
        self.store: Engine = self._opened()

    def _opened(self) -> Engine:
        if self.address is not None:
            try:
                return opening.open_server(self.address, shared_name(self.repo), self.folder)
            except SidecarError as exc:
                self._away(exc)
        return opening.open_store(self.folder)

    @property
    def replicated(self) -> bool:
        """Tell whether another server may answer where one does not."""
        return self.address is not None and bool(self.address.replicas) and not self.fault

    def _away(self, exc: SidecarError) -> None:
        self.fault = f"engine {SERVER} is not used now, the embedded store answers: {exc.message}"
        self._again = time.monotonic() + AWAY_SECONDS

    def stand_in(self, exc: UnreachableError) -> None:
        """Let the embedded store answer from now on; the server is looked for again after a while."""
        self._away(exc)
        self._replace(opening.open_store(self.folder))

    def look_again(self) -> bool:
        """Go back to a server that was away; tell whether the store changed."""
        if self.address is None or not self.fault or time.monotonic() < self._again:
            return False
        try:
            found = opening.open_server(self.address, shared_name(self.repo), self.folder)
        except SidecarError as exc:
            self._away(exc)
            return False
        self.fault = ""
        self._replace(found)
        return True

    def _replace(self, store: Engine) -> None:
        with suppress(SidecarError):
            self.store.close()
        self.store = store

    def degraded(self, wanted: str) -> str:
        """Return why another engine answers than the one policy wants, "" where it is that one."""
        if wanted in (EMBEDDED, self.store.name):
            return ""
        return self.fault or f"engine {wanted} has no address on this machine ({URL}), the embedded store answers"

    def receipts(self) -> Chain:
        """Return the receipts: on the server where it is the engine, so that all who answer from it share them.

        Raises `StoreError` while the server is away: a receipt that is kept elsewhere would be missing there.
        """
        if self.address is not None and self.fault:
            raise StoreError(self.fault)
        if self._chain is None:
            self._chain = open_receipts(self.repo)
        return self._chain

    def close(self) -> None:
        """Close the store and the receipts."""
        self.store.close()
        if self._chain is not None:
            self._chain.close()


def fallback_note(repo: Repository) -> str:
    """Return under which name the store notes the key of the snapshot that a worktree of this machine falls back on."""
    return f"head:{platform.node()}:{encodable(repo.git.path)}"


def asked(repo: Repository) -> Address | None:
    """Return the server's address where the policy of HEAD asks for one and this user has one, else None.

    Nothing is parsed where this user has none. Raises `StoreError` for an address that cannot be meant.
    """
    found = address()
    if found is None:
        return None
    commit = head_commit(repo)
    policy = seeder.read_policy(repo, configuration(repo, subtree(repo, commit) if commit else ""))[0]
    return found if policy.engine == SERVER else None


def open_receipts(repo: Repository) -> Chain:
    """Open the receipts of a repository: on the server where it is the engine, else here. Raises `SidecarError`."""
    try:
        found = asked(repo)
    except StoreError:
        found = None
    if found is None:
        return opening.open_receipts(kept_folder(repo.name, repo.common))
    return opening.open_server_receipts(found, shared_name(repo))
