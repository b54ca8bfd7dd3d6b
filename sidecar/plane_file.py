"""What a plane needs of its vectors, kept beside the store: opening one reads no vector. Everything is rebuildable.

A file is a checksum, the numbers of passages and records, and then as they lie in memory the rows, each record's first
passage, and the sums. After a change only the records whose rows are not in the last file are added up.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seed.facets import spread
from sidecar.plane import Matrix, Rows, Starts, Sums, Vector, summed

_KEEP = 8
_HEAD = struct.Struct("<III")


@dataclass(frozen=True, slots=True)
class Kept:
    """The sums of a snapshot, with the rows and the first passages that they were made of."""

    rows: Rows
    starts: Starts
    sums: Sums


def opened(folder: Path, mark: str, matrix: Matrix, rows: Rows, starts: Starts, centre: Vector) -> Sums:
    """Return the sums over these rows from the folder, or make them; ``mark`` names vectors and their generation.

    Raises `DamagedStoreError` for a vector that has not length 1.
    """
    family = hashlib.sha256(f"{mark} ".encode() + np.ascontiguousarray(centre).tobytes()).hexdigest()[:16]
    name = hashlib.sha256(age(matrix).encode())
    for array in (rows, starts):
        name.update(np.ascontiguousarray(array).data)
    path = folder / "planes" / f"{family}-{name.hexdigest()[:32]}.sums"
    held = load(path)
    if held is not None and len(held.rows) == len(rows) and len(held.starts) == len(starts):
        return held.sums
    before = load(newest) if (newest := _newest(path.parent, family)) else None
    made = revised(before, matrix, rows, starts, centre) if before else summed(matrix, rows, starts, centre)
    save(path, Kept(rows, starts, made))
    return made


def age(matrix: Matrix) -> str:
    """Return what tells whether the file of a memory map was written since: "" for vectors that lie in no file."""
    name = getattr(matrix, "filename", None)
    if not name:
        return ""
    told = Path(name).stat()
    return f"{told.st_size} {told.st_mtime_ns}"


def revised(before: Kept, matrix: Matrix, rows: Rows, starts: Starts, centre: Vector) -> Sums:
    """Return the sums over rows; those of records that stood in ``before`` with the same rows are taken over."""
    old = _matches(before, rows, starts)
    stay = old >= 0
    runs, old_runs = np.diff(starts, append=len(rows)), np.diff(before.starts, append=len(before.rows))
    records = len(starts)
    found = Sums(*(np.zeros(size, np.float32) for size in (records, len(rows), records)))
    found.norms[stay], found.whole[stay] = before.sums.norms[old[stay]], before.sums.whole[old[stay]]
    found.usual[spread(runs, np.flatnonzero(stay))[0]] = before.sums.usual[spread(old_runs, old[stay])[0]]
    new = np.flatnonzero(~stay)
    places, lengths = spread(runs, new)
    part = summed(matrix, rows[places], (np.cumsum(lengths) - lengths).astype(np.intp), centre)
    found.norms[new], found.usual[places], found.whole[new] = part.norms, part.usual, part.whole
    return found


def _matches(before: Kept, rows: Rows, starts: Starts) -> Starts:
    """Return for each record (m,) one that had the very same rows, -1 for none."""
    none = np.full(len(starts), -1, np.intp)
    if not len(before.starts) or not len(starts):
        return none
    firsts = before.rows[before.starts]
    order = np.argsort(firsts, kind="stable")
    at = np.minimum(np.searchsorted(firsts[order], rows[starts]), len(order) - 1)
    old = order[at].astype(np.intp)
    runs, old_runs = np.diff(starts, append=len(rows)), np.diff(before.starts, append=len(before.rows))
    likely = np.flatnonzero((firsts[old] == rows[starts]) & (old_runs[old] == runs))
    here, lengths = spread(runs, likely)
    there = spread(old_runs, old[likely])[0]
    differs = np.bincount(np.repeat(likely, lengths), rows[here] != before.rows[there], minlength=len(starts)) > 0
    same = likely[~differs[likely]]
    none[same] = old[same]
    return none


def load(path: Path) -> Kept | None:
    """Return what a file holds, or None where it is missing, cut off or damaged."""
    try:
        data = path.read_bytes()
        check, passages, records = _HEAD.unpack_from(data)
    except (OSError, struct.error):
        return None
    sizes = (passages, records, records, passages, records)
    if len(data) != _HEAD.size + 4 * sum(sizes) or zlib.crc32(memoryview(data)[4:]) != check:
        return None
    ends = np.cumsum(sizes).tolist()
    values = np.frombuffer(data, "<f4", offset=_HEAD.size)
    rows, starts, norms, usual, whole = (values[end - size : end] for size, end in zip(sizes, ends, strict=True))
    return Kept(rows.view("<i4"), starts.view("<i4").astype(np.intp), Sums(norms, usual, whole))


def save(path: Path, kept: Kept) -> None:
    """Write sums, whole or not at all; where the disk takes no writing they are worked out again another time."""
    parts: list[NDArray[np.generic]] = [kept.rows.astype("<i4"), kept.starts.astype("<i4")]
    parts += [part.astype("<f4") for part in (kept.sums.norms, kept.sums.usual, kept.sums.whole)]
    data = _HEAD.pack(0, len(kept.rows), len(kept.starts)) + b"".join(part.tobytes() for part in parts)
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        scratch = path.with_suffix(f".{os.getpid()}")
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(zlib.crc32(memoryview(data)[4:]).to_bytes(4, "little") + data[4:])
        scratch.replace(path)
        for old in _by_age(path.parent)[_KEEP:]:
            old.unlink(missing_ok=True)


def _by_age(folder: Path) -> list[Path]:
    """Return the files of a folder, the newest first."""
    held = [(file.stat().st_mtime_ns, file) for file in folder.iterdir()] if folder.is_dir() else []
    return [file for _, file in sorted(held, reverse=True)]


def _newest(folder: Path, family: str) -> Path | None:
    with suppress(OSError):
        return next((file for file in _by_age(folder) if file.name.startswith(f"{family}-")), None)
    return None
