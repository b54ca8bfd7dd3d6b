"""The working tree and the index: what is written but not committed. Recall never reads it, it only counts it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pygit2

from seed.errors import SidecarError
from seed.git.command import run_git
from seed.git.repository import KNOWLEDGE, Repository, head_commit
from seed.git.tree import is_record_path, list_files, readable, subtree
from seed.yamltext import MAX_BYTES

_RECHECK_SECONDS = 1.0
_STATUS = "--no-optional-locks status --porcelain -z --untracked-files=all --no-renames".split()


class WorkingTree:
    """Counts what is written but not committed; looks at the files at most once a second."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._hashes: dict[tuple[str, int, int], tuple[str, str]] = {}
        self._counted: tuple[str, float, int] = ("", -_RECHECK_SECONDS, 0)

    def uncommitted(self) -> int:
        """Return how many record files of the working tree differ from HEAD or are new."""
        if self._repo.bare:
            return 0
        head, now = head_commit(self._repo), time.monotonic()
        if self._counted[0] != head or now - self._counted[1] >= _RECHECK_SECONDS:
            self._counted = (head, now, self._count(head))
        return self._counted[2]

    def _count(self, head: str) -> int:
        files = touched_files(self._repo)
        if not files:
            return 0
        tree = subtree(self._repo, head) if head else ""
        committed = {entry.path: entry.blob for entry in list_files(self._repo, tree)}
        return sum(1 for path, file in files if not self._same(file, committed.get(path, "")))

    def _same(self, file: Path, committed: str) -> bool:
        """Tell whether a file is what is committed: as it stands, or with the line ends that a checkout may change."""
        as_is, plain = self._blobs(file)
        return bool(committed) and (not as_is or committed in (as_is, plain))

    def _blobs(self, file: Path) -> tuple[str, str]:
        """Return git's ids of a file as it stands and with CRLF read as LF; "" for one too large to be a record."""
        try:
            info = file.stat()
            if info.st_size > MAX_BYTES:
                return "", ""
            key = (str(file), info.st_size, info.st_mtime_ns)
            if key not in self._hashes:
                data = file.read_bytes()
                plain = data.replace(b"\r\n", b"\n")
                self._hashes[key] = (str(pygit2.hash(data)), str(pygit2.hash(plain)))
            return self._hashes[key]
        except OSError:
            return "", ""


def touched_files(repo: Repository) -> list[tuple[str, Path]]:
    """Return (repository path, file) of the record files that git does not find as they are committed.

    Git compares times and sizes with its index, where we would have to read every file. Without git every record file
    is returned.
    """
    try:
        done = run_git([*_STATUS, "--", KNOWLEDGE], repo.root)
    except SidecarError:
        return record_files(repo.root)
    paths = [readable(line[3:]) for line in done.stdout.split(b"\0") if line]
    found = [(path, repo.root / path) for path in paths if is_record_path(path)]
    return [(path, file) for path, file in found if not file.is_symlink() and file.is_file()]


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


def uncommitted(repo: Repository, paths: Sequence[str]) -> list[str]:
    """Return which of these files and folders hold something that `git add` would take. Raises `SidecarError`."""
    found = []
    for path in paths:
        done = run_git(["status", "--porcelain", "--", path], repo.root) if (repo.root / path).exists() else None
        if done and done.stdout:
            found.append(path)
    return found
