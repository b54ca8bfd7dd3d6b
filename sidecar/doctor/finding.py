"""What a check finds, and how bad the whole is. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Severity = Literal["ok", "info", "warning", "critical"]
_ORDER: tuple[Severity, ...] = ("ok", "info", "warning", "critical")


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a diagnosis: what is so, how bad it is, and the command or step that mends it ("" for nothing)."""

    check: str
    severity: Severity
    evidence: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """Every finding in the order of the checks, and the checks that had nothing to look at, with the reason."""

    findings: tuple[Finding, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    deep: bool = False

    @property
    def worst(self) -> Severity:
        """Return the highest severity of all."""
        return worst(self.findings)

    @property
    def code(self) -> int:
        """Return the exit code: 0 fine, 1 with a warning, 2 with a critical finding."""
        return max(0, _ORDER.index(self.worst) - 1)

    def to_data(self) -> dict[str, Any]:
        """Return the report as JSON data: what `sidecar doctor --json` and `sidecar://status` give."""
        return {
            "format": 1,
            "worst": self.worst,
            "deep": self.deep,
            "checks": len({finding.check for finding in self.findings}) + len(self.skipped),
            "findings": [asdict(finding) for finding in self.findings],
            "skipped": [{"check": check, "reason": reason} for check, reason in self.skipped],
        }


def worst(findings: Sequence[Finding]) -> Severity:
    """Return the highest severity among findings, "ok" for none."""
    return max((finding.severity for finding in findings), key=_ORDER.index, default="ok")
