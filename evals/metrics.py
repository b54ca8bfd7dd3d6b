"""Retrieval and abstention metrics over answered questions, with bootstrap intervals. Pure.

Sources: recall and reciprocal rank as in Manning, Raghavan, Schuetze, "Introduction to Information Retrieval"
(2008), section 8.4; nDCG: Jaervelin, Kekaelaeinen, "Cumulated gain-based evaluation of IR techniques" (2002), with
gain 1 and discount log2(rank + 1); percentile bootstrap: Efron, Tibshirani, "An Introduction to the Bootstrap"
(1993), section 13.3; coverage against false answers: the risk-coverage trade-off of El-Yaniv, Wiener, "On the
Foundations of Noise-free Selective Classification" (2010), with the share of unanswerable questions answered as risk.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

DEPTHS = (1, 3, 5, 10)
FALSE_SHARES = (0.0, 0.05)
RESAMPLES = 2000
SEED = 20261129
"""The bootstrap draws from one fixed seed, so that equal outcomes give equal intervals."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question as answered.

    ``results`` and ``against`` are ids in order, as answered; ``ranked`` are the first ten without the floor, which
    ranking figures are measured on (decision-0036); ``confidence`` is the best evidence that any record had before
    the floor, None where it was not measured.
    """

    expected: tuple[str, ...]
    results: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    verdict: str = "none"
    confidence: float | None = None
    forbid: tuple[str, ...] = ()
    above: tuple[tuple[str, str], ...] = ()
    ranked: tuple[str, ...] = ()

    @property
    def answered(self) -> bool:
        """Tell whether the verdict was anything but none; weak counts as answered."""
        return self.verdict != "none"

    @property
    def returned(self) -> tuple[str, ...]:
        """Return every record that came back."""
        return (*self.results, *self.against)


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its 95 % interval over ``n`` questions or pairs; None where there is nothing to measure."""

    value: float | None
    low: float | None
    high: float | None
    n: int

    @property
    def resolution(self) -> float | None:
        """Return 1/n: the smallest difference that the set can show."""
        return 1 / self.n if self.n else None

    def to_json(self) -> dict[str, Any]:
        """Return the figure as JSON data, rounded to 4 decimals."""
        numbers = {"value": self.value, "low": self.low, "high": self.high, "resolution": self.resolution}
        return {key: None if x is None else round(x, 4) for key, x in numbers.items()} | {"n": self.n}


@dataclass(frozen=True, slots=True)
class Point:
    """One point of the risk-coverage curve: who is answered when evidence of at least ``threshold`` is needed."""

    threshold: float
    coverage: float
    risk: float


def _fold(ids: Iterable[str]) -> list[str]:
    return [ident.casefold() for ident in ids]


def ranking(outcome: Outcome) -> list[str]:
    """Return the ids as ranked, folded. Expected records in ``against`` come first: there they count at every depth."""
    return _with_against(outcome, outcome.ranked or outcome.results)


def _with_against(outcome: Outcome, ids: Iterable[str]) -> list[str]:
    expected = set(_fold(outcome.expected))
    return [i for i in _fold(outcome.against) if i in expected] + _fold(ids)


def hit_in_force(outcome: Outcome, k: int) -> float:
    """Return 1.0 when an expected record is among the first ``k`` results as answered, floor included, else 0.0."""
    return float(bool(set(_fold(outcome.expected)) & set(_with_against(outcome, outcome.results)[:k])))


def rank(outcome: Outcome) -> int | None:
    """Return the 1-based rank of the first expected record, or None."""
    expected = set(_fold(outcome.expected))
    return next((at for at, ident in enumerate(ranking(outcome), 1) if ident in expected), None)


def hit(outcome: Outcome, k: int) -> float:
    """Return 1.0 when an expected record is among the first ``k`` results or in ``against``, else 0.0."""
    found = rank(outcome)
    return float(found is not None and found <= k)


def reciprocal_rank(outcome: Outcome) -> float:
    """Return 1 / rank of the first expected record, 0.0 without one."""
    found = rank(outcome)
    return 1 / found if found else 0.0


def ndcg(outcome: Outcome, k: int = 10) -> float:
    """Return nDCG at ``k`` with gain 1 for each expected record, counted once."""
    expected = set(_fold(outcome.expected))
    left = set(expected)
    gained = 0.0
    for at, ident in enumerate(ranking(outcome)[:k], 1):
        if ident in left:
            left.remove(ident)
            gained += 1 / math.log2(at + 1)
    ideal = sum(1 / math.log2(at + 1) for at in range(1, min(len(expected), k) + 1))
    return gained / ideal if ideal else 0.0


def pairs_kept(outcome: Outcome) -> list[float]:
    """Return 1.0 for each ``above`` pair whose first record came back before its second, else 0.0."""
    place = {ident: at for at, ident in reversed(list(enumerate(_fold(outcome.returned))))}
    missing = len(outcome.returned)
    kept = []
    for first, second in outcome.above:
        at = place.get(first.casefold())
        kept.append(float(at is not None and at < place.get(second.casefold(), missing)))
    return kept


