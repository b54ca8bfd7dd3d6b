"""Read trees and blobs of a commit: raw, in one pass, never following a link out of the repository."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import pygit2

from seed.errors import SidecarError
from seed.git.repository import KNOWLEDGE, Repository
from seed.yamltext import MAX_BYTES

CONFIGURATION = ("knowledge/policy.yaml", "knowledge/glossary.yaml")
_NO_NAMES = (b"", b".", b"..", b".git")
"""What no file is called: Git checks a tree with such a name out nowhere, and a path with it would lead elsewhere."""
_CONFIGURED = frozenset(path.rpartition("/")[2].encode() for path in CONFIGURATION)
_TREE, LINK, SUBMODULE = 0o40000, 0o120000, 0o160000
_NO_FILES = (LINK, SUBMODULE)


_ENTRY = {size: re.compile(rb"(\d+) ([^\0]+)\0(.{%d})" % size, re.DOTALL) for size in (20, 32)}


class Entry(NamedTuple):  # and no dataclass: a listing makes one for every file, and this takes a third of the time
    """One file of a tree: repository path (as UTF-8 text, odd bytes escaped), blob id, and file mode."""

    path: str
    blob: str
    mode: int = 0o100644


@dataclass(slots=True, eq=False)  # not frozen: Python sets a traceback on what it raises
class UnreadableBlobError(Exception):
    """A blob that is missing in this clone (partial clone, damage) or too large to be a record."""

    reason: str
    fix: str


def raw_entries(repo: Repository, oid: str) -> list[tuple[bytes, bytes, bytes]]:
    """Return (mode, name, object id) of one tree object as Git keeps them, without loading what it names."""
    try:
        _, data = repo.git.odb.read(oid)
    except (KeyError, pygit2.GitError):
        raise SidecarError(f"tree {oid[:12]} is missing in this clone", f"git fetch origin {oid}") from None
    return _ENTRY[len(oid) // 2].findall(data)


def read_tree(repo: Repository, oid: str) -> Iterator[tuple[int, bytes, str]]:
    """Yield (mode, raw name, object id) of one tree object, without loading what it names."""
    return _read(raw_entries(repo, oid))


def _read(entries: Iterable[tuple[bytes, bytes, bytes]]) -> Iterator[tuple[int, bytes, str]]:
    for mode, name, child in entries:
        if name not in _NO_NAMES and b"/" not in name:
            yield int(mode, 8), name, child.hex()


def subtree(repo: Repository, commit: str, name: str = KNOWLEDGE) -> str:
    """Return the tree id of a top-level folder of a commit, or "" where the commit has none."""
    tree = _root_tree(repo, commit)
    wanted = name.encode()
    return next((oid for mode, raw, oid in read_tree(repo, tree) if raw == wanted and mode == _TREE), "")


def _root_tree(repo: Repository, commit: str) -> str:
    try:
        return str(repo.git[commit].peel(pygit2.Tree).id)
    except (KeyError, ValueError, pygit2.GitError):
        raise SidecarError(f"commit {commit[:12]} is missing in this clone", f"git fetch origin {commit}") from None


def list_files(repo: Repository, tree: str, prefix: str = KNOWLEDGE) -> list[Entry]:
    """Return every regular file under a tree, sorted by path; links and submodules are left out."""
    return [entry for entry in list_entries(repo, tree, prefix) if entry.mode not in _NO_FILES]


def list_entries(repo: Repository, tree: str, prefix: str = KNOWLEDGE) -> list[Entry]:
    """Return everything under a tree but its folders, sorted by path."""
    found: list[Entry] = []
    waiting = [(prefix, tree)] if tree else []
    while waiting:
        folder, oid = waiting.pop()
        front = f"{folder}/" if folder else ""
        for mode, raw, child in read_tree(repo, oid):
            if mode == _TREE:
                waiting.append((front + readable(raw), child))
            else:
                found.append(Entry(front + readable(raw), child, mode))
    return sorted(found)


def configuration(repo: Repository, tree: str) -> list[Entry]:
    """Return the policy and the glossary of a knowledge tree, where it has them, sorted by path."""
    held = _read(one for one in raw_entries(repo, tree) if one[1] in _CONFIGURED) if tree else ()
    return sorted(Entry(f"{KNOWLEDGE}/{readable(raw)}", oid, mode) for mode, raw, oid in held if mode not in _NO_FILES)


@dataclass(frozen=True, slots=True)
class Difference:
    """The files that one tree has and another has not, each with its blob and mode, sorted by path."""

    gone: list[Entry]
    new: list[Entry]


def difference(repo: Repository, before: str, after: str, prefix: str = KNOWLEDGE) -> Difference:
    """Return what a tree ("" for an empty one) lost and got on the way to another; equal folders cost nothing.

    A file that changed is in both. Links and submodules are left out. Raises `SidecarError` for a tree that is missing.
    """
    gone: list[Entry] = []
    new: list[Entry] = []
    waiting = [(prefix, before, after)] if after != before else []
    while waiting:
        folder, *trees = waiting.pop()
        old, now = (Counter(raw_entries(repo, oid)) if oid else Counter() for oid in trees)
        was: dict[bytes, str] = {}
        for mode, raw, oid in _read((old - now).elements()):
            if mode == _TREE and raw not in was:
                was[raw] = oid
            else:
                gone += _below(repo, f"{folder}/{readable(raw)}", oid, mode)
        for mode, raw, oid in _read((now - old).elements()):
            if mode == _TREE:
                waiting.append((f"{folder}/{readable(raw)}", was.pop(raw, ""), oid))
            else:
                new += _below(repo, f"{folder}/{readable(raw)}", oid, mode)
        for raw, oid in was.items():
            gone += list_files(repo, oid, f"{folder}/{readable(raw)}")
    return Difference(sorted(gone), sorted(new))


def _below(repo: Repository, path: str, oid: str, mode: int) -> list[Entry]:
    """Return the regular files that an entry of a tree stands for: itself, or what lies in it."""
    if mode == _TREE:
        return list_files(repo, oid, path)
    return [] if mode in _NO_FILES else [Entry(path, oid, mode)]


def readable(raw: bytes) -> str:
    """Return a path's bytes as text; bytes that are not UTF-8 are escaped, so that any path can be shown and stored."""
    return raw.decode("utf-8", "backslashreplace")


