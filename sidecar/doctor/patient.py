"""What the checks look at, opened once and only for reading: the repository and its store, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from seed.errors import SidecarError
from seed.git.repository import Repository, head_commit, open_repository
from seed.store.paths import kept_folder, store_folder

if TYPE_CHECKING:
    from seed.assemble import Wanted
    from seed.policy import Policy
    from seed.store.store import Store


@dataclass(frozen=True, slots=True)
class Patient:
    """A folder under examination. ``repo`` and ``store`` are None where they cannot be opened; ``fault`` says why.

    ``user`` is the home folder in which agents keep their configuration.
    """

    folder: Path
    user: Path
    repo: Repository | None = None
    fault: SidecarError | None = None
    store: Store | None = None
    store_fault: str = ""

    @property
    def git(self) -> Repository:
        """Return the repository. Raises `SidecarError` where there is none, which leaves a check out."""
        if self.repo is None:
            raise SidecarError("no repository")
        return self.repo

    @property
    def data(self) -> Store:
        """Return the store. Raises `SidecarError` where there is none, which leaves a check out."""
        if self.store is None:
            raise SidecarError(self.store_fault or "no store yet")
        return self.store

    @property
    def store_folder(self) -> Path:
        """Return where the store of the repository lies, made or not."""
        return store_folder(self.git.name, self.git.common)

    @property
    def kept(self) -> Path:
        """Return where receipts and transcripts of the repository lie, made or not."""
        return kept_folder(self.git.name, self.git.common)

    @property
    def on_server(self) -> bool:
        """Tell whether the store and the receipts are on a server: policy asks for one, and this user has one."""
        from sidecar.shelf import asked

        return asked(self.git) is not None

    def wanted(self) -> Wanted:
        """Return what the snapshot of HEAD consists of."""
        from seed import seeder
        from seed.git.candidates import candidates

        head = head_commit(self.git)
        return seeder.wanted(self.git, head, candidates(self.git, head))

    def policy(self) -> tuple[Policy, str]:
        """Return (policy in force at HEAD, its fault or "")."""
        from seed import seeder
        from seed.git.tree import configuration

        policy, _, fault = seeder.read_policy(self.git, configuration(self.git, self.wanted().tree))
        return policy, fault


@contextmanager
def examined(folder: Path, user: Path) -> Iterator[Patient]:
    """Open a folder's repository and store for reading; what cannot be opened becomes part of the picture."""
    try:
        repo = open_repository(folder)
    except (SidecarError, OSError) as exc:
        yield Patient(folder, user, fault=exc if isinstance(exc, SidecarError) else SidecarError(str(exc)))
        return
    try:
        store, reason = _store(store_folder(repo.name, repo.common))
    except SidecarError as exc:  # where the store would lie cannot even be named
        store, reason = None, exc.message
    try:
        yield Patient(folder, user, repo, store=store, store_fault=reason)
    finally:
        if store is not None:
            store.close()


def _store(folder: Path) -> tuple[Store | None, str]:
    """Return the store opened for reading, or why it cannot be used."""
    from seed.store import inspect
    from seed.store.paths import STORE_FORMAT
    from seed.store.store import Store

    if not (folder / "store.db").exists():
        return None, ""
    try:
        store = Store(folder, reading=True)
    except (SidecarError, OSError) as exc:
        return None, str(exc)
    try:
        found = inspect.store_format(store.database)
        other = f"it has format {found}, this sidecar knows {STORE_FORMAT}" if found else "it is empty"
        reason = other if found != STORE_FORMAT else ""
        reason = reason or inspect.fault(store.database)
    except SidecarError as exc:
        reason = exc.message
    if reason:
        store.close()
    return (None, reason) if reason else (store, "")
