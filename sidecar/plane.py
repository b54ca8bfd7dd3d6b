"""The vectors of one embedder over a snapshot, and how near a question is to each record. Pure.

near(v) = cosine(question, v) - 0.75 x what the probes' mean vector has in common with v: a passage that is near to
every question is charged for it (finding-0001).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seed.errors import DamagedStoreError
from seed.facets import spread
from sidecar.blocks import BLOCK, UNITS, Block, blocks
from sidecar.nearness import Floats, Nearness, Positions

CENTRE = 0.75
WHOLE_WEIGHT = 0.5
CEILING = 1.0 + WHOLE_WEIGHT
"""The most that nearness can reach: a cosine of 1 with the best passage and with the whole record."""
LONGEST = 1.0101
"""No vector of a plane is longer: the square of its length is within 0.02 of 1, or `summed` refuses it."""

Matrix = NDArray[np.float32]
Vector = NDArray[np.float32]
Rows = NDArray[np.int32]
Starts = Positions
_TINY = 1e-9
_UNIT = 1e-2


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
    passage, ``norms`` (m,) as in `Sums`. ``charge`` (n,) and ``charge_whole`` (m,) are what a passage and a record are
    charged in ten-thousandths, infinite for a missing passage. All rows lie in ``span``, ``side_by_side`` if they are
    the whole of it in order; ``gaps`` if some are missing. ``source`` names the vectors that are there.
    """

    identity: str
    matrix: Matrix
    rows: Rows
    starts: Starts
    norms: Floats
    charge: Floats
    charge_whole: Floats
    blocks: tuple[Block, ...]
    span: tuple[int, int]
    side_by_side: bool
    gaps: bool
    source: bytes

    def nearness(self, question: Vector) -> Nearness:
        """Return how near a unit question vector (d,) is to every record; cosines are rounded to 4 decimals first."""
        low, high = self.span
        scores = self.placed(products(self.matrix[low:high], question))
        found = _room(len(self.starts), self.source + question.tobytes())
        for block in self.blocks:
            self._fill(found, block, scores[block.passages], block.records, block.passages)
        return found

    def weighed(self, question: Vector, records: Positions) -> Nearness:
        """Return the same of some records (k,), bit for bit; no other vector is read."""
        places, lengths = spread(np.diff(self.starts, append=len(self.rows)), records)
        found = _room(len(records))
        for block in blocks((np.cumsum(lengths) - lengths).astype(np.intp), len(places)):
            own = places[block.passages]
            scores = products(self.matrix[self.rows[own]], question)
            self._fill(found, block, scores, records[block.records], own)
        return found

    def placed(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return scores of the rows in the span as scores of the passages (n,), whatever of a missing one."""
        if self.side_by_side:
            return scores
        low, high = self.span
        return scores.take(np.maximum(self.rows - low, 0)) if high else np.zeros(len(self.rows), np.float32)

    def _fill(
        self,
        found: Nearness,
        block: Block,
        scores: NDArray[np.float32],
        records: slice | Positions,
        passages: slice | Positions,
    ) -> None:
        """Fill in what is found of the records of a block; the cosine of a missing passage is 0."""
        charge, at = self.charge[passages], block.records
        units, charged = np.empty(len(scores) + 1), np.empty(len(scores) + 1)
        units[-1], charged[-1] = 0.0, -np.inf
        np.multiply(scores, UNITS, out=units[:-1], dtype=np.float64)
        np.rint(units, out=units)
        np.subtract(units[:-1], charge, out=charged[:-1])
        if self.gaps:
            units[:-1][charge == np.inf] = 0.0
        best, first = block.most(charged)
        whole = block.sums(units)
        whole /= self.norms[records]
        np.rint(whole, out=whole)
        whole -= self.charge_whole[records]
        whole *= WHOLE_WEIGHT
        near, cosine = found.near[at], found.cosine[at]
        np.add(best, whole, out=near)
        near /= UNITS
        units.take(first, out=cosine, mode="clip")
        cosine /= UNITS
        found.passage[at] = first + passages.start if isinstance(passages, slice) else passages[first]
        if self.gaps and (unknown := np.flatnonzero(best == -np.inf)).size:
            unknown += at.start
            found.passage[unknown], found.cosine[unknown], found.near[unknown] = -1, -1.0, 0.0

    @property
    def exact(self) -> Plane:
        """Return the plane itself: none of its vectors is known by codes alone (sidecar.coded)."""
        return self

    @property
    def embedded(self) -> NDArray[np.bool_]:
        """Return which records (m,) have all their passages embedded."""
        whole: NDArray[np.bool_] = np.minimum.reduceat(self.rows, self.starts) >= 0
        return whole


def nothing(records: int, source: bytes = b"") -> Nearness:
    """Return the nearness of so many records without a vector."""
    return Nearness(np.full(records, -1, np.intp), np.full(records, -1.0), np.zeros(records), source)


def _room(records: int, source: bytes = b"") -> Nearness:
    return Nearness(np.empty(records, np.intp), np.empty(records), np.empty(records), source)


def products(vectors: Matrix, question: Vector) -> Vector:
    """Return the product (n,) of each vector (n, d) with a question (d,): by one thread, each row for itself.

    A matrix product is no faster, for both wait for memory, and its last bits hang on where in the matrix a row lies:
    here they are the same whichever rows are read with it.
    """
    found: Vector = np.vecdot(np.asarray(vectors), np.asarray(question, np.float32))
    return found


def plane(
    identity: str, matrix: Matrix, rows: NDArray[np.int32], owners: NDArray[np.uint32], sums: Sums | Vector
) -> Plane:
    """Return the plane of a snapshot; ``owners`` (n,) are the records of the passages, ascending and without a gap.

    ``sums`` are those of `summed`, or the probes' mean vector (d,) to work them out with.
    """
    starts = starts_of(owners)
    held = sums if isinstance(sums, Sums) else summed(matrix, rows, starts, sums)
    norms = np.maximum(held.norms.astype(np.float64), _TINY)
    charge = CENTRE * UNITS * held.usual.astype(np.float64)
    missing = rows < 0
    charge[missing] = np.inf
    gaps, there = bool(missing.any()), rows[~missing]
    span = int(there.min(initial=len(matrix))), int(there.max(initial=-1)) + 1
    whole = not gaps and span[1] - span[0] == len(rows) and bool((rows[1:] > rows[:-1]).all())
    charge_whole = CENTRE * UNITS * (held.whole / norms)
    source = identity.encode() + hashlib.sha256(np.packbits(missing).tobytes()).digest()
    return Plane(identity, matrix, rows, starts, norms, charge, charge_whole, blocks(starts, len(rows)), span, whole,
                 gaps, source)  # fmt: skip


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
    for first in range(0, records, BLOCK):
        last = min(first + BLOCK, records)
        start, stop = int(starts[first]), int(starts[last]) if last < records else len(rows)
        part = rows[start:stop]
        vectors = np.asarray(matrix[part], dtype=np.float32)
        vectors[part < 0] = 0
        lengths = np.einsum("ij,ij->i", vectors, vectors)[part >= 0]
        if not np.allclose(lengths, 1.0, atol=2 * _UNIT):
            raise DamagedStoreError("a stored vector has not length 1", "the store is made again from Git")
        added = np.add.reduceat(vectors, starts[first:last] - start, axis=0)
        found.norms[first:last] = np.linalg.norm(added, axis=1)
        found.usual[start:stop] = products(vectors, centre)
        found.whole[first:last] = products(added, centre)
    return found
