"""The index: what the next commit will hold, and what it changes. Only `check --staged` reads it."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import pygit2

from seed.git.repository import KNOWLEDGE, Repository
from seed.git.tree import Entry, readable

_PREFIX = KNOWLEDGE.encode() + b"/"
_EMPTY = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
"""Git's id of an empty file, which ``git add --intent-to-add`` leaves in the index."""
_ESCAPES = (r"\x", r"\u")
_MANY = 2000
"""From so many entries on, git's own walk is faster than one entry after the other through Python."""


@dataclass(frozen=True, slots=True)
class Staged:
    """The index under knowledge/: what the next commit holds, and the paths of an unfinished merge."""

    entries: list[Entry]
    unmerged: list[str]


@dataclass(frozen=True, slots=True)
class Change:
    """One file under knowledge/ that the index holds otherwise than HEAD: its entry now and before, None for none."""

    path: str
    now: Entry | None
    before: Entry | None
    unmerged: bool = False


def changes(repo: Repository) -> list[Change]:
    """Return what the next commit changes against HEAD, by path; a rename is one file gone and one added.

    Raises `SidecarError` where git cannot say.
    """
    words = ("diff-index", "--cached", "--raw", "--no-renames", "--no-ext-diff", "--abbrev=64", "-z", "HEAD", "--")
    found: dict[str, Change] = {}
    told = iter(_git(repo, _index_file(repo), *words, KNOWLEDGE))
    for facts, name in zip(told, told, strict=True):
        old_mode, new_mode, old, new, status = facts.decode("ascii").removeprefix(":").split(" ")
        path = readable(name)
        before, now = (_entry(path, mode, blob) for mode, blob in ((old_mode, old), (new_mode, new)))
        unmerged = status == "U" or (path in found and found[path].unmerged)
        found[path] = Change(path, now, before, unmerged)
    return sorted(found.values(), key=lambda change: change.path)


def _entry(path: str, mode: str, blob: str) -> Entry | None:
    return Entry(path, blob, int(mode, 8)) if int(mode, 8) else None


def mentioning(repo: Repository, words: Collection[str]) -> set[str] | None:
    """Return the files under knowledge/ of the index in which one of these ASCII words stands, in any case.

    Files with an escape, by which YAML may spell a word in another way, count as well. None where git might fetch to
    tell: a partial clone's blobs may be missing, and the sidecar never fetches by itself.
    """
    if any(entry.name.startswith("remote.") and entry.name.endswith(".promisor") for entry in repo.git.config):
        return None
    patterns = [part for word in (*sorted(words), *_ESCAPES) for part in ("-e", word)]
    options = ("--cached", "-l", "-z", "-a", "-i", "-F", "--no-recurse-submodules", "--full-name")
    lines = _git(repo, _index_file(repo), "grep", *options, *patterns, "--", KNOWLEDGE, none=1)
    return {readable(name) for name in lines}


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


def _git(repo: Repository, index: Path | None, *arguments: str, none: int = 0) -> list[bytes]:
    """Return what git prints, at its NULs; an exit code of ``none`` means that it found nothing."""
    from seed.git.command import run_git

    extra = {"GIT_INDEX_FILE": str(index)} if index else None
    done = run_git(arguments, repo.root, extra=extra, allowed=(0, none))
    return [line for line in done.stdout.split(b"\0") if line]
