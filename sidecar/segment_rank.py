"""How much speaks for each segment, and the floor that probes set. Pure.

evidence = max over its sentences of (n + 0.5 n of the sentence before + 0.5 n of the one after) + 0.3 b / (b + 20)

with b the BM25 of the segment, and n = cosine x share: what is said over and over tells no place apart, so a sentence
that stands ``f`` times among N segments counts idf(f) / idf(1), idf(f) = ln(1 + (N - f + 0.5) / (f + 0.5)) as in BM25.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seed.facets import spread
from seed.text import words
from sidecar.floor import Calibration, conformal
from sidecar.plane import products as by_row
from sidecar.rank import WORD_HALF
from sidecar.segment_words import SegmentWords, score

REACH = 0.5
"""How much a neighbouring sentence speaks for a sentence."""
WORD_WEIGHT = 0.3
RANKED = "sentences/1"
"""Names this way to rank: a floor that was kept under another one does not hold."""
WEAK_ALPHA = 0.3
"""This share of the questions without an answer may come back as a weak match: bytes that have to be read first."""
_AT_ONCE = 8
Floats = NDArray[np.float64]
Matrix = NDArray[np.float32]
Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SegmentPlane:
    """Vectors by reference: ``matrix`` (rows, d), ``rows`` (s,) of the sentences or -1, ``counts`` (n,) of segments.

    ``share`` (s,) is what each sentence counts, 0 without a vector; ``before`` (s,) how much the one before it speaks
    for it, and it for that one: 0 where another session begins. ``first`` are the first sentences of the segments that
    say something, ``embedded`` (n,) the segments that have vectors of all that they say.
    """

    matrix: Matrix
    rows: NDArray[np.int32]
    counts: NDArray[np.int64]
    share: NDArray[np.float32]
    before: NDArray[np.float32]
    first: NDArray[np.int64]
    embedded: NDArray[np.bool_]

    @property
    def ceiling(self) -> float:
        """Return the most that the evidence of a segment can reach."""
        return 1.0 + 2 * float(self.before.max(initial=0.0)) + WORD_WEIGHT

    def nearness(self, questions: NDArray[np.float32]) -> Floats:
        """Return how near unit question vectors (q, d) are to each segment, (n, q); 0 without a vector."""
        near = np.zeros((len(self.counts), len(questions)))
        vectors = np.asarray(self.matrix)  # of a memory map every product would be wrapped
        for at in range(0, len(questions) if len(self.rows) else 0, _AT_ONCE):
            # All rows as they lie: a choice of rows is a copy.
            near[:, at : at + _AT_ONCE] = self.of_cosines(products(vectors, questions[at : at + _AT_ONCE]))
        return near

    def of_cosines(self, cosines: Matrix) -> Floats:
        """Return the nearness (n, q) of segments, given the cosines (rows, q) of the vectors with some questions."""
        near = np.zeros((len(self.counts), cosines.shape[1]))
        one = self.share[:, np.newaxis] * cosines[self.rows]
        around = one.copy()
        around[1:] += self.before[1:, np.newaxis] * one[:-1]
        around[:-1] += self.before[1:, np.newaxis] * one[1:]
        near[self.counts > 0] = np.maximum.reduceat(around, self.first, axis=0)
        return near

    def weighed(self, question: Vector, segments: NDArray[np.intp]) -> Floats:
        """Return how near a question (d,) is to some segments (k,) that say something, bit for bit as `nearness`.

        Only the vectors of their sentences and of the two beside them are read.
        """
        places, lengths = spread(self.counts, segments)
        last = len(self.rows) - 1
        sides = np.maximum(places - 1, 0), places, np.minimum(places + 1, last)
        read = np.unique(np.concatenate(sides))
        one = self.share[read] * products(self.matrix[self.rows[read]], question[np.newaxis])[:, 0]
        left, around, right = (one[np.searchsorted(read, side)] for side in sides)
        around[places > 0] += (self.before[places] * left)[places > 0]
        around[places < last] += (self.before[sides[2]] * right)[places < last]
        starts = np.cumsum(lengths) - lengths
        return np.maximum.reduceat(around, starts).astype(np.float64) if len(places) else np.zeros(0)


def products(vectors: Matrix, questions: Matrix) -> Matrix:
    """Return the products (n, q) of vectors (n, d) with questions (q, d); of one as in `sidecar.plane`."""
    return by_row(vectors, questions[0])[:, np.newaxis] if len(questions) == 1 else vectors @ questions.T


def plane(
    matrix: Matrix,
    rows: NDArray[np.int32],
    counts: NDArray[np.int64],
    breaks: Sequence[int] | NDArray[np.int64] = (0,),
    reach: float = REACH,
) -> SegmentPlane:
    """Return the plane of segments with ``counts`` (n,) sentences each; ``breaks`` are where a session's begin."""
    before = np.full(len(rows), reach, np.float32)
    before[[at for at in breaks if at < len(rows)]] = 0.0
    embedded = counts > 0
    share, first = _share(rows, len(matrix), int(embedded.sum())), (np.cumsum(counts) - counts)[embedded]
    if len(rows):
        embedded[embedded] = np.add.reduceat(rows < 0, first) == 0
    return SegmentPlane(matrix, rows, counts, share, before, first, embedded)


