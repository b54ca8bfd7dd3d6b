"""The few ways this package touches the disk: private folders, atomic files, one writer at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

TEMPORARY = ".tmp-"


def private_folder(folder: Path) -> Path:
    """Make ``folder`` and its parents, readable by this user only, and return it."""
    for part in reversed([folder, *folder.parents]):
        if not part.exists():
            with contextlib.suppress(FileExistsError):
                part.mkdir(mode=0o700)
    return folder


def write_atomically(path: Path, chunks: Iterable[bytes], *, sync: bool = True) -> None:
    """Write ``chunks`` to ``path`` (mode 0600) so that a crash leaves the old file or the new one.

    Without ``sync`` its name is not yet durable: call `sync_folder` before anything refers to it.
    Raises OSError where the disk refuses, and whatever ``chunks`` raises; ``path`` is then as it was.
    """
    temporary = path.parent / f"{TEMPORARY}{os.getpid()}-{secrets.token_hex(6)}"
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if sync:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in ``folder`` durable: a rename is only safe once its folder is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_leftovers(folder: Path) -> None:
    """Delete temporary files of writers that died; call it only while holding the folder's lock."""
    for path in folder.glob(f"{TEMPORARY}*"):
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def alone(path: Path) -> Iterator[bool]:
    """Hold the lock file ``path`` if nobody else does, and say whether that is so; nobody waits."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            mine = True
        except BlockingIOError:
            mine = False
        yield mine
    finally:
        os.close(handle)


@contextlib.contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock file ``path``; the kernel lets go of it when the process dies, however it dies."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
