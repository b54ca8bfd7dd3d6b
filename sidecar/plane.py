"""The vectors of one embedder over a snapshot, and how near a question is to each record. Pure.

near(v) = cosine(question, v) - 0.75 x what the probes' mean vector has in common with v: a passage that is near to
every question is charged for it (finding-0001).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from seed.errors import DamagedStoreError

CENTRE = 0.75
WHOLE_WEIGHT = 0.5
CEILING = 1.0 + WHOLE_WEIGHT
"""The most that nearness can reach: a cosine of 1 with the best passage and with the whole record."""

Matrix = NDArray[np.float32]
Vector = NDArray[np.float32]
Rows = NDArray[np.int32]
Starts = NDArray[np.intp]
Floats = NDArray[np.float64]
_TINY = 1e-9
_UNIT = 1e-2
_DECIMALS = 1e4
_BLOCK = 16384
_FEW = 16


@dataclass(frozen=True, slots=True)
class Nearness:
    """What one plane says of each record (m,).

    Position of its best passage (-1 without a vector), that one's plain cosine (-1 without), and nearness: the best
    passage's plus half of the whole record's.
    """

    passage: NDArray[np.intp]
    cosine: Floats
    near: Floats


@dataclass(frozen=True, slots=True)
class Sums:
    """What is worked out once over the vectors of a snapshot, as float32.

    ``norms`` (m,) the length of the sum of a record's vectors, ``usual`` (n,) and ``whole`` (m,) what the probes' mean
    vector has in common with each passage, and with that sum.
    """

    norms: Vector
    usual: Vector
    whole: Vector


@dataclass(frozen=True, slots=True)
class Block:
    """Records whose passages are weighed together, so that what is worked out of them stays in cache.

    ``records`` and ``passages`` are their slices, ``starts`` their first passages within the block. ``later`` are for
    the second, third ... passage the (records, passages) that have one; None where a record has many passages.
    """

    records: slice
    passages: slice
    starts: NDArray[np.intp]
    later: tuple[tuple[NDArray[np.intp], NDArray[np.intp]], ...] | None

    def weigh(self, charged: Floats, cosines: Floats) -> tuple[Floats, NDArray[np.intp], Floats]:
        """Return of each record the best charged cosine, the first passage that has it, and the sum of its cosines."""
        if self.later is None:
            best = np.maximum.reduceat(charged, self.starts)
            return best, _first(charged, best, self.starts), np.add.reduceat(cosines, self.starts)
        best, first, total = charged[self.starts], self.starts.copy(), cosines[self.starts]
        for records, passages in self.later:
            total[records] += cosines[passages]
            values = charged[passages]
            better = np.flatnonzero(values > best[records])
            best[records[better]] = values[better]
            first[records[better]] = passages[better]
        return best, first, total


@dataclass(frozen=True, slots=True)
class Plane:
    """Vectors by reference, with what can be worked out before any question.

    ``matrix`` (rows, d), ``rows`` (n,) of the passages or -1 where missing, ``starts`` (m,) each record's first
    passage, ``norms`` (m,) as in `Sums`, ``charge`` (n,) and ``charge_whole`` (m,) what a passage and a record are
    charged, infinite for a missing passage. All rows lie in ``span``, ``side_by_side`` if they are the whole of it in
    order; ``gaps`` if some are missing.
    """

    identity: str
    matrix: Matrix
    rows: NDArray[np.int32]
    starts: NDArray[np.intp]
    norms: Floats
    charge: Floats
    charge_whole: Floats
    blocks: tuple[Block, ...]
    span: tuple[int, int]
    side_by_side: bool
    gaps: bool

    def nearness(self, question: Vector) -> Nearness:
        """Return how near a unit question vector (d,) is to every record; cosines are rounded to 4 decimals first."""
        records = len(self.starts)
        found = Nearness(np.empty(records, np.intp), np.empty(records), np.empty(records))
        low, high = self.span
        scores = np.asarray(self.matrix[low:high] @ question)
        in_order = scores if self.side_by_side else scores[self.rows - low] if high else np.zeros(len(self.rows))
        for block in self.blocks:
            cosines = _rounded(in_order[block.passages])
            if self.gaps:
                cosines[self.rows[block.passages] < 0] = 0.0
            self._fill(block, cosines, found)
        return found

    def _fill(self, block: Block, cosines: Floats, found: Nearness) -> None:
        """Fill in what is found of the records of a block; the cosine of a missing passage is 0."""
        records = block.records
        best, first, total = block.weigh(cosines - self.charge[block.passages], cosines)
        near = best + WHOLE_WEIGHT * (_rounded(total / self.norms[records]) - self.charge_whole[records])
        found.passage[records] = first + block.passages.start
        found.cosine[records] = cosines[first]
        found.near[records] = near
        if not (known := np.isfinite(best)).all():
            unknown = np.flatnonzero(~known) + records.start
            found.passage[unknown], found.cosine[unknown], found.near[unknown] = -1, -1.0, 0.0

    @property
    def embedded(self) -> NDArray[np.bool_]:
        """Return which records (m,) have all their passages embedded."""
        whole: NDArray[np.bool_] = np.minimum.reduceat(self.rows, self.starts) >= 0
        return whole


def plane(
    identity: str, matrix: Matrix, rows: NDArray[np.int32], owners: NDArray[np.uint32], sums: Sums | Vector
) -> Plane:
    """Return the plane of a snapshot; ``owners`` (n,) are the records of the passages, ascending and without a gap.

    ``sums`` are those of `summed`, or the probes' mean vector (d,) to work them out with.
    """
    starts = starts_of(owners)
    held = sums if isinstance(sums, Sums) else summed(matrix, rows, starts, sums)
    norms = np.maximum(held.norms.astype(np.float64), _TINY)
    charge = CENTRE * held.usual.astype(np.float64)
    charge[rows < 0] = np.inf
    ends = [*range(0, len(starts), _BLOCK), len(starts)]
    blocks = tuple(_block(starts, first, last, len(rows)) for first, last in pairwise(ends) if first < last)
    gaps = bool(rows.min(initial=0) < 0)
    span = 0 if gaps else int(rows.min(initial=0)), int(rows.max(initial=-1)) + 1
    whole = not gaps and span[1] - span[0] == len(rows) and bool((rows[1:] > rows[:-1]).all())
    charge_whole = CENTRE * (held.whole / norms)
    return Plane(identity, matrix, rows, starts, norms, charge, charge_whole, blocks, span, whole, gaps)


def _block(starts: NDArray[np.intp], first: int, last: int, passages: int) -> Block:
    start, stop = int(starts[first]), int(starts[last]) if last < len(starts) else passages
    within = starts[first:last] - start
    runs = np.diff(within, append=stop - start)
    later = None
    if int(runs.max(initial=0)) <= _FEW:
        more = [np.flatnonzero(runs > n) for n in range(1, int(runs.max(initial=1)))]
        later = tuple((records, within[records] + n) for n, records in enumerate(more, 1))
    return Block(slice(first, last), slice(start, stop), within, later)


def _rounded(cosines: NDArray[np.floating]) -> Floats:
    """Return cosines rounded to 4 decimals, exactly as `numpy.round` does it."""
    found = cosines.astype(np.float64)
    found *= _DECIMALS
    np.rint(found, out=found)
    found /= _DECIMALS
    return found


def starts_of(owners: NDArray[np.uint32]) -> NDArray[np.intp]:
    """Return the first passage (m,) of each record."""
    changes = np.diff(owners, prepend=np.uint32(owners[0] + 1) if len(owners) else 0)
    return np.flatnonzero(changes).astype(np.intp)


def summed(matrix: Matrix, rows: NDArray[np.int32], starts: NDArray[np.intp], centre: Vector) -> Sums:
    """Return what `Plane` needs of the vectors; reads every one of them once.

    ``centre`` (d,) is the mean vector of the probes on this embedder; zeros charge nothing. Raises
    `DamagedStoreError` for a vector that has not length 1.
    """
    records = len(starts)
    found = Sums(*(np.zeros(size, np.float32) for size in (records, len(rows), records)))
    for first in range(0, records, _BLOCK):
        last = min(first + _BLOCK, records)
        start, stop = int(starts[first]), int(starts[last]) if last < records else len(rows)
        part = rows[start:stop]
        vectors = np.asarray(matrix[part], dtype=np.float32)
        vectors[part < 0] = 0
        lengths = np.einsum("ij,ij->i", vectors, vectors)[part >= 0]
        if not np.allclose(lengths, 1.0, atol=2 * _UNIT):
            raise DamagedStoreError("a stored vector has not length 1", "the store is made again from Git")
        added = np.add.reduceat(vectors, starts[first:last] - start, axis=0)
        found.norms[first:last] = np.linalg.norm(added, axis=1)
        # Not a product of matrices: its last bits depend on where a row stands, and a part is added up by itself later.
        found.usual[start:stop] = np.einsum("ij,j->i", vectors, centre)
        found.whole[first:last] = np.einsum("ij,j->i", added, centre)
    return found


def _first(scores: Floats, best: Floats, starts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the position of the first passage of each record that reaches its record's best score."""
    if len(starts) == len(scores):
        return starts
    runs = np.diff(starts, append=len(scores))
    hits = np.flatnonzero(scores == np.repeat(best, runs))
    if len(hits) == len(starts):
        return hits
    found: NDArray[np.intp] = hits[np.searchsorted(hits, starts)]
    return found
