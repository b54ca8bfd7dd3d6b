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
Later = tuple[Positions | None, Positions]


@dataclass(frozen=True, slots=True)
class Block:
    """The slices ``records`` (m) and ``passages`` (n) of a snapshot, and where the passages of each record lie.

    ``starts`` (m,) are the records' first passages within the block. ``later`` are for the second, third ... passage
    the (records, passages) that have one; for all records where it is None, and n stands for no passage. Without
    ``later`` some record has many passages.
    """

    records: slice
    passages: slice
    starts: Positions
    later: tuple[Later, ...] | None

    def most(self, values: Values) -> tuple[Values, Positions]:
        """Return of each record the most of its passages' values (n + 1,), and the first passage that has it.

        The last value stands for a passage that is not there: the least of all.
        """
        if self.later is None:
            held = values[:-1]
            best = np.maximum.reduceat(held, self.starts)
            return best, _first(held, best, self.starts)
        best, other = values.take(self.starts), np.empty(len(self.starts), values.dtype)
        which = np.zeros(len(best), np.int8)
        for number, (records, passages) in enumerate(self.later, 1):
            if records is None:
                better = np.greater(values.take(passages, out=other, mode="clip"), best)
                np.maximum(best, other, out=best)
                np.maximum(which, better.view(np.int8) * np.int8(number), out=which)
            else:
                some = values.take(passages)
                better = np.flatnonzero(some > best.take(records))
                best[records[better]], which[records[better]] = some[better], number
        return best, self.starts + which

    def top(self, values: Values) -> Values:
        """Return of each record the most of its passages' values (n + 1,), as `most` does."""
        if self.later is None:
            return np.maximum.reduceat(values[:-1], self.starts)
        best, other = values.take(self.starts), np.empty(len(self.starts), values.dtype)
        for records, passages in self.later:
            if records is None:
                np.maximum(best, values.take(passages, out=other, mode="clip"), out=best)
            else:
                best[records] = np.maximum(best[records], values.take(passages))
        return best

    def sums(self, values: Values) -> Values:
        """Return of each record the sum of its passages' values (n + 1,), of which the last is 0."""
        if self.later is None:
            return np.add.reduceat(values[:-1], self.starts, dtype=np.float64)
        total, other = values.take(self.starts), np.empty(len(self.starts), values.dtype)
        for records, passages in self.later:
            if records is None:
                total += values.take(passages, out=other, mode="clip")
            else:
                total[records] += values.take(passages)
        return total


def blocks(starts: Positions, passages: int) -> tuple[Block, ...]:
    """Return the blocks of records whose first passages are ``starts`` (m,), of so many passages."""
    ends = [*range(0, len(starts), BLOCK), len(starts)]
    return tuple(_block(starts, first, last, passages) for first, last in pairwise(ends) if first < last)


def _block(starts: Positions, first: int, last: int, passages: int) -> Block:
    start, stop = int(starts[first]), int(starts[last]) if last < len(starts) else passages
    within = starts[first:last] - start
    runs = np.diff(within, append=stop - start)
    later = None
    if (most := int(runs.max())) <= _FEW:
        later = tuple(_later(within, runs, number, stop - start) for number in range(1, most))
    return Block(slice(first, last), slice(start, stop), within, later)


def _later(within: Positions, runs: Positions, number: int, none: int) -> Later:
    """Return the ``number``-th passages (from 0) of a block."""
    has = runs > number
    if has.mean() >= _DENSE:
        return None, np.where(has, within + number, none)
    records = np.flatnonzero(has)
    return records, within[records] + number


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
