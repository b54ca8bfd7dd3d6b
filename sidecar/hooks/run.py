"""What hooks run in the background: seed HEAD, one process at a time, and look again when asked meanwhile.

The shell half leaves ``sidecar-pending`` in a worktree's git directory. Whoever seeds takes that mark away before it
looks at HEAD, so a change that found the mark is seen, and one that comes later leaves a new mark.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from seed.errors import SidecarError, StoreError
from seed.git.hooks import state, worktree_folders
from seed.git.repository import Repository, head_commit, in_progress, open_repository
from seed.store.lock import exclusive
from seed.store.paths import private_folder, store_folder
from sidecar.hooks import log

if TYPE_CHECKING:
    from sidecar.provider import Provider

PENDING, SEEDED = "sidecar-pending", "sidecar-seeded"

Say = Callable[[str], None]


def warm(name: str, folder: Path) -> None:
    """Seed what hooks asked for. Every outcome, an error included, is a line in the store's ``hooks.log``."""
    repo = open_repository(folder)
    store = private_folder(store_folder(repo.name, repo.common))

    def say(text: str) -> None:
        log.append(store / log.NAME, f"{name}: {text}")

    while _pending(repo):
        try:
            with exclusive(store / "hooks.lock", 0.0):
                _serve_all(repo, say)
        except StoreError as exc:
            # The holder looks for marks once more after it let go, so ours is not forgotten.
            say(f"left to another process: {exc.message}")
            return


def _pending(repo: Repository) -> list[Path]:
    return [folder for folder in worktree_folders(repo.common) if (folder / PENDING).exists()]


def _serve_all(repo: Repository, say: Say) -> None:
    from sidecar.provider import Provider  # numpy and the embedders: only the process that seeds pays for them

    with ExitStack() as stack:
        providers: dict[Path, Provider] = {}
        while folders := _pending(repo):
            for folder in folders:
                (folder / PENDING).unlink(missing_ok=True)
                try:
                    if folder not in providers:
                        providers[folder] = stack.enter_context(closing(Provider(folder)))
                    _serve(folder, providers[folder], say)
                except (SidecarError, OSError) as exc:
                    say(f"failed: {exc}")


def _serve(folder: Path, provider: Provider, say: Say) -> None:
    repo = open_repository(folder)
    if in_progress(repo):
        return  # the sequence's own hooks ask again when it is over
    commit = head_commit(repo)
    if not commit:
        return
    before = state(folder, commit)
    say(f"seeding {commit}")
    done = provider.seed(commit)
    (folder / SEEDED).write_text(before, encoding="utf-8", errors="surrogateescape")
    say(f"seeded {commit}: {done['records']} records, {done['embedded']} passages embedded, {done['seconds']:.1f} s")
