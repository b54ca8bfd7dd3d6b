"""What a reviewer of a knowledge pull request should look at: what rises, what falls, and what says the same. Pure.

Read from two commits, by words alone: no store and no model, so that it runs in any job, and on a fork's pull request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from seed.lifecycle import Standing, at_day, standings
from seed.record import TRUSTS, Record
from sidecar.query import by_default
from sidecar.similar import ALIKE, bag, overlap

_RANK = {trust: rank for rank, trust in enumerate(reversed(TRUSTS))}
_DEFAULT_TRUST = "document_extracted"
_MOST = 20
"""Findings of one kind that are shown; what is left out is counted."""


@dataclass(frozen=True, slots=True)
class Side:
    """The records of one commit by folded id, with effective status on a day, and where each file is."""

    records: Mapping[str, Record]
    standing: Mapping[str, Standing]
    paths: Mapping[str, str]
    today: date

    def status(self, key: str) -> str:
        """Return the effective status of a record of this side."""
        return at_day(self.standing[key].status, self.records[key].valid_until, self.today)

    def answers(self, key: str) -> bool:
        """Tell whether a record of this side answers by default."""
        return by_default(self.status(key), self.records[key].kind)


def side(files: Sequence[tuple[str, Record]], today: date) -> Side:
    """Return one side of the comparison from (path, record) pairs; of two files with one id the first counts."""
    records: dict[str, Record] = {}
    standing: dict[str, Standing] = {}
    paths: dict[str, str] = {}
    for (path, record), found in zip(files, standings([r for _, r in files]), strict=True):
        key = record.id.casefold()
        if key not in records:
            records[key], standing[key], paths[key] = record, found, path
    return Side(records, standing, paths, today)


def review(before: Side, after: Side) -> dict[str, Any]:
    """Return what a change does to the records, each list at most 20 long, with what was left out counted.

    ``{changed: [{id, path, trust, change, status}], raised: [{id, from, to}], retired: [{id, from, to, by}],
    near_duplicates: [{id, other, overlap}], contradictions: [{id, other, reason}], left_out}``
    """
    changed = [key for key in sorted(after.records) if before.records.get(key) != after.records[key]]
    removed = sorted(before.records.keys() - after.records.keys())
    lists = {
        "changed": [_change(before, after, key) for key in changed] + [_gone(before, key) for key in removed],
        "raised": [told for key in changed if (told := _raised(before.records.get(key), after.records[key]))],
        "retired": [told for key in sorted(before.records) if (told := _retired(before, after, key))],
        "near_duplicates": _duplicates(after, changed),
        "contradictions": [
            {"id": after.records[key].id, "other": other, "reason": reason}
            for key in sorted(after.records)
            for other, reason in after.standing[key].conflicts
            if key in changed or other.casefold() in changed
        ],
    }  # fmt: skip
    left_out = {name: len(found) - _MOST for name, found in lists.items() if len(found) > _MOST}
    return {"format": 1, **{name: found[:_MOST] for name, found in lists.items()}, "left_out": left_out}


def _change(before: Side, after: Side, key: str) -> dict[str, str]:
    told = {"id": after.records[key].id, "path": after.paths[key], "trust": _trust(after.records[key])}
    return {**told, "change": "changed" if key in before.records else "added", "status": after.status(key)}


def _gone(before: Side, key: str) -> dict[str, str]:
    record = before.records[key]
    return {
        "id": record.id,
        "path": before.paths[key],
        "trust": _trust(record),
        "change": "removed",
        "status": "missing",
    }


def _trust(record: Record) -> str:
    return record.trust or _DEFAULT_TRUST


def _raised(old: Record | None, new: Record) -> dict[str, str] | None:
    """Return a rise of trust: of a record that was there, or of one that an agent proposed."""
    start = _trust(old) if old is not None else "agent_generated" if new.proposed_by else ""
    if not start or _RANK[_trust(new)] <= _RANK[start]:
        return None
    return {"id": new.id, "from": start, "to": _trust(new)}


def _retired(before: Side, after: Side, key: str) -> dict[str, Any] | None:
    """Return a record that answers before the change and no longer after it, and by what."""
    if not before.answers(key) or (key in after.records and after.answers(key)):
        return None
    links = after.standing[key].lineage if key in after.records else ()
    by = [link.id for link in links if link.relation in ("superseded_by", "refuted_by")]
    to = after.status(key) if key in after.records else "missing"
    return {"id": before.records[key].id, "from": before.status(key), "to": to, "by": by}


def _duplicates(after: Side, changed: Sequence[str]) -> list[dict[str, Any]]:
    bags: dict[str, Counter[str]] = {key: bag(r) for key, r in after.records.items() if after.answers(key)}
    found: dict[frozenset[str], dict[str, Any]] = {}
    for key in changed:
        if key not in bags:
            continue
        for other, words in bags.items():
            share = overlap(bags[key], words) if other != key else 0.0
            if share >= ALIKE:
                told = {"id": after.records[key].id, "other": after.records[other].id, "overlap": round(share, 2)}
                found.setdefault(frozenset((key, other)), told)
    return sorted(found.values(), key=lambda told: (-told["overlap"], told["id"]))


def code(text: str) -> str:
    """Return text of a pull request as inline code, so that it can neither mention, link nor break the page."""
    plain = " ".join(text.replace("`", "'").split())
    return f"`{plain[:200]}`" if plain else ""


def markdown(found: Mapping[str, Any]) -> str:
    """Return a review as a Markdown comment."""
    lines = ["### Knowledge review", ""]
    if not found["changed"]:
        return "\n".join([*lines, "No record changes.", ""])
    lines += _table(
        "Records",
        [f"{c['change']} {code(c['id'])} ({c['status']}, {c['trust']}) in {code(c['path'])}" for c in found["changed"]],
    )
    lines += _table("Trust is raised", [f"{code(r['id'])}: {r['from']} to {r['to']}" for r in found["raised"]])
    lines += _table("No longer in force", [
        f"{code(r['id'])}: {r['from']} to {r['to']}" + (f", by {', '.join(map(code, r['by']))}" if r["by"] else "")
        for r in found["retired"]
    ])  # fmt: skip
    lines += _table("May say the same", [
        f"{code(d['id'])} and {code(d['other'])} ({d['overlap']:.0%} of their words)" for d in found["near_duplicates"]
    ])  # fmt: skip
    lines += _table("Open contradictions", [
        f"{code(c['id'])} and {code(c['other'])}: {code(c['reason'])}" for c in found["contradictions"]
    ])  # fmt: skip
    lines += [f"- {count} more under {name.replace('_', ' ')}" for name, count in found["left_out"].items()]
    lines += ["", found["note"], ""] if found.get("note") else [""]
    return "\n".join(lines)


def _table(title: str, entries: Sequence[str]) -> list[str]:
    return [f"**{title}**", "", *(f"- {entry}" for entry in entries), ""] if entries else []
