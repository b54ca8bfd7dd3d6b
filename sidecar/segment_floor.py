"""The floors that probes set over sessions, kept so that a question does not wait for them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from seed.transcript import files
from sidecar.floor import Calibration

KEPT = 16


@dataclass(frozen=True, slots=True)
class SegmentFloor:
    """Evidence above ``value`` is a match, above ``weak`` a weak one; ``source``: "policy", "probes" or "none"."""

    value: float
    weak: float
    source: str
    probe: str = ""

    @classmethod
    def of(cls, strong: Calibration, weak: Calibration) -> SegmentFloor:
        """Return the floor of a match and of a weak match as the probes set them."""
        return cls(strong.value, weak.value, "probes", strong.probe)

    def verdict(self, evidence: float) -> str:
        """Return what the most evidence that a question has comes to: "match", "weak" or "none"."""
        return "match" if evidence > self.value else "weak" if evidence > self.weak else "none"


def kept_floor(path: Path, slot: str, make: Callable[[], SegmentFloor]) -> SegmentFloor:
    """Return the floor kept under ``slot``, else make and keep it; of the others the latest stay.

    ``slot`` names all that the floor depends on. A damaged file is written anew: it costs only time.
    """
    kept = _read(path)
    if slot in kept:
        return kept[slot]
    made = make()
    latest = [*kept.items(), (slot, made)][-KEPT:]
    files.private_folder(path.parent)
    files.write_atomically(path, [json.dumps({name: asdict(one) for name, one in latest}).encode()])
    return made


def _read(path: Path) -> dict[str, SegmentFloor]:
    try:
        return {name: SegmentFloor(**one) for name, one in json.loads(path.read_bytes()).items()}
    except (FileNotFoundError, ValueError, TypeError, AttributeError):
        return {}
