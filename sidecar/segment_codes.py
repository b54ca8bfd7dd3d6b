"""Sentences asked by their codes first: a quarter of the bytes to read, and the same answer to the bit. Pure.

A segment's nearness is a sentence's cosine and those of its two neighbours, weighed with at most 1, r and r. So where
no cosine is further off than e, no segment is further off than (1 + 2 r) e. Exact they have to be in two places: where
the floor could lie on either side, and where a segment could be among the best. Only the vectors of those are read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sidecar.codes import Codes, Product, asked
from sidecar.plane import Vector
from sidecar.segment_rank import Floats, SegmentPlane, joined, kth_best

CODED_FROM = 100_000
"""From so many sentences on codes come first; below it reading the vectors is quick enough."""
_MANY = 8
"""Where more than one in so many sentences is to be read, all vectors are read one after the other instead."""
_DECIMALS = 1e-6
"""What rounding to 6 decimals moves two values apart, at most."""


@dataclass(frozen=True, slots=True)
class CodedSegments:
    """A plane with the codes of its matrix's rows, up to the last one it needs.

    ``broken`` is called when a segment turns out to be further off than its codes allow: they are not of these vectors.
    """

    exact: SegmentPlane
    codes: Codes
    product: Product
    broken: Callable[[], None]

    def evidence(self, question: Vector, share: Floats, floor: float, limit: int) -> Floats:
        """Return the evidence (n,) for a unit question vector (d,), with the share (n,) that its words have.

        It is exact for the ``limit`` best segments. Any other value stands on its own side of ``floor``, and below
        those of the best.
        """
        near, off = self._near(question)
        found, said = joined(share, near), self.exact.counts > 0
        close = said & ((np.abs(found - floor) <= off) | (found >= kth_best(found, said, limit) - 2 * off))
        places = np.flatnonzero(close)
        if int(self.exact.counts[places].sum()) * _MANY > len(self.exact.rows):
            return self._all(question, share)
        read = joined(share[places], self.exact.weighed(question, places))
        if (np.abs(read - found[places]) > off).any():
            self.broken()
            return self._all(question, share)
        found[places] = read
        return found

    def _near(self, question: Vector) -> tuple[Floats, float]:
        """Return the nearness (n,) by codes, and how far off evidence with it is at most."""
        aim = asked(question)
        cosines = self.product(self.codes.values, aim.values) * (self.codes.scales * aim.scale)
        widest = 1.0 + 2.0 * float(self.exact.before.max(initial=0.0))
        off = widest * (aim.fixed + aim.slope * float(self.codes.rests.max(initial=0.0)))
        return self.exact.of_cosines(cosines[:, np.newaxis])[:, 0], off + _DECIMALS

    def _all(self, question: Vector, share: Floats) -> Floats:
        return joined(share, self.exact.nearness(question[np.newaxis])[:, 0])
