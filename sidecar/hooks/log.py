"""The log of what hooks did, in the store's folder: one line an event, bounded."""

from __future__ import annotations

import os
import time
from pathlib import Path

NAME = "hooks.log"
MAX_BYTES = 64 * 1024


def append(path: Path, line: str) -> None:
    """Append a line with time and process; past 64 kB the older half goes. A disk that refuses is no failure."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    text = f"{stamp} {os.getpid()} {' '.join(line.split())}\n".encode(errors="backslashreplace")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, text)
            size = os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)
        if size > MAX_BYTES:
            _halve(path)
    except OSError:
        return  # the log is the last place to complain to


def _halve(path: Path) -> None:
    newer = path.read_bytes()[-MAX_BYTES // 2 :].partition(b"\n")[2]
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_bytes(newer)
    part.chmod(0o600)
    part.replace(path)


def last_lines(path: Path, count: int) -> list[str]:
    """Return the newest lines, oldest first; none where there is no log."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").rstrip("\n").split("\n")[-count:]
    except OSError:
        return []
