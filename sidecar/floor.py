"""The no-match floor: how it is calibrated, and the verdict it leads to. Pure."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["match", "weak", "none"]
STRONG = 0.13
"""This share of the way from the floor to the ceiling is a match alone: no near-topic question of four sets got there
(finding-0001)."""
AGREE = 3
"""Words and meaning agree where the first record is among the first three of both."""
ALPHA = 0.05
GAP = 0.15


@dataclass(frozen=True, slots=True)
class Calibration:
    """A floor with the probe that set it, what it would be without that probe, and the probes that were left out."""

    value: float
    probe: str
    without: float
    probes: str
    count: int
    method: str = "max_probe"
    left_out: tuple[str, ...] = ()


def max_probe(probes: Sequence[str], evidence: Sequence[float]) -> Calibration:
    """Return the highest evidence that any question without an answer reaches, rounded up to two decimals."""
    return _at(probes, evidence, 0, "max_probe")


def conformal(probes: Sequence[str], evidence: Sequence[float], alpha: float = ALPHA) -> Calibration:
    """Return the split-conformal floor: of questions exchangeable with the m probes at most ``alpha`` pass it.

    It is the ceil((1 - alpha)(m + 1))-th smallest evidence (Vovk, Gammerman, Shafer, "Algorithmic Learning in a
    Random World", 2005), rounded up. The bound is marginal over the draw of the probes and says nothing of questions
    nearer to the records than the probes are. With alpha < 1 / (m + 1) there is no such floor and the highest counts.
    """
    size = len(evidence)
    above = size - min(size, math.ceil((1 - alpha) * (size + 1)))
    return _at(probes, evidence, above, "conformal")


def answered(evidence: Sequence[float]) -> int:
    """Return how many of the highest values (descending) stand apart: probes that these very records answer.

    A probe is a question that no record answers. One that a project does answer is none for that project, and stands
    out: among the highest tenth of the values, everything above the last gap of more than GAP (decision-0039).
    """
    most = max(1, len(evidence) // 10)
    gaps = [n + 1 for n in range(min(most, len(evidence) - 1)) if evidence[n] - evidence[n + 1] > GAP]
    return gaps[-1] if gaps else 0


def _at(probes: Sequence[str], evidence: Sequence[float], position: int, method: str) -> Calibration:
    everything = sorted(zip(evidence, probes, strict=True), key=lambda pair: (-pair[0], pair[1]))
    apart = answered([value for value, _ in everything])
    ranked = everything[apart:]
    if not ranked:
        return Calibration(0.0, "", 0.0, digest(probes), 0, method)
    position = min(position, len(ranked) - 1)
    value, probe = ranked[position]
    rest = ranked[position + 1 :]
    without = round_up(rest[0][0]) if rest else 0.0
    left_out = tuple(text for _, text in everything[:apart])
    return Calibration(round_up(value), probe, without, digest(probes), len(probes), method, left_out)


def round_up(value: float) -> float:
    """Round up to two decimals; a value that has only two stays."""
    return math.ceil(round(value * 100, 6)) / 100


def digest(probes: Sequence[str]) -> str:
    """Return the sha256 over the probes' texts: a floor belongs to the probes that set it."""
    return "sha256:" + hashlib.sha256("\n".join(probes).encode()).hexdigest()


def relevance(evidence: float, floor: float, ceiling: float = 1.0) -> float:
    """Return clamp((evidence - floor) / (ceiling - floor), 0, 1): 0 at or below the floor."""
    if evidence <= floor:
        return 0.0
    return min(max((evidence - floor) / max(ceiling - floor, 1e-9), 0.0), 1.0)


def verdict(*, found: bool, exact: bool, margin: float, meaning_rank: int, word_rank: int) -> Verdict:
    """Return the verdict of an answer from its first record.

    ``margin`` is its share of the way from the floor to the ceiling, the ranks (from 0) are those by cosine and by
    words alone: words and meaning agree, or one is strong enough alone.
    """
    if not found:
        return "none"
    agree = meaning_rank < AGREE and word_rank < AGREE
    return "match" if exact or agree or margin >= STRONG else "weak"
