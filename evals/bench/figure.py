"""A measured figure: what it is, what it was measured against in the same run, and how much it scattered."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

Work = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure. ``low`` and ``high`` are the first and the last of ten parts of the repeats.

    ``ratio`` is the value by that of ``against``, the median over pairs measured in turns; ``aim`` bounds the value
    and ``aim_ratio`` the ratio, 0 where there is none.
    """

    name: str
    value: float
    unit: str
    low: float = 0.0
    high: float = 0.0
    repeats: int = 1
    aim: float = 0.0
    against: str = ""
    ratio: float = 0.0
    aim_ratio: float = 0.0
    note: str = ""

    @property
    def reached(self) -> bool | None:
        """Tell whether every aim is reached; None without one."""
        aims = [self.value <= self.aim] if self.aim else []
        aims += [self.ratio <= self.aim_ratio] if self.aim_ratio else []
        return all(aims) if aims else None

    def to_json(self) -> dict[str, Any]:
        """Return the figure with what it stands for, rounded to four places."""
        values = {key: round(v, 4) if isinstance(v, float) else v for key, v in asdict(self).items()}
        told = {key: v for key, v in values.items() if key == "value" or v not in ("", 0.0)}
        return {**told, "reached": self.reached}


def milliseconds(work: Work) -> float:
    """Return the milliseconds of one call."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def timed(name: str, work: Work, *, repeats: int = 9, aim: float = 0.0, note: str = "") -> Figure:
    """Return the milliseconds of ``work`` after one call that does not count."""
    work()
    return figure(name, [milliseconds(work) for _ in range(repeats)], aim=aim, note=note)


def against(
    name: str,
    work: Work,
    floor: Work,
    of: str,
    *,
    repeats: int = 9,
    aim: float = 0.0,
    aim_ratio: float = 0.0,
    note: str = "",
) -> Figure:
    """Return the milliseconds of ``work`` and its ratio to ``floor``; both take turns, so that noise falls on both."""
    work()
    floor()
    pairs = [(milliseconds(work), milliseconds(floor)) for _ in range(repeats)]
    ratio = statistics.median(one / max(other, 1e-6) for one, other in pairs)
    return figure(name, [one for one, _ in pairs], aim=aim, of=of, ratio=ratio, aim_ratio=aim_ratio, note=note)


def figure(
    name: str,
    samples: Sequence[float],
    unit: str = "ms",
    *,
    aim: float = 0.0,
    of: str = "",
    ratio: float = 0.0,
    aim_ratio: float = 0.0,
    note: str = "",
) -> Figure:
    """Return the median of samples with their spread."""
    ordered = sorted(samples)
    low, high = (ordered[int(share * (len(ordered) - 1))] for share in (0.1, 0.9))
    middle = statistics.median(ordered)
    return Figure(name, middle, unit, low, high, len(ordered), aim, of, ratio, aim_ratio, note)


def slope(points: Sequence[tuple[int, float]]) -> float:
    """Return the slope of the straight line through (size, time) on two logarithmic axes: 1 is linear; least squares.

    Only sizes from a hundredth of the largest on count: below that, what is spent whatever the size hides the growth.
    """
    largest = max((size for size, _ in points), default=0)
    held = [(math.log(size), math.log(time)) for size, time in points if 100 * size >= largest]
    return statistics.linear_regression(*zip(*held, strict=True)).slope if len(held) > 1 else 0.0
