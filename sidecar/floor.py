"""The no-match floor: how it is calibrated, and the verdict it leads to. Pure."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["match", "weak", "none"]
STRONG_COSINE = 0.55
AGREED_COSINE = 0.35
AGREED_COVERAGE = 0.3


@dataclass(frozen=True, slots=True)
class Calibration:
    """A floor with the probe that set it, and what it would be without that probe."""

    value: float
    probe: str
    without: float
    probes: str
    count: int


def max_probe(probes: Sequence[str], evidence: Sequence[float]) -> Calibration:
    """Return the highest evidence that any question without an answer reaches, rounded up to two decimals."""
    ranked = sorted(zip(evidence, probes, strict=True), reverse=True)
    if not ranked:
        return Calibration(0.0, "", 0.0, digest(probes), 0)
    second = ranked[1][0] if len(ranked) > 1 else 0.0
    return Calibration(round_up(ranked[0][0]), ranked[0][1], round_up(second), digest(probes), len(probes))


def round_up(value: float) -> float:
    """Round up to two decimals; a value that has only two stays."""
    return math.ceil(round(value * 100, 6)) / 100


def digest(probes: Sequence[str]) -> str:
    """Return the sha256 over the probes' texts: a floor belongs to the probes that set it."""
    return "sha256:" + hashlib.sha256("\n".join(probes).encode()).hexdigest()


def relevance(evidence: float, floor: float) -> float:
    """Return clamp((evidence - floor) / (1 - floor), 0, 1): 0 at or below the floor."""
    if evidence <= floor:
        return 0.0
    return min(max((evidence - floor) / max(1 - floor, 1e-9), 0.0), 1.0)


def verdict(*, found: bool, exact: bool, cosine: float, coverage: float, on_other_branch: bool = False) -> Verdict:
    """Return the verdict of an answer's first result: words and meaning agree, or one is strong enough alone."""
    if not found:
        return "none"
    agreed = cosine >= AGREED_COSINE and coverage >= AGREED_COVERAGE
    strong = exact or cosine >= STRONG_COSINE or agreed
    return "match" if strong and not on_other_branch else "weak"
