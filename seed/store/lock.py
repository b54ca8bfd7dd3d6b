"""One seeding process at a time: a lock that the kernel drops when its holder dies, however it dies."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seed.errors import BusyError, StoreError


@contextmanager
def exclusive(path: Path, timeout: float) -> Iterator[None]:
    """Hold an exclusive lock on ``path`` for the block, waiting at most ``timeout`` seconds.

    Raises `StoreError` naming the holder's process when the time is up. Readers never take this lock.
    """
    descriptor = _open(path)
    try:
        _acquire(descriptor, path, timeout)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0) if hasattr(os, "pwrite") else None
        yield
    finally:
        os.close(descriptor)  # closing releases it


def holder(path: Path) -> str:
    """Return the process that holds a lock ("unknown" when it has not said so), or "" when nobody does."""
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return ""
    try:
        return "" if _try(descriptor) else os.read(descriptor, 32).decode(errors="replace").strip() or "unknown"
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError as exc:
        raise StoreError(f"{path} cannot be opened: {exc.strerror}", "set SIDECAR_HOME to a writable folder") from None


def _acquire(descriptor: int, path: Path, timeout: float) -> None:
    end = time.monotonic() + timeout
    while not _try(descriptor):
        if time.monotonic() >= end:
            holder = os.read(descriptor, 32).decode(errors="replace").strip() or "unknown"
            raise BusyError(
                f"another process (pid {holder}) is seeding and holds {path.name}",
                "wait for it, or end that process",
            )
        time.sleep(0.02)


def _try(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
