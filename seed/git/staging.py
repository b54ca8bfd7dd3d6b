"""The index: what the next commit will hold. Only `check --staged` reads it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pygit2

from seed.git.repository import KNOWLEDGE, Repository
from seed.git.tree import Entry, readable

_PREFIX = KNOWLEDGE.encode() + b"/"
_EMPTY = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
"""Git's id of an empty file, which ``git add --intent-to-add`` leaves in the index."""
_MANY = 2000
"""From so many entries on, git's own walk is faster than one entry after the other through Python."""


@dataclass(frozen=True, slots=True)
class Staged:
    """The index under knowledge/: what the next commit holds, and the paths of an unfinished merge."""

    entries: list[Entry]
    unmerged: list[str]


def staged(repo: Repository) -> Staged:
    """Return what the index holds under knowledge/: of a hook, the index that the commit is made from.

    libgit2 reads the repository's own index, git itself any other and the kinds that libgit2 does not know (split,
    sparse). Raises `SidecarError` where neither can.
    """
    index = _index_file(repo)
    found = _by_libgit2(repo) if index is None else None
    found = found or _by_git(repo, index)
    if any(entry.blob == _EMPTY for entry in found.entries):
        intended = _intended(repo, index)
        found = Staged([e for e in found.entries if e.blob != _EMPTY or e.path not in intended], found.unmerged)
    return found


def _index_file(repo: Repository) -> Path | None:
    """Return the index that a hook's commit is made from (GIT_INDEX_FILE), or None for the repository's own.

    Another repository's index is passed over: a hook there may have called us for this one.
    """
    named = os.environ.get("GIT_INDEX_FILE", "")
    own = Path(os.fsdecode(repo.git.path)).resolve()
    path = (repo.root / named).resolve()
    if not named or path == own / "index" or not path.is_file():
        return None
    return None if path.parent != own and (path.parent / "HEAD").exists() else path


def _by_libgit2(repo: Repository) -> Staged | None:
    try:
        index = repo.git.index
        index.read(force=True)
    except pygit2.GitError:
        return None
    if len(index) > _MANY:
        return None
    unmerged = {side.path for sides in index.conflicts or () for side in sides if side is not None}
    names = [(e, e.path.encode("utf-8", "surrogateescape")) for e in index if e.path not in unmerged]
    entries = [Entry(readable(raw), str(e.id), e.mode) for e, raw in names if raw.startswith(_PREFIX)]
    lost = {readable(path.encode("utf-8", "surrogateescape")) for path in unmerged}
    return Staged(entries, sorted(path for path in lost if path.startswith(KNOWLEDGE + "/")))


def _by_git(repo: Repository, index: Path | None) -> Staged:
    lines = _git(repo, index, "ls-files", "--stage", "--full-name", "-z", "--", KNOWLEDGE)
    entries, unmerged = [], set()
    for line in lines:
        facts, _, name = line.partition(b"\t")
        mode, blob, stage = facts.decode("ascii").split(" ")
        if stage == "0":
            entries.append(Entry(readable(name), blob, int(mode, 8)))
        else:
            unmerged.add(readable(name))
    return Staged(entries, sorted(unmerged))


def _intended(repo: Repository, index: Path | None) -> set[str]:
    """Return the paths of ``git add --intent-to-add``, which are not part of the commit."""
    lines = _git(repo, index, "diff-files", "--name-only", "--diff-filter=A", "-z", "--", KNOWLEDGE)
    return {readable(name) for name in lines}


def _git(repo: Repository, index: Path | None, *arguments: str) -> list[bytes]:
    from seed.git.command import run_git

    extra = {"GIT_INDEX_FILE": str(index)} if index else None
    return [line for line in run_git(arguments, repo.root, extra=extra).stdout.split(b"\0") if line]
