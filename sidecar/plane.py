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
Floats = NDArray[np.float64]
_TINY = 1e-9
_UNIT = 1e-2
_DECIMALS = 1e4
_BLOCK = 16384


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
class Plane:
    """Vectors by reference, with what can be worked out before any question.

    ``matrix`` (rows, d), ``rows`` (n,) of the passages or -1 where missing, ``starts`` (m,) each record's first
    passage, ``norms`` (m,) as in `Sums`, ``charge`` (n,) and ``charge_whole`` (m,) what a passage and a record are
    charged, infinite for a missing passage.
    """

    identity: str
    matrix: Matrix
    rows: NDArray[np.int32]
    starts: NDArray[np.intp]
    norms: Floats
    charge: Floats
    charge_whole: Floats
    blocks: tuple[tuple[int, int], ...]
    """Records (first, last) whose passages are weighed together, so that what is worked out of them stays in cache."""

    def nearness(self, question: Vector) -> Nearness:
        """Return how near a unit question vector (d,) is to every record; cosines are rounded to 4 decimals first."""
        records = len(self.starts)
        found = Nearness(np.empty(records, np.intp), np.empty(records), np.empty(records))
        first, last = self._span
        scores = np.asarray(self.matrix[first:last] @ question)
        for block in self.blocks:
            self._weigh(scores, first, block, found)
        return found

    @property
    def _span(self) -> tuple[int, int]:
        return int(max(self.rows.min(initial=0), 0)), int(self.rows.max(initial=-1)) + 1

    def _weigh(self, scores: Vector, offset: int, block: tuple[int, int], found: Nearness) -> None:
        """Fill in what is found of the records of a block; ``scores`` are the plain cosines from row ``offset`` on."""
        records = slice(*block)
        start, stop = self._passages(block)
        rows = self.rows[start:stop]
        cosines = (scores[rows - offset] if len(scores) else np.zeros(len(rows), np.float32)).astype(np.float64)
        cosines *= _DECIMALS
        np.rint(cosines, out=cosines)
        cosines /= _DECIMALS
        cosines[rows < 0] = 0.0
        charged = cosines - self.charge[start:stop]
        starts = self.starts[records] - start
        best = np.maximum.reduceat(charged, starts)
        first = _first(charged, best, starts)
        known = np.isfinite(best)
        whole = np.add.reduceat(cosines, starts) / self.norms[records]
        near = best + WHOLE_WEIGHT * (np.round(whole, 4) - self.charge_whole[records])
        found.passage[records] = np.where(known, first + start, -1)
        found.cosine[records] = np.where(known, cosines[first], -1.0)
        found.near[records] = np.where(known, near, 0.0)

    def _passages(self, block: tuple[int, int]) -> tuple[int, int]:
        first, last = block
        return int(self.starts[first]), int(self.starts[last]) if last < len(self.starts) else len(self.rows)

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
    blocks = tuple(pairwise(ends))
    return Plane(identity, matrix, rows, starts, norms, charge, CENTRE * (held.whole / norms), blocks)


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
        found.usual[start:stop] = vectors @ centre
        found.whole[first:last] = added @ centre
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