def forbidden(outcome: Outcome) -> list[str]:
    """Return the forbidden records that came back."""
    back = set(_fold(outcome.returned))
    return [ident for ident in outcome.forbid if ident.casefold() in back]


def correct(outcome: Outcome, k: int = 3) -> bool:
    """Tell whether a question was answered right, floor included: a hit at ``k``, or none where nothing is expected."""
    return bool(hit_in_force(outcome, k)) if outcome.expected else not outcome.answered


def curve(outcomes: Sequence[Outcome]) -> list[Point]:
    """Return the risk-coverage curve, from the highest threshold to the lowest; empty without both classes."""
    good, bad = _confidences(outcomes)
    if not good or not bad:
        return []
    return [
        Point(t, sum(c >= t for c in good) / len(good), sum(c >= t for c in bad) / len(bad))
        for t in sorted({*good, *bad}, reverse=True)
    ]


def coverage_at(good: Floats, bad: Floats, share: float) -> Floats:
    """Return the share of answerable questions above the evidence that lets ``share`` of the unanswerable ones pass.

    ``good`` (..., n) and ``bad`` (..., m) hold the confidences; a threshold may let floor(share m) of ``bad`` pass.
    """
    import numpy as np

    allowed = math.floor(share * bad.shape[-1] + 1e-9)
    if allowed >= bad.shape[-1]:
        return np.ones(good.shape[:-1])
    threshold = np.sort(bad, axis=-1)[..., -1 - allowed]
    return np.asarray((good > threshold[..., None]).mean(axis=-1))


def _confidences(outcomes: Sequence[Outcome]) -> tuple[list[float], list[float]]:
    good = [o.confidence for o in outcomes if o.expected and o.confidence is not None]
    bad = [o.confidence for o in outcomes if not o.expected and o.confidence is not None]
    return good, bad


def _mean(values: Sequence[float]) -> Figure:
    """Return the mean with its percentile bootstrap interval."""
    if not values:
        return Figure(None, None, None, 0)
    import numpy as np

    data = np.asarray(values, dtype=np.float64)
    draws = np.random.default_rng(SEED).integers(0, len(data), (RESAMPLES, len(data)))
    low, high = np.percentile(data[draws].mean(axis=1), [2.5, 97.5])
    return Figure(float(data.mean()), float(low), float(high), len(data))


def _coverage(outcomes: Sequence[Outcome], share: float) -> Figure:
    """Return `coverage_at` with its interval, both classes resampled on their own."""
    import numpy as np

    good, bad = (np.asarray(values, dtype=np.float64) for values in _confidences(outcomes))
    if not len(good) or not len(bad):
        return Figure(None, None, None, 0)
    draw = np.random.default_rng(SEED)
    many = coverage_at(
        good[draw.integers(0, len(good), (RESAMPLES, len(good)))],
        bad[draw.integers(0, len(bad), (RESAMPLES, len(bad)))],
        share,
    )
    low, high = np.percentile(many, [2.5, 97.5])
    return Figure(float(coverage_at(good, bad, share)), float(low), float(high), len(good))


_ANSWERABLE: dict[str, Callable[[Outcome], float]] = {
    **{f"recall@{k}": partial(hit, k=k) for k in DEPTHS},
    **{f"recall@{k}_in_force": partial(hit_in_force, k=k) for k in (3, 10)},
    "mrr": reciprocal_rank,
    "ndcg@10": ndcg,
    "answered_answerable": lambda o: float(o.answered),
}
_UNANSWERABLE: dict[str, Callable[[Outcome], float]] = {
    "answered_unanswerable": lambda o: float(o.answered),
    "noise": lambda o: float(len(o.returned)),
}
COUNTS = ("false_answers", "forbid_hits")
FIGURES = (*_ANSWERABLE, *_UNANSWERABLE, *COUNTS, "pairwise", *(f"coverage@{share:g}" for share in FALSE_SHARES))
"""The names of all figures. Counts have no interval: each single case is meant to be looked at."""
LOWER_IS_BETTER = ("answered_unanswerable", "noise", *COUNTS)


def figures(outcomes: Sequence[Outcome]) -> dict[str, Figure]:
    """Return every figure of `FIGURES` over the outcomes of one language or group."""
    good = [o for o in outcomes if o.expected]
    bad = [o for o in outcomes if not o.expected]
    found = {name: _mean([measure(o) for o in good]) for name, measure in _ANSWERABLE.items()}
    found |= {name: _mean([measure(o) for o in bad]) for name, measure in _UNANSWERABLE.items()}
    found["false_answers"] = _count(sum(o.answered for o in bad), len(bad))
    found["forbid_hits"] = _count(sum(len(forbidden(o)) for o in outcomes), sum(len(o.forbid) for o in outcomes))
    found["pairwise"] = _mean([value for o in outcomes for value in pairs_kept(o)])
    found |= {f"coverage@{share:g}": _coverage(outcomes, share) for share in FALSE_SHARES}
    return found


def _count(value: int, n: int) -> Figure:
    return Figure(float(value), None, None, n)


def distinguishable(a: float, b: float, n: int) -> bool:
    """Tell whether two shares over ``n`` questions differ by at least the resolution 1/n."""
    return n > 0 and abs(a - b) >= 1 / n - 1e-9
