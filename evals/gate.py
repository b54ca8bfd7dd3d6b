"""The recall gate: does a result reach what was written down before the run? Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evals.gates import Gates, Limit
from evals.metrics import COUNTS

_TIGHT = 1
"""With this many questions to spare or fewer, the gate warns: one more miss and it fails."""
_WHOLE = ("recall@", "answered_", "coverage@", "pairwise")
_EPSILON = 1e-9


@dataclass(frozen=True, slots=True)
class Judgement:
    """What fell short, in words and by the figures' names; what is near to it; and what each bound has to spare."""

    failures: tuple[str, ...]
    short: frozenset[str]
    warnings: tuple[str, ...]
    spare: dict[str, int]


def judge(result: Mapping[str, Any], gates: Gates) -> Judgement:
    """Hold a result of `evals.result.result` against gates. An empty run never passes."""
    failures = [*_too_few(result, gates), *_stale(result)]
    warnings: list[str] = []
    short: set[str] = set()
    spare: dict[str, int] = {}
    for limit in gates.limits:
        figure = _figure(result, limit)
        if reason := _short(limit, figure):
            failures.append(reason)
            short.add(limit.name)
        elif (left := _left(limit, figure)) is not None:
            spare[limit.name] = left
            if left <= _TIGHT and not _exact(limit):
                warnings.append(f"{limit.name}: {left} to spare")
    return Judgement(tuple(failures), frozenset(short), (*warnings, *_fragile(result, gates.fragile)), spare)


def _figure(result: Mapping[str, Any], limit: Limit) -> Mapping[str, Any]:
    figures = result["by_language"].get(limit.language, {}) if limit.language else result["figures"]
    found: Mapping[str, Any] = figures.get(limit.figure, {"value": None, "n": 0})
    return found


def _too_few(result: Mapping[str, Any], gates: Gates) -> Iterator[str]:
    wanted = {"answerable": 1, "unanswerable": 1, "records": 1, **gates.questions}
    for name, least in wanted.items():
        have = result["counts"].get(name, 0)
        if have < least:
            yield f"too few to judge: {have} {name}, at least {least} {'is' if least == 1 else 'are'} needed"


def _stale(result: Mapping[str, Any]) -> Iterator[str]:
    for review in result["reviews"]:
        instead = f", now {' and '.join(review['successors'])}" if review["successors"] else ""
        label = f"{review['question']} (line {review['line']}) expects {review['record']}"
        yield f"label needs review: {label}, which is {review['status']}{instead}"


def _short(limit: Limit, figure: Mapping[str, Any]) -> str:
    value, n = float(figure["value"] or 0.0), int(figure["n"])
    if value is None or not n:
        # No labels for a figure is no pass - but nothing can be forbidden where no label forbids anything.
        return "" if limit.figure == "forbid_hits" else f"{limit.name}: nothing to measure"
    if limit.at_least and value < limit.bound - _EPSILON:
        return f"{limit.name} is {value:g}, below {limit.bound:g} (n = {n}, resolution {1 / n:.3f})"
    if not limit.at_least and value > limit.bound + _EPSILON:
        return f"{limit.name} is {value:g}, above {limit.bound:g} (n = {n})"
    return ""


def _left(limit: Limit, figure: Mapping[str, Any]) -> int | None:
    """Return how many more questions may go wrong before the bound is passed; None for means that are no counts."""
    value, n = float(figure["value"] or 0.0), int(figure["n"])
    if limit.figure in COUNTS and not limit.at_least:
        return math.floor(limit.bound - value + _EPSILON)
    if not limit.figure.startswith(_WHOLE) or not n:
        return None
    have = round(value * n)
    if limit.at_least:
        return have - math.ceil(limit.bound * n - _EPSILON)
    return math.floor(limit.bound * n + _EPSILON) - have


def _exact(limit: Limit) -> bool:
    """Tell whether a bound never leaves anything to spare: all right, or none wrong."""
    return limit.bound == (1.0 if limit.at_least else 0.0)


def _fragile(result: Mapping[str, Any], within: float) -> Iterator[str]:
    for question in result["questions"]:
        for language, reply in ((question["language"], question), *question.get("variants", {}).items()):
            evidence, floor = reply["confidence"], reply["floor"]
            if evidence is not None and abs(evidence - floor) <= within + _EPSILON:
                yield f"fragile: {question['id']} ({language}) has evidence {evidence:.3f}, the floor is {floor:.3f}"
