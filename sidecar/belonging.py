"""Whether a session belongs to a repository: by where it ran, else by the first commit of what stands there."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from seed.errors import SidecarError
from seed.git.history import first_commits
from seed.git.repository import Repository, open_repository
from seed.transcript.capture import HEAD_BYTES, identify


def require_own(repo: Repository, path: Path) -> None:
    """Raise `SidecarError` unless the session file ``path`` ran in this repository, a worktree or a clone of it."""
    try:
        with path.open("rb") as file:
            cwd = identify(file.read(HEAD_BYTES)).cwd
    except OSError as exc:
        raise SidecarError(f"cannot read {path}: {exc.strerror}", "name a session file, or leave files out") from None
    if not cwd or not (_inside(cwd, repo) or _same(cwd, repo)):
        raise SidecarError(
            f"{path.name} ran in {cwd or 'a folder it does not name'}, not in {repo.root}",
            "capture it by hand with 'sidecar transcript capture', or start the server with --any-session",
        )


def require_place(repo: Repository, folder: Path, places: Iterable[Path]) -> None:
    """Raise `SidecarError` unless ``folder`` may be searched for sessions: it lies in the repository or in a place.

    Anything else could be the whole disk, and what stands there is nobody's to list.
    """
    if not any(folder.resolve().is_relative_to(place.resolve()) for place in (repo.root, *places)):
        raise SidecarError(
            f"{folder} is neither an agent's folder of sessions nor in {repo.root}",
            "name session files, or leave files out for the newest of this repository",
        )


def _inside(cwd: str, repo: Repository) -> bool:
    return any(Path(name).is_relative_to(repo.root) for name in (cwd, os.path.realpath(cwd)))


def _same(cwd: str, repo: Repository) -> bool:
    """Whether what stands at ``cwd`` now is a worktree of the repository, or begins with the same commit."""
    try:
        other = open_repository(Path(cwd))
        return other.common == repo.common or bool(first_commits(other) & first_commits(repo))
    except SidecarError:
        return False
