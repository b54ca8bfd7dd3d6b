"""What has expired, is about to, died or piled up in the records: a list to work through. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from seed.record import parse_day
from seed.snapshot import Head
from sidecar.query import IN_FORCE
from sidecar.quote import one_line

SOON = timedelta(days=30)
PILED_CANDIDATES = 10
OLD_DAYS = 14
"""From so many candidates, or from such an age on, proposals have piled up: reviewers have stopped looking."""
PILED_CONFLICTS = 5
GLOB = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Held:
    """One record as the door let it through: its head and effective status on the day."""

    head: Head
    status: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What an audit judges: the records, the candidates (id -> days waited), contradictions, and what was scanned."""

    records: Sequence[Held]
    waiting: Mapping[str, int]
    conflicts: Sequence[str]
    hints: Sequence[str]
    unscanned: Sequence[str]
    ever_scanned: bool
    gone: Callable[[str], bool]


def audit(facts: Facts, today: date) -> list[dict[str, Any]]:
    """Return the findings: ``{check, id, path, detail, fix}``, by check and then id."""
    found = [*_expiry(facts, today), *_paths(facts), *_piles(facts), *_scans(facts)]
    return sorted(found, key=lambda one: (CHECKS.index(one["check"]), one["id"]))


CHECKS = ("expired", "expires", "paths", "candidates", "conflicts", "scan")


def _finding(check: str, ident: str, detail: str, fix: str, path: str = "") -> dict[str, Any]:
    return {"check": check, "id": ident, "path": one_line(path), "detail": one_line(detail, 300), "fix": fix}


def _expiry(facts: Facts, today: date) -> list[dict[str, Any]]:
    found = []
    for held in facts.records:
        record = held.head.record
        last = parse_day(record.valid_until) if record.valid_until else None
        if last is None or held.head.status not in IN_FORCE:
            continue
        if last < today:
            told, fix = f"expired on {last}", "renew valid_until, supersede it, or set its status to historical"
            found.append(_finding("expired", record.id, told, fix, held.head.path))
        elif last <= today + SOON:
            told, fix = f"expires on {last}, in {(last - today).days} days", "renew valid_until or supersede it"
            found.append(_finding("expires", record.id, told, fix, held.head.path))
    return found


def _paths(facts: Facts) -> list[dict[str, Any]]:
    """Return the records in force whose `paths` name nothing at HEAD; a pattern names nothing in particular."""
    found = []
    for held in facts.records:
        if held.status not in IN_FORCE:
            continue
        record = held.head.record
        dead = [path for path in record.paths if not GLOB & set(path) and facts.gone(path)]
        if dead:
            told = f"names {', '.join(dead[:3])}" + (f" and {len(dead) - 3} more" if len(dead) > 3 else "")  # noqa: PLR2004 - three are shown
            fix = "name where it went, or supersede the record if the code is gone"
            found.append(_finding("paths", record.id, f"{told}, not at HEAD", fix, held.head.path))
    return found


def _piles(facts: Facts) -> list[dict[str, Any]]:
    found = []
    if len(facts.waiting) >= PILED_CANDIDATES:
        told = f"{len(facts.waiting)} candidates wait for a reviewer"
        found.append(_finding("candidates", "", told, "see 'sidecar candidates'; promote or withdraw them"))
    for ident, days in facts.waiting.items():
        if days >= OLD_DAYS:
            fix = f"sidecar promote {ident}, or sidecar withdraw {ident}"
            found.append(_finding("candidates", ident, f"waits for a reviewer since {days} days", fix))
    for ident in facts.conflicts:
        fix = f"change one of the records, or: sidecar conflicts resolve {ident}"
        found.append(_finding("conflicts", ident, "contradiction recorded and not resolved", fix))
    if len(facts.hints) >= PILED_CONFLICTS:
        told = f"{len(facts.hints)} pairs wait for a judge, such as {facts.hints[0]}"
        found.append(_finding("conflicts", "", told, "see 'sidecar conflicts list'; record a verdict on each"))
    return found


def _scans(facts: Facts) -> list[dict[str, Any]]:
    if not facts.unscanned:
        return []
    count = len(facts.unscanned)
    told = f"{count} records were never scanned for contradictions, such as {facts.unscanned[0]}"
    if not facts.ever_scanned:
        told = f"no scan for contradictions was ever made ({count} records)"
    return [_finding("scan", "", told, "run 'sidecar conflicts scan'")]


def cron(folder: str) -> str:
    """Return the line for crontab that audits every Monday morning and mails what it finds."""
    quoted = "'" + folder.replace("'", "'\\''").replace("%", "\\%") + "'"
    return f"0 7 * * 1 sidecar audit --quiet --repo {quoted}"
