"""The working tree: what is written but not committed. Recall never reads it, it only counts it."""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path

import pygit2

from seed.git.repository import KNOWLEDGE, Repository, head_commit
from seed.git.tree import is_record_path, list_files, subtree
from seed.yamltext import MAX_BYTES

_RECHECK_SECONDS = 1.0


def uncommitted(repo: Repository) -> int:
    """Return how many record files of the working tree differ from HEAD or are new; looked at once a second."""
    if repo.bare:
        return 0
    return _uncommitted(
        repo.root, id(repo), head_commit(repo), int(time.monotonic() / _RECHECK_SECONDS), repo=_Held(repo)
    )


class _Held:
    """Carries the repository past the cache's key."""

    def __init__(self, repo: Repository) -> None:
        self.repo = repo

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held)


@lru_cache(maxsize=8)
def _uncommitted(root: Path, _identity: int, head: str, _second: int, *, repo: _Held) -> int:
    committed = {e.path: e.blob for e in list_files(repo.repo, subtree(repo.repo, head))} if head else {}
    return sum(1 for path, file in record_files(root) if committed.get(path) != _blob_id(file))


@lru_cache(maxsize=100_000)
def _hash(path: str, size: int, modified: int) -> str:
    data = Path(path).read_bytes().replace(b"\r\n", b"\n")
    return str(pygit2.hash(data))


def _blob_id(file: Path) -> str:
    """Return git's id of a file with CRLF read as LF; unchanged files are not read again."""
    try:
        info = file.stat()
        return _hash(str(file), info.st_size, info.st_mtime_ns) if info.st_size <= MAX_BYTES else ""
    except OSError:
        return ""


def record_files(root: Path) -> list[tuple[str, Path]]:
    """Return (repository path, file) of every record file of the working tree; links are not followed."""
    folder = root / KNOWLEDGE
    if not folder.is_dir() or folder.is_symlink():
        return []
    found = [
        (file.relative_to(root).as_posix(), file)
        for file in folder.rglob("*.yaml")
        if not file.is_symlink() and file.is_file()
    ]
    return sorted((path, file) for path, file in found if is_record_path(path))
