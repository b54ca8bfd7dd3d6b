"""What a plane needs of its vectors, kept beside the store: opening one reads no vector. Everything is rebuildable."""

from __future__ import annotations

import hashlib
import os
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sidecar.plane import Sums, Vector

_KEEP = 8
_SUM = 4


def sums_file(folder: Path, rows: NDArray[np.int32], owners: NDArray[np.uint32], centre: Vector, mark: str) -> Path:
    """Return the file of the sums over these rows and records; ``mark`` names the vectors' identity and generation."""
    parts = hashlib.sha256(mark.encode())
    for array in (rows, owners, centre):
        parts.update(np.ascontiguousarray(array).data)
    return folder / "planes" / f"{parts.hexdigest()[:32]}.sums"


def age(matrix: NDArray[np.float32]) -> str:
    """Return what tells whether the file of a memory map was written since: "" for vectors that lie in no file."""
    name = getattr(matrix, "filename", None)
    if not name:
        return ""
    told = Path(name).stat()
    return f"{told.st_size} {told.st_mtime_ns}"


def load(path: Path, passages: int, records: int) -> Sums | None:
    """Return the sums that a file holds, or None where it is missing, cut off or damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    values = np.frombuffer(data, dtype="<f4", offset=_SUM) if len(data) == _SUM + 4 * (passages + 2 * records) else None
    if values is None or zlib.crc32(data[_SUM:]) != int.from_bytes(data[:_SUM], "little"):
        return None
    return Sums(values[:records], values[records : records + passages], values[records + passages :])


def save(path: Path, sums: Sums) -> None:
    """Write sums, whole or not at all; where the disk takes no writing they are worked out again another time."""
    data = b"".join(np.ascontiguousarray(part, dtype="<f4").tobytes() for part in (sums.norms, sums.usual, sums.whole))
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        scratch = path.with_suffix(f".{os.getpid()}")
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(zlib.crc32(data).to_bytes(_SUM, "little") + data)
        scratch.replace(path)
        for old in sorted(path.parent.iterdir(), key=lambda one: one.stat().st_mtime, reverse=True)[_KEEP:]:
            old.unlink(missing_ok=True)
