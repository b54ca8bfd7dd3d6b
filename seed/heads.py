"""The heads of a snapshot in compressed blocks: a record is decoded when it is asked for, a block that stays is shared.

A block ends where the path's checksum says so. It therefore depends on the records in it and on nothing else, and a
change to one file makes one new block.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from seed.snapshot import Head, head_from_list, head_to_list

Names = tuple[tuple[str, ...], tuple[str, ...]]
"""Path and blob of every head."""
_BLOCK = 64
_KEPT_HEADS, _KEPT_BLOCKS = 4096, 64


class Heads(Sequence[Head]):
    """Heads in path order. Paths and blobs of all are read at once, the rest one by one and kept for a while."""

    def __init__(
        self, size: int, names: Callable[[], Names], starts: NDArray[np.int32], blocks: Sequence[bytes | memoryview]
    ) -> None:
        """Take how to read the ``names``; ``starts`` (b,) are the first heads of the ``blocks``."""
        self._size, self._read = size, names
        self.starts, self.blocks = starts, blocks
        self._heads: dict[int, Head] = {}
        self._lines: dict[int, list[bytes]] = {}

    @cached_property
    def _names(self) -> Names:
        return self._read()

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the path of every head."""
        return self._names[0]

    @property
    def blobs(self) -> tuple[str, ...]:
        """Return the blob of every head."""
        return self._names[1]

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, at: int) -> Head: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Head, ...]: ...

    def __getitem__(self, at: int | slice) -> Head | tuple[Head, ...]:
        if isinstance(at, slice):
            return tuple(self[n] for n in range(*at.indices(len(self))))
        n = at + len(self) if at < 0 else int(at)
        if not 0 <= n < len(self):
            raise IndexError(at)
        found = self._heads.get(n)
        if found is None:
            block = int(np.searchsorted(self.starts, n, side="right")) - 1
            found = _decoded(self._block(block)[n - int(self.starts[block])])
            if len(self._heads) >= _KEPT_HEADS:
                self._heads.clear()
            self._heads[n] = found
        return found

    def __iter__(self) -> Iterator[Head]:
        for block in self.blocks:
            yield from map(_decoded, zlib.decompress(block).split(b"\n"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(a == b for a, b in zip(self, other))  # noqa: B905 - equally long

    __hash__ = None  # type: ignore[assignment]

    def _block(self, number: int) -> list[bytes]:
        lines = self._lines.get(number)
        if lines is None:
            if len(self._lines) >= _KEPT_BLOCKS:
                self._lines.clear()
            lines = self._lines[number] = zlib.decompress(self.blocks[number]).split(b"\n")
        return lines

    def line(self, at: int) -> bytes:
        """Return one head as it is kept."""
        block = int(np.searchsorted(self.starts, at, side="right")) - 1
        return self._block(block)[at - int(self.starts[block])]


def pack(heads: Sequence[Head]) -> Heads:
    """Return heads in blocks."""
    if isinstance(heads, Heads):
        return heads
    return revise(_NONE, heads, np.arange(len(heads)))


def revise(old: Heads, new: Sequence[Head], take: NDArray[np.intp]) -> Heads:
    """Return the heads ``take`` (m,): below ``len(old)`` they are old ones, from there on new ones.

    A block of old heads that all stay side by side is taken over as it is.
    """
    paths = (*old.paths, *(head.path for head in new))
    blobs = (*old.blobs, *(head.blob for head in new))
    order = take.tolist()
    ends = np.flatnonzero(_ends(old, new)[take]) + 1
    if len(order) and (not len(ends) or ends[-1] != len(order)):
        ends = np.append(ends, len(order))  # the last block ends with the heads
    starts = np.concatenate([[0], ends[:-1]]).astype(np.int32) if len(ends) else ends.astype(np.int32)
    whole = {
        (first, size): number for number, (first, size) in enumerate(zip(old.starts.tolist(), _sizes(old), strict=True))
    }
    breaks = np.concatenate([[0], np.cumsum(np.diff(take) != 1)])
    blocks = []
    for first, last in zip(starts.tolist(), ends.tolist(), strict=True):
        side_by_side = breaks[first] == breaks[last - 1]
        number = whole.get((order[first], last - first), -1) if side_by_side else -1
        if number >= 0:
            blocks.append(old.blocks[number])
        else:
            run = order[first:last]
            lines = [old.line(n) if n < len(old) else _encoded(new[n - len(old)]) for n in run]
            blocks.append(zlib.compress(b"\n".join(lines), 1))
    names = tuple(map(paths.__getitem__, order)), tuple(map(blobs.__getitem__, order))
    return Heads(len(order), lambda: names, starts, blocks)


def _sizes(heads: Heads) -> list[int]:
    sizes: list[int] = np.diff(heads.starts, append=len(heads)).tolist()
    return sizes


def _ends(old: Heads, new: Sequence[Head]) -> NDArray[np.bool_]:
    """Return after which heads, the old and then the new ones, a block ends whatever follows."""
    found = np.zeros(len(old) + len(new), np.bool_)
    found[old.starts[1:] - 1] = True
    fresh = [old.paths[-1]] if len(old) else []  # the last old block ended because nothing came after it
    fresh += [head.path for head in new]
    if fresh:
        found[-len(fresh) :] = [zlib.crc32(path.encode()) % _BLOCK == 0 for path in fresh]
    return found


def _encoded(head: Head) -> bytes:
    return json.dumps(head_to_list(head), ensure_ascii=False, separators=(",", ":")).encode()


def _decoded(line: bytes) -> Head:
    return head_from_list(json.loads(line))


_NONE = Heads(0, lambda: ((), ()), np.empty(0, np.int32), ())
