"""Where a text's vocabulary changes (after TextTiling: M. Hearst, Computational Linguistics 23(1), 1997).

The text is cut into small blocks; between each two, the words of the blocks before and after are
compared. A valley in that likeness, deeper than most, is where the subject changes.
"""

from __future__ import annotations

import math
import re
from itertools import pairwise
from statistics import fmean, pstdev

BLOCK = 120
WINDOW = 3
# A valley counts when it is deeper than the mean depth plus this many standard deviations.
DEEPER = 0.3

_UNIT = re.compile(rb"\\++n|[.!?] |\xe3\x80\x82")
_WORDS = re.compile(rb"[A-Za-z_][A-Za-z_]{2,}|[\xc3-\xf4][\x80-\xbf]+")


def changes(raw: bytes, start: int, end: int) -> list[int]:
    """Return the places in ``raw[start:end]`` where its vocabulary changes, in order; few texts have many."""
    borders = _blocks(raw, start, end)
    words = [frozenset(_WORDS.findall(raw[low:high].lower())) for low, high in pairwise(borders)]
    if len(words) < 2 * WINDOW:
        return []
    likeness = [_likeness(words, gap) for gap in range(1, len(words))]
    depths = _depths(likeness)
    threshold = fmean(depths) + DEEPER * pstdev(depths)
    return [
        borders[gap + 1]
        for gap, depth in enumerate(depths)
        if depth > threshold and depth == max(depths[max(0, gap - 1) : gap + 2])
    ]


def _blocks(raw: bytes, start: int, end: int) -> list[int]:
    """Return the borders of blocks of at least `BLOCK` bytes, each ending with a line or a sentence."""
    borders = [start]
    for match in _UNIT.finditer(raw, start, end):
        if match.end() - borders[-1] >= BLOCK:
            borders.append(match.end())
    if borders[-1] < end:
        borders.append(end)
    return borders


def _likeness(words: list[frozenset[bytes]], gap: int) -> float:
    """Return the cosine of the two sets of words around a gap."""
    before: frozenset[bytes] = frozenset().union(*words[max(0, gap - WINDOW) : gap])
    after: frozenset[bytes] = frozenset().union(*words[gap : gap + WINDOW])
    return len(before & after) / math.sqrt(len(before) * len(after)) if before and after else 0.0


def _depths(likeness: list[float]) -> list[float]:
    """Return how far each gap lies below the peaks to its left and right."""
    left, right = _peaks(likeness), _peaks(likeness[::-1])[::-1]
    return [high + other - 2 * value for high, other, value in zip(left, right, likeness, strict=True)]


def _peaks(values: list[float]) -> list[float]:
    """Return, for each value, the peak one reaches by climbing from it towards the start."""
    peaks: list[float] = []
    for at, value in enumerate(values):
        climbs = at and values[at - 1] >= value
        peaks.append(peaks[-1] if climbs else value)
    return peaks
