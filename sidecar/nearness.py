"""How near a question is to each record, and what is known of that before the vectors themselves are read. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Nearness:
    """What one plane says of each record (m,).

    Position of its best passage (-1 without a vector), that one's plain cosine (-1 without), and nearness: the best
    passage's plus half of the whole record's. ``source`` names what all of it follows from.

    Where ``loose`` (m,) holds, no passage is named yet, and cosine and nearness are the most that they can be:
    ``weigh`` reads the vectors of some records, and says of which records what is so. None where all is exact.
    """

    passage: Positions
    cosine: Floats
    near: Floats
    source: bytes = b""
    loose: NDArray[np.bool_] | None = None
    weigh: Callable[[Nearness, Positions], tuple[Positions, Nearness]] | None = None

    def settle(self, records: Positions) -> Positions:
        """Make what is said of some records exact, in place. Returns the records, maybe more, that were loose."""
        if self.loose is None or self.weigh is None:
            return records[:0]
        open_ones = records[self.loose[records]]
        if len(open_ones):
            open_ones, found = self.weigh(self, open_ones)
            self.passage[open_ones], self.cosine[open_ones] = found.passage, found.cosine
            self.near[open_ones], self.loose[open_ones] = found.near, False
        return open_ones
