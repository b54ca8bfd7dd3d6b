"""Read trees and blobs of a commit: raw, in one pass, never following a link out of the repository."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

import pygit2

from seed.errors import SidecarError
from seed.git.repository import KNOWLEDGE, Repository
from seed.yamltext import MAX_BYTES

CONFIGURATION = ("knowledge/policy.yaml", "knowledge/glossary.yaml")
_NO_NAMES = (b"", b".", b"..", b".git")
"""What no file is called: Git checks a tree with such a name out nowhere, and a path with it would lead elsewhere."""
_TREE, LINK, SUBMODULE = 0o40000, 0o120000, 0o160000


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


def read_tree(repo: Repository, oid: str) -> Iterator[tuple[int, bytes, str]]:
    """Yield (mode, raw name, object id) of one tree object, without loading what it names."""
    try:
        _, data = repo.git.odb.read(oid)
    except (KeyError, pygit2.GitError):
        raise SidecarError(f"tree {oid[:12]} is missing in this clone", f"git fetch origin {oid}") from None
    for mode, name, child in _ENTRY[len(oid) // 2].findall(data):
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
    return [entry for entry in list_entries(repo, tree, prefix) if entry.mode not in (LINK, SUBMODULE)]


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
    return sorted(found, key=attrgetter("path"))


def list_top(repo: Repository, tree: str, prefix: str = KNOWLEDGE) -> list[Entry]:
    """Return the regular files that lie in a tree itself, sorted by path; its folders are not opened."""
    if not tree:
        return []
    held = [(mode, raw, oid) for mode, raw, oid in read_tree(repo, tree) if mode not in (_TREE, LINK, SUBMODULE)]
    return sorted(Entry(f"{prefix}/{readable(raw)}", oid, mode) for mode, raw, oid in held)


def changed_entries(repo: Repository, before: str, after: str, prefix: str = KNOWLEDGE) -> list[Entry]:
    """Return what a tree has added or changed against another ("" for none), by path; equal folders cost nothing."""
    found: list[Entry] = []
    waiting = [(prefix, before, after)] if after and after != before else []
    while waiting:
        folder, old, new = waiting.pop()
        was = {raw: (mode, oid) for mode, raw, oid in read_tree(repo, old)} if old else {}
        for mode, raw, oid in read_tree(repo, new):
            path = f"{folder}/{readable(raw)}"
            mode_before, oid_before = was.get(raw, (0, ""))
            if mode == _TREE and oid != oid_before:
                waiting.append((path, oid_before if mode_before == _TREE else "", oid))
            elif mode != _TREE and oid != oid_before:
                found.append(Entry(path, oid, mode))
    return sorted(found, key=lambda entry: entry.path)


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
