"""Read the vectors of exactly those records whose exact evidence an answer can hang on. Pure.

Where vectors are many, their codes say of each record only the most that its evidence can be (sidecar.coded). What an
answer shows and counts is decided by less: who passes the floor, who comes first among them, who is nearest below it,
and whether the first is among the first by cosine. A record that cannot be any of these at its most is none of them,
so it is never read; all others are, and then nothing in the answer is by codes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sidecar.floor import AGREE
from sidecar.nearness import Floats, Positions
from sidecar.rank import REACH, Evidence, foremost

_STEP = 64


def above_the_floor(parts: Sequence[Evidence], least: float = 0.0) -> None:
    """Settle the records that may have a margin above ``least`` for any phrasing; no mean of them is above it else."""
    if any(part.loose is not None for part in parts):
        over = np.flatnonzero(np.logical_or.reduce([part.margin > least for part in parts]))
        _settle(parts, over)


def what_matters(
    parts: Sequence[Evidence], brought: Sequence[int], results: Positions, among: Positions, nearest: int
) -> None:
    """Settle all that the answer to one question in several phrasings hangs on.

    ``brought`` come in whatever their evidence, ``results`` are the ordinals that may be results, ``among`` those that
    may stand in the answer at all, and ``nearest`` is how many are named where none is above the floor.
    """
    if all(part.loose is None for part in parts):
        return
    _settle(parts, np.array(brought, np.intp))
    above_the_floor(parts)
    if float(_margins(parts)[results].max(initial=-1.0)) > 0:
        above_the_floor(parts, -REACH)  # beside a strong one others count from here on (sidecar.rank.supported)
    else:
        _foremost(parts, _margins, results, nearest)
    _foremost(parts, _cosines, among, AGREE)


def strongest(found: Evidence) -> float:
    """Return the highest evidence of any record, 0 where none has more."""
    _foremost([found], lambda parts: parts[0].fused, np.arange(len(found.fused)), 1)
    return float(found.fused.max(initial=0.0))


def _foremost(
    parts: Sequence[Evidence], values: Callable[[Sequence[Evidence]], Floats], among: Positions, count: int
) -> None:
    """Settle records until the first ``count`` by a value, those that are even with the last of them too, are exact."""
    step = _STEP
    while any(part.loose is not None for part in parts):
        held = values(parts)[among]
        first = among[foremost(held, count)]
        if not any(part.loose[first].any() for part in parts if part.loose is not None):
            return
        _settle(parts, among[foremost(held, max(step, count))])
        step *= 2


def _settle(parts: Sequence[Evidence], records: Positions) -> None:
    for part in parts:
        part.settle(records)


def _margins(parts: Sequence[Evidence]) -> Floats:
    """Return the mean margins (m,) of the phrasings, as `combine` works them out."""
    margins: Floats = np.stack([part.margin for part in parts]).mean(axis=0)
    return margins if len(parts) > 1 else parts[0].margin


def _cosines(parts: Sequence[Evidence]) -> Floats:
    """Return the most (m,) that the cosine can be which `combine` chooses."""
    most: Floats = np.maximum.reduce([part.cosine for part in parts])
    return most
