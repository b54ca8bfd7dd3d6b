"""The codes of a store's vectors, kept beside it: made once for each row, and mapped into memory. All is rebuildable.

Two files: ``NAME.i8`` holds the codes row after row, and ``NAME.made`` says for how many rows they count, with their
scales and what they leave over, a checksum of itself, and one of each part of the codes. New rows are written behind
the others first; they count once the second file is replaced. A row says the same in every process, so two writers at
once write the same bytes.
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

from sidecar.codes import Codes, code
from sidecar.plane import Matrix, Vector

_HEAD = struct.Struct("<III")
_PART = 16384
_KEEP = 8
"""Files of codes that stay, the newest: two for each embedder, and for each time that the store was compacted."""
Sums = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class CodesFile:
    """Where the codes of vectors lie; ``mark`` names the vectors and the numbering of their rows."""

    folder: Path
    mark: str

    @property
    def path(self) -> Path:
        """Return the file of the codes."""
        return self.folder / "codes" / f"{hashlib.sha256(self.mark.encode()).hexdigest()[:32]}.i8"

    def opened(self, matrix: Matrix, rows: int, known: Codes | None = None) -> Codes | None:
        """Return the codes of the first ``rows`` rows or more, made for those that have none; None on a full disk.

        ``known`` are codes of this file that this process has checked before.
        """
        held = known if known is not None and self._holds(known) else self.load(matrix.shape[1])
        if held is not None and len(held.scales) >= rows:
            return held
        done = 0 if held is None else len(held.scales)
        new = code(matrix[done:rows])
        scales, rests = new.scales, new.rests
        if held is not None:
            scales, rests = np.concatenate([held.scales, scales]), np.concatenate([held.rests, rests])
        try:
            self._save(held, new, scales, rests)
            return Codes(self._mapped(rows, matrix.shape[1]), scales, rests)
        except (OSError, ValueError):
            return None

    def drop(self) -> None:
        """Remove the codes: they are not of these vectors."""
        for path in (self.path, self.path.with_suffix(".made")):
            with suppress(OSError):
                path.unlink()

    def load(self, dimension: int) -> Codes | None:
        """Return what the files hold, checked, or None where they are missing, cut off or damaged."""
        try:
            data = self.path.with_suffix(".made").read_bytes()
            check, rows, wide = _HEAD.unpack_from(data)
            parts = -(-rows // _PART)
            if wide != dimension or len(data) != _HEAD.size + 8 * (rows + parts) or zlib.crc32(data[4:]) != check:
                return None
            values = self._mapped(rows, dimension)
        except (OSError, ValueError, struct.error):
            return None
        scales, rests = np.frombuffer(data, "<f4", 2 * rows, _HEAD.size).reshape(2, rows)
        sums = np.frombuffer(data[_HEAD.size + 8 * rows :], "<u8")
        return Codes(values, scales, rests) if np.array_equal(_sums(values), sums) else None

    def _mapped(self, rows: int, dimension: int) -> NDArray[np.int8]:
        return np.memmap(self.path, np.int8, "r", shape=(rows, dimension))

    def _holds(self, known: Codes) -> bool:
        """Tell whether the file still has the codes that this process mapped: another one may have dropped it."""
        try:
            return self.path.stat().st_size >= known.values.size
        except OSError:
            return False

    def _save(self, held: Codes | None, new: Codes, scales: Vector, rests: Vector) -> None:
        """Write the codes of new rows behind those that are held, then what makes them count. Raises `OSError`."""
        rows, dimension = len(scales), new.values.shape[1]
        done = rows - len(new.scales)
        whole = done // _PART * _PART
        self.path.parent.mkdir(mode=0o700, exist_ok=True)
        with os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
            file.seek(done * dimension)
            file.write(new.values.data)
        sums = _sums(self._mapped(rows, dimension)[whole:])
        if held is not None:  # of what was checked, and not of what may have come in its place
            sums = np.concatenate([_sums(held.values[:whole]), sums])
        data = _HEAD.pack(0, rows, dimension) + b"".join(
            part.tobytes() for part in (scales.astype("<f4"), rests.astype("<f4"), sums.astype("<u8"))
        )
        made = self.path.with_suffix(".made")
        scratch = made.with_suffix(f".{os.getpid()}")
        with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(zlib.crc32(memoryview(data)[4:]).to_bytes(4, "little") + data[4:])
        scratch.replace(made)
        for _, old in sorted(((f.stat().st_mtime_ns, f) for f in made.parent.iterdir()), reverse=True)[_KEEP:]:
            old.unlink(missing_ok=True)


def _sums(values: NDArray[np.int8]) -> Sums:
    """Return the sum of the 64-bit words of each part of some codes, and of the bytes that fill no word: one read."""
    found = np.zeros(-(-len(values) // _PART), np.uint64)
    for number in range(len(found)):
        part = np.asarray(values[number * _PART : (number + 1) * _PART]).reshape(-1)
        whole = len(part) // 8 * 8
        found[number] = part[:whole].view("<u8").sum(dtype=np.uint64) + part[whole:].view(np.uint8).sum(dtype=np.uint64)
    return found


class CheckedCodes:
    """The codes that a process has opened and checked already: those of the file that it opened last."""

    def __init__(self) -> None:
        self._held: dict[CodesFile, Codes] = {}

    def of(self, file: CodesFile, matrix: Matrix, rows: int) -> Codes | None:
        """Return the codes of the first ``rows`` rows or more (see `CodesFile.opened`); None on a full disk."""
        codes = file.opened(matrix, rows, self._held.get(file))
        if codes is not None:
            self._held = {file: codes}
        return codes

    def drop(self, file: CodesFile) -> None:
        """Remove codes that turned out not to be of their vectors, here and from the disk."""
        file.drop()
        self._held.clear()
