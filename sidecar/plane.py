"""The vectors of one embedder over a snapshot, and how near a question is to each record. Pure.

near(v) = cosine(question, v) - 0.75 x what the probes' mean vector has in common with v: a passage that is near to
every question is charged for it (finding-0001).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seed.errors import DamagedStoreError

CENTRE = 0.75
WHOLE_WEIGHT = 0.5
CEILING = 1.0 + WHOLE_WEIGHT
"""The most that nearness can reach: a cosine of 1 with the best passage and with the whole record."""

Matrix = NDArray[np.float32]
Floats = NDArray[np.float64]
_TINY = 1e-9
_UNIT = 1e-2


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
class Plane:
    """Vectors by reference, with what can be worked out before any question.

    ``matrix`` (rows, d), ``rows`` (n,) of the passages or -1 where missing, ``starts`` (m,) each record's first
    passage, ``norms`` (m,) the length of the sum of a record's vectors, ``usual`` (n,) and ``usual_whole`` (m,) the
    cosine of the probes' mean vector with each passage and record.
    """

    identity: str
    matrix: Matrix
    rows: NDArray[np.int32]
    starts: NDArray[np.intp]
    norms: Floats
    usual: Floats
    usual_whole: Floats

    def nearness(self, question: NDArray[np.float32]) -> Nearness:
        """Return how near a unit question vector (d,) is to every record; cosines are rounded to 4 decimals first."""
        have = self.rows >= 0
        cosines = np.where(have, np.round(_dot(self.matrix, question)[self.rows], 4), -1.0)
        charged = np.where(have, cosines - CENTRE * self.usual, -np.inf)
        best = np.maximum.reduceat(charged, self.starts)
        first = _first(charged, best, self.starts)
        known = np.isfinite(best)
        sums = np.add.reduceat(np.where(have, cosines, 0.0), self.starts)
        whole = np.round(sums / np.maximum(self.norms, _TINY), 4) - CENTRE * self.usual_whole
        near = np.where(known, best + WHOLE_WEIGHT * whole, 0.0)
        return Nearness(np.where(known, first, -1), np.where(known, cosines[first], -1.0), near)

    @property
    def embedded(self) -> NDArray[np.bool_]:
        """Return which records (m,) have all their passages embedded."""
        whole: NDArray[np.bool_] = np.minimum.reduceat(self.rows, self.starts) >= 0
        return whole


def plane(
    identity: str, matrix: Matrix, rows: NDArray[np.int32], owners: NDArray[np.uint32], centre: NDArray[np.float32]
) -> Plane:
    """Return the plane of a snapshot; ``owners`` (n,) are the records of the passages, ascending and without a gap.

    ``centre`` (d,) is the mean vector of the probes on this embedder; zeros charge nothing. Reads every vector once.
    Raises `DamagedStoreError` for a vector that has not length 1.
    """
    starts = np.flatnonzero(np.diff(owners, prepend=np.uint32(owners[0] + 1) if len(owners) else 0)).astype(np.intp)
    have = rows >= 0
    vectors = np.where(have[:, np.newaxis], np.asarray(matrix[rows]), 0).astype(np.float32)
    if not np.allclose(np.linalg.norm(vectors[have], axis=1), 1.0, atol=_UNIT):
        raise DamagedStoreError("a stored vector has not length 1", "the store is made again from Git")
    sums = np.add.reduceat(vectors, starts, axis=0)
    norms = np.linalg.norm(sums, axis=1).astype(np.float64)
    usual_whole = _dot(sums, centre) / np.maximum(norms, _TINY)
    return Plane(identity, matrix, rows, starts, norms, _dot(vectors, centre), usual_whole)


def _dot(matrix: Matrix, vector: NDArray[np.float32]) -> Floats:
    product: Floats = np.asarray(matrix @ vector, dtype=np.float64)
    return product


def _first(scores: Floats, best: Floats, starts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the position of the first passage of each record that reaches its record's best score."""
    owner = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(scores)))
    hits = np.flatnonzero(scores == best[owner])
    found: NDArray[np.intp] = hits[np.searchsorted(owner[hits], np.arange(len(starts)))]
    return found
