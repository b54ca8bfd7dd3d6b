"""How much speaks for each segment, and the floor that probes set. Pure.

evidence = cosine - 0.75 x (cosine with the probes' mean) + 0.6 b / (b + 20), with b the BM25 of the segment: the
evidence of records without the share of the whole record, since a segment stands for itself (finding-0001).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seed.text import words
from sidecar.floor import Calibration, conformal
from sidecar.plane import CENTRE, Matrix
from sidecar.rank import WORD_HALF, WORD_WEIGHT
from sidecar.segment_words import SegmentWords, score

CEILING = 1.0 + WORD_WEIGHT
WEAK_ALPHA = 0.3
"""This share of the questions without an answer may come back as a weak match: bytes that have to be read first."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SegmentPlane:
    """Vectors by reference: ``matrix`` (rows, d), ``rows`` (n,) of the segments or -1, ``usual`` (n,) their charge."""

    matrix: Matrix
    rows: NDArray[np.int32]
    usual: Floats

    def nearness(self, questions: NDArray[np.float32]) -> Floats:
        """Return how near unit question vectors (q, d) are to each segment, (n, q); 0 without a vector."""
        cosines = np.asarray(self.matrix @ questions.T, np.float64)[self.rows]
        near: Floats = np.where((self.rows >= 0)[:, np.newaxis], cosines - CENTRE * self.usual[:, np.newaxis], 0.0)
        return near


def plane(matrix: Matrix, rows: NDArray[np.int32], centre: NDArray[np.float32] | None = None) -> SegmentPlane:
    """Return the plane of segments; ``centre`` (d,) is the mean vector of the probes, None charges nothing."""
    usual = np.zeros(len(rows)) if centre is None else np.asarray(matrix @ centre, np.float64)[rows]
    return SegmentPlane(matrix, rows, usual)


def evidence(families: Sequence[SegmentWords], text: str, near: Floats | None) -> Floats:
    """Return the evidence (n,) of a question's text, with its nearness (n,) or by words alone; 6 decimals."""
    found = score(families, words(text))
    share = found / (found + WORD_HALF)
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


def best(found: Floats, said: NDArray[np.bool_], limit: int) -> list[int]:
    """Return the segments with the most evidence, of equals the earlier one first; silent ones never."""
    order = np.lexsort((np.arange(len(found)), -found))
    return [int(n) for n in order[said[order]][:limit]]
