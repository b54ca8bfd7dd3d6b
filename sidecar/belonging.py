"""Whether a session belongs to a repository: by where it ran, else by the first commit of what stands there."""

from __future__ import annotations

import os
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


def _inside(cwd: str, repo: Repository) -> bool:
    return any(Path(name).is_relative_to(repo.root) for name in (cwd, os.path.realpath(cwd)))


def _same(cwd: str, repo: Repository) -> bool:
    """Whether what stands at ``cwd`` now is a worktree of the repository, or begins with the same commit."""
    try:
        other = open_repository(Path(cwd))
        return other.common == repo.common or bool(first_commits(other) & first_commits(repo))
    except SidecarError:
        return False