def _share(rows: NDArray[np.int32], held: int, segments: int) -> NDArray[np.float32]:
    often = np.bincount(rows[rows >= 0], minlength=held)[rows]
    often = np.clip(often, 1, max(segments, 1))

    def idf(times: Floats | float) -> Floats:
        return np.asarray(np.log1p((segments - times + 0.5) / (times + 0.5)))

    share: NDArray[np.float32] = (idf(often.astype(np.float64)) / idf(1.0)).astype(np.float32)
    return np.where(rows >= 0, share, np.float32(0))


def evidence(families: Sequence[SegmentWords], text: str, near: Floats | None) -> Floats:
    """Return the evidence (n,) of a question's text, with its nearness (n,) or by words alone; 6 decimals."""
    return joined(by_words(families, text), near)


def by_words(families: Sequence[SegmentWords], text: str) -> Floats:
    """Return the share (n,) that the words of a text have in the evidence, below 1."""
    found = score(families, words(text))
    return found / (found + WORD_HALF)


def joined(share: Floats, near: Floats | None) -> Floats:
    """Return the evidence (n,) of the share that words have, with a nearness (n,) or without one; 6 decimals."""
    return np.round(share if near is None else near + WORD_WEIGHT * share, 6).astype(np.float64)


def calibrate(
    families: Sequence[SegmentWords], probes: Sequence[str], near: Floats | None, said: NDArray[np.bool_]
) -> tuple[Calibration, Calibration]:
    """Return (floor of a match, floor of a weak match) from the most evidence that any segment has for each probe.

    Sessions hold talk of all kinds, so the highest probe says little: both are split-conformal floors, which at most
    `ALPHA` and `WEAK_ALPHA` of the questions without an answer pass. ``near`` is (n, probes).
    """
    tops = []
    for at, probe in enumerate(probes):
        found = evidence(families, probe, None if near is None else near[:, at])
        tops.append(float(found[said].max(initial=0.0)))
    return conformal(probes, tops), conformal(probes, tops, WEAK_ALPHA)


def kth_best(found: Floats, said: NDArray[np.bool_], limit: int) -> float:
    """Return the evidence of the last of the ``limit`` best segments, of fewer segments that of the last."""
    speaking = found[said]
    last = len(speaking) - min(limit, len(speaking))
    return float(np.partition(speaking, last)[last]) if len(speaking) else 0.0


def best(found: Floats, said: NDArray[np.bool_], limit: int) -> list[int]:
    """Return the segments with the most evidence, of equals the earlier one first; silent ones never."""
    speaking = np.flatnonzero(said)
    speaking = speaking[found[speaking] >= kth_best(found, said, limit)]
    order = np.argsort(-found[speaking], kind="stable")
    return [int(n) for n in speaking[order][:limit]]
