"""A plane of many vectors that is asked by their codes first: a quarter of the bytes to read. Pure.

The codes say of each record the most that its nearness and its cosine can be. Whoever needs to know more than that of
some records settles them (`Nearness.settle`): their vectors are read, and weighed as `Plane` weighs them, to the bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sidecar.blocks import UNITS, Block
from sidecar.codes import Asked, Codes, Product, asked
from sidecar.nearness import Nearness, Positions
from sidecar.plane import WHOLE_WEIGHT, Plane, Vector

_HALF = 0.5 / UNITS
"""What a cosine gains at most where it is rounded to four decimals."""
_MANY = 8
"""Where more than one in so many passages is to be settled, all vectors are read one after the other instead."""
_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class CodedPlane:
    """A plane with the codes of its matrix's rows, up to the last one it needs.

    ``scales``, ``rests`` and ``charge`` (n,) are of the passages, ``norms``, ``charge_whole`` and ``charged``, the
    largest charge of a passage, (m,) of the records; charges are plain here. ``broken`` is called when a vector turns
    out to be nearer than its codes allow: they are not of these vectors.
    """

    exact: Plane
    codes: Codes
    product: Product
    scales: Vector
    rests: Vector
    charge: Vector
    norms: Vector
    charge_whole: Vector
    charged: Vector
    broken: Callable[[], None]

    @property
    def identity(self) -> str:
        """Return the digest of the embedder identity."""
        return self.exact.identity

    @property
    def embedded(self) -> NDArray[np.bool_]:
        """Return which records (m,) have all their passages embedded."""
        return self.exact.embedded

    def nearness(self, question: Vector) -> Nearness:
        """Return the most that a unit question vector (d,) can be near to each record; each with a vector is loose."""
        exact, aim = self.exact, asked(np.asarray(question, np.float32))
        records, source = len(exact.starts), exact.source + question.tobytes()
        found = Nearness(np.full(records, -1, np.intp), np.empty(records), np.empty(records), source,
                         np.ones(records, np.bool_), partial(self._weigh, question))  # fmt: skip
        low, high = exact.span
        every = None if exact.side_by_side else exact.placed(self.product(self.codes.values[low:high], aim.values))
        for block in exact.blocks:
            at = block.passages
            held = self.codes.values[low + at.start : low + at.stop]
            self._fill(found, block, self.product(held, aim.values) if every is None else every[at], aim)
        return found

    def _fill(self, found: Nearness, block: Block, sums: Vector, aim: Asked) -> None:
        """Fill in the most that is possible for the records of a block, from the products of its codes (n,)."""
        at, passages = block.records, block.passages
        most, charged = np.empty((2, len(sums) + 1), np.float32)
        most[-1], charged[-1] = 0.0, -np.inf
        bound = self.rests[passages] * np.float32(aim.slope)
        bound += np.float32(aim.fixed + _HALF)
        np.multiply(sums, self.scales[passages], out=most[:-1])
        most[:-1] *= aim.scale
        most[:-1] += bound
        if self.exact.gaps:
            most[:-1][self.exact.rows[passages] < 0] = 0.0
        np.subtract(most[:-1], self.charge[passages], out=charged[:-1])
        best = block.top(charged)
        whole = block.sums(most) / self.norms[at] - self.charge_whole[at] + np.float32(_HALF)
        found.near[at] = best + np.float32(WHOLE_WEIGHT) * whole
        found.cosine[at] = best + self.charged[at]
        if self.exact.gaps and (unknown := np.flatnonzero(best == -np.inf)).size:
            unknown += at.start
            found.cosine[unknown], found.near[unknown], found.loose[unknown] = -1.0, 0.0, False  # type: ignore[index]

    def _weigh(self, question: Vector, said: Nearness, records: Positions) -> tuple[Positions, Nearness]:
        """Return records, those that are wanted among them, with what their vectors say."""
        exact = self.exact
        runs = np.diff(exact.starts, append=len(exact.rows))
        if int(runs[records].sum()) * _MANY <= len(exact.rows):
            found = exact.weighed(question, records)
            within = (found.near <= said.near[records] + _EQUAL) & (found.cosine <= said.cosine[records] + _EQUAL)
            if within.all():
                return records, found
            self.broken()
        return np.arange(len(exact.starts)), exact.nearness(question)


def coded(exact: Plane, codes: Codes, product: Product, broken: Callable[[], None]) -> CodedPlane:
    """Return a plane that is asked by the codes of its matrix's rows first."""
    scales, rests = (exact.placed(held[slice(*exact.span)]) for held in (codes.scales, codes.rests))
    charge = (exact.charge / UNITS).astype(np.float32)
    charged = np.maximum.reduceat(np.where(exact.rows < 0, np.float32(-np.inf), charge), exact.starts)
    norms, whole = exact.norms.astype(np.float32), (exact.charge_whole / UNITS).astype(np.float32)
    return CodedPlane(exact, codes, product, scales, rests, charge, norms, whole, charged, broken)