def is_record_path(path: str) -> bool:
    """Tell whether a repository path is read as a record file."""
    return path.startswith(KNOWLEDGE + "/") and path.endswith(".yaml") and path not in CONFIGURATION


def read_blob(repo: Repository, oid: str, limit: int = MAX_BYTES) -> bytes:
    """Return a blob's bytes; its size is looked at first. Raises `UnreadableBlobError`."""
    try:
        _, size = repo.git.odb.read_header(oid)
        if size > limit:
            raise UnreadableBlobError(
                f"file has {size} bytes, over the limit of 1 MiB", "split the record or link to the long part"
            )
        return repo.git.odb.read(oid)[1]
    except (KeyError, ValueError, pygit2.GitError):
        # The sidecar never fetches by itself: leave to reach a network is the user's.
        raise UnreadableBlobError(f"blob {oid[:12]} is missing in this clone", f"git fetch origin {oid}") from None


def find(repo: Repository, commit: str, path: str) -> Entry | None:
    """Return the entry at a repository path of a commit, or None where the commit has no such file."""
    tree = _root_tree(repo, commit)
    *folders, name = path.split("/")
    for folder in folders:
        child = next((o for m, raw, o in read_tree(repo, tree) if m == _TREE and readable(raw) == folder), None)
        if child is None:
            return None
        tree = child
    return next((Entry(path, o, m) for m, raw, o in read_tree(repo, tree) if readable(raw) == name), None)


def has_object(repo: Repository, oid: str) -> bool:
    """Tell whether this clone holds an object; never fetches."""
    try:
        return repo.git.odb.exists(oid)
    except (ValueError, pygit2.GitError):
        return False
