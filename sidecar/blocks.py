"""Records whose passages are weighed together, so that what is worked out of them stays in the processor's cache. Pure.

Cosines are counted in ten-thousandths here: rounded to four decimals they are whole numbers, whose sums are exact in
whatever order they are added.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sidecar.nearness import Positions

UNITS = 1e4
BLOCK = 16384
_FEW = 16
_DENSE = 0.25
"""From this share of the records on a second, third ... passage is looked up for all of them at once."""

Values = NDArray[np.floating]
Laid = tuple[Values, ...]
Some = tuple[Positions, Positions]


@dataclass(frozen=True, slots=True)
class Block:
    """The slices ``records`` (m) and ``passages`` (n) of a snapshot, and where the passages of each record lie.

    ``starts`` (m,) are the records' first passages within the block. ``dense`` (k, m) are their first, second ...
    passage, n where there is none; ``sparse`` are for each one after these the (records, passages) that have it.
    Without ``dense`` some record has many passages.
    """

    records: slice
    passages: slice
    starts: Positions
    dense: Positions | None
    sparse: tuple[Some, ...]

    def laid(self, charge: Values) -> Laid:
        """Return the charges (n,) of the passages as `weigh` wants them, without end for one that is not there."""
        if self.dense is None:
            return (charge,)
        ended = np.append(charge, charge.dtype.type(np.inf))
        return ended.take(self.dense), *(charge.take(passages) for _, passages in self.sparse)

    def weigh(self, values: Values, charges: Laid) -> tuple[Values, Positions, Values]:
        """Return of each record (m,) its passages' most value less its charge, the first that has it, and their sum.

        ``values`` (n + 1,) end with a 0; the sum is of the values themselves.
        """
        if self.dense is None:
            held = values[:-1]
            charged = held - charges[0]
            best = np.maximum.reduceat(charged, self.starts)
            return best, _first(charged, best, self.starts), np.add.reduceat(held, self.starts, dtype=np.float64)
        laid = values.take(self.dense)
        total = np.add.reduce(laid, axis=0)
        charged = laid - charges[0]
        best, which = charged[0], np.zeros(len(total), np.int8)
        for number, column in enumerate(charged[1:], 1):
            np.maximum(which, (column > best).view(np.int8) * np.int8(number), out=which)
            np.maximum(best, column, out=best)
        for number, ((records, passages), charge) in enumerate(zip(self.sparse, charges[1:], strict=True), len(laid)):
            some = values.take(passages)
            total[records] += some
            some = some - charge  # which may be of more digits
            better = np.flatnonzero(some > best.take(records))
            best[records[better]], which[records[better]] = some[better], number
        return best, self.starts + which, total


def blocks(starts: Positions, passages: int) -> tuple[Block, ...]:
    """Return the blocks of records whose first passages are ``starts`` (m,), of so many passages."""
    ends = [*range(0, len(starts), BLOCK), len(starts)]
    return tuple(_block(starts, first, last, passages) for first, last in pairwise(ends) if first < last)


def _block(starts: Positions, first: int, last: int, passages: int) -> Block:
    start, stop = int(starts[first]), int(starts[last]) if last < len(starts) else passages
    within = starts[first:last] - start
    runs = np.diff(within, append=stop - start)
    if (most := int(runs.max())) > _FEW:
        return Block(slice(first, last), slice(start, stop), within, None, ())
    dense, sparse = [within], []
    for number in range(1, most):
        has = runs > number
        if has.mean() >= _DENSE:
            dense.append(np.where(has, within + number, stop - start))
        else:
            records = np.flatnonzero(has)
            sparse.append((records, within[records] + number))
    return Block(slice(first, last), slice(start, stop), within, np.stack(dense), tuple(sparse))


def _first(scores: Values, best: Values, starts: Positions) -> Positions:
    """Return the position of the first passage of each record that reaches its record's best score."""
    if len(starts) == len(scores):
        return starts
    runs = np.diff(starts, append=len(scores))
    hits = np.flatnonzero(scores == np.repeat(best, runs))
    if len(hits) == len(starts):
        return hits
    found: Positions = hits[np.searchsorted(hits, starts)]
    return found
