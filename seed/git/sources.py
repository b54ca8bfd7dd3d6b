"""The files under knowledge/ where they stand - working tree, index or commit - and why one of them is not read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from seed.git.repository import KNOWLEDGE, Repository, head_commit
from seed.git.staging import Change, staged
from seed.git.tree import LINK, SUBMODULE, Entry, UnreadableBlobError, list_entries, read_blob, readable, subtree
from seed.yamltext import MAX_BYTES


@dataclass(frozen=True, slots=True)
class Source:
    """One file: repository path, how to read its bytes (raises `UnreadableBlobError`), and its blob id if it has one.

    ``refused`` says why it is no file that is read ("" for one that is).
    """

    path: str
    read: Callable[[], bytes]
    blob: str = ""
    refused: str = ""


def of_commit(repo: Repository, commit: str = "") -> list[Source]:
    """Return the files of a commit, HEAD unless named: what a bare repository has to check. Raises `SidecarError`."""
    head = commit or head_commit(repo)
    tree = subtree(repo, head) if head else ""
    return [of_entry(repo, entry) for entry in list_entries(repo, tree)] if tree else []


def of_index(repo: Repository) -> list[Source]:
    """Return the files of the index; those of an unfinished merge are refused. Raises `SidecarError`."""
    found = staged(repo)
    unmerged = [Source(path, _nothing, refused="an unfinished merge") for path in found.unmerged]
    return sorted([*(of_entry(repo, entry) for entry in found.entries), *unmerged], key=lambda source: source.path)


def of_change(repo: Repository, change: Change) -> Source | None:
    """Return the file that a change leaves in the index, or None where it removes it."""
    if change.unmerged:
        return Source(change.path, _nothing, refused="an unfinished merge")
    return of_entry(repo, change.now) if change.now else None


def of_worktree(repo: Repository) -> list[Source]:
    """Return the files of the working tree, whether Git knows them or not; links are not followed."""
    return sorted(_walk(repo.root), key=lambda source: source.path)


def repository_path(repo: Repository, text: str) -> str:
    """Return the repository path of an argument: relative to the current folder as with git, else to the root."""
    file = Path(text)
    here = file.parent.resolve() / file.name  # the file itself may be a link, and is then named as such
    if not repo.bare and here.is_relative_to(repo.root) and (here.exists() or here.is_symlink()):
        return here.relative_to(repo.root).as_posix()
    return file.as_posix()


def of_entry(repo: Repository, entry: Entry) -> Source:
    """Return the file of an entry of a tree or of the index."""
    kinds = {LINK: "a symbolic link", SUBMODULE: "a submodule"}
    return Source(entry.path, partial(read_blob, repo, entry.blob), entry.blob, kinds.get(entry.mode, ""))


def _nothing() -> bytes:
    return b""


def _walk(root: Path) -> Iterator[Source]:
    folder = root / KNOWLEDGE
    if folder.is_symlink():
        yield Source(KNOWLEDGE, _nothing, refused="a symbolic link")
        return
    waiting = [folder] if folder.is_dir() else []
    while waiting:
        here = waiting.pop()
        try:
            entries = list(os.scandir(here))
        except OSError as exc:
            yield Source(_path(root, here), _nothing, refused=f"a folder that cannot be listed ({exc.strerror})")
            continue
        for entry in entries:
            file = Path(entry.path)
            if entry.is_dir(follow_symlinks=False) and not (file / ".git").exists():
                waiting.append(file)
            else:
                yield Source(_path(root, file), partial(_read_file, file), refused=_refusal(entry))


def _path(root: Path, file: Path) -> str:
    return readable(os.fsencode(file.relative_to(root).as_posix()))


def _refusal(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "a symbolic link"
    if entry.is_dir(follow_symlinks=False):
        return "a repository of its own"
    return "" if entry.is_file(follow_symlinks=False) else "not a regular file"


def _read_file(file: Path) -> bytes:
    """Return a file's bytes; a link that took the file's place in the meantime is not followed."""
    try:
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as stream:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode):
                raise UnreadableBlobError("the file is not a regular file", "put the record itself there")
            if info.st_size > MAX_BYTES:
                reason = f"file has {info.st_size} bytes, over the limit of 1 MiB"
                raise UnreadableBlobError(reason, "split the record or link to the long part")
            return stream.read()
    except OSError as exc:
        raise UnreadableBlobError(f"the file cannot be read: {exc.strerror}", "check its permissions") from None
