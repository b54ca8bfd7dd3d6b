"""A memory in memory: no Git, no store, no model. It shows that the contract binds behaviour, not this project's code.

Statuses come from the pure rules of `seed.lifecycle`; evidence is the share of the question's words that a record has.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any

from evals.contract.memory import TODAY, Reply, Values
from seed import secrets
from seed.errors import SidecarError
from seed.lifecycle import Standing, at_day, standings
from seed.reader import build_record
from seed.record import Record
from seed.text import content_words
from sidecar.query import Query, checked, in_period, status_admits

_FLOOR = 0.5
_SUCCESSORS = ("superseded_by", "refuted_by")


@dataclass(frozen=True, slots=True)
class _State:
    """What an answer stands on: accepted and proposed records by id, as their values."""

    accepted: dict[str, dict[str, Any]]
    candidates: dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Held:
    record: Record
    standing: Standing
    status: str
    blob: str


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _records(state: _State) -> list[_Held]:
    values = [*state.accepted.values(), *state.candidates.values()]
    records = [record for one in values if (record := build_record(one).record) is not None]
    proposed = frozenset(range(len(state.accepted), len(records)))
    today = date.fromisoformat(TODAY)
    return [
        _Held(record, standing, at_day(standing.status, record.valid_until, today), _digest(one))
        for record, standing, one in zip(records, standings(records, proposed), values, strict=True)
    ]


def _passes(query: Query, record: Record) -> bool:
    kinds = not query.kinds or record.kind in query.kinds
    return kinds and set(query.tags) <= set(record.tags) and in_period(record.date, query.after, query.before)


def _score(query: Query, record: Record) -> float:
    wanted = set(content_words(" ".join(query.phrasings)))
    held = set(content_words(f"{record.title} {record.body}"))
    return round(len(wanted & held) / len(wanted), 6) if wanted else 0.0


def _entry(held: _Held, score: float) -> Reply:
    record = held.record
    return {
        "id": record.id, "kind": record.kind, "title": record.title, "status": held.status,
        "status_in_file": record.status_text, "date": record.date, "trust": record.trust or "document_extracted",
        "score": score, "tags": list(record.tags), "blob": held.blob,
        "lineage": [asdict(link) for link in held.standing.lineage],
    }  # fmt: skip


def _answer(state: _State, query: Query) -> Reply:
    query = checked(query)
    held = [(one, _score(query, one.record)) for one in _records(state) if _passes(query, one.record)]
    listing = query.listing or not query.phrasings
    named = [one for one, _ in held if one.record.id in query.question.split()]
    after = {link.id for one in named for link in one.standing.lineage if link.relation in _SUCCESSORS}
    bearing = [(o, s) for o, s in held if listing or s >= _FLOOR or o in named or o.record.id in after]
    bearing.sort(key=lambda pair: pair[0].record.id)
    bearing.sort(key=lambda pair: pair[0].record.date, reverse=True)
    if not listing:
        bearing.sort(key=lambda pair: (pair[0].record.id in after, pair[1]), reverse=True)
    answering = [(o, s) for o, s in bearing if status_admits(query, o.status, o.record.kind)]
    results = [_entry(o, s) for o, s in answering if listing or "todo" not in o.record.tags]
    against = [_entry(o, s) for o, s in bearing if o.status == "rejected" and not listing]
    start = int(query.cursor or 0)
    page = results[start : start + query.limit]
    more = start + len(page) < len(results)
    return {
        "format": 1, "verdict": "match" if page or against else "none", "results": page, "decided_against": against,
        "retired": [_retired(o) for o in named if not status_admits(query, o.status, o.record.kind)],
        "open_items": [_entry(o, s) for o, s in answering if "todo" in o.record.tags and not listing],
        "total": len(results), "has_more": more, "next_cursor": str(start + len(page)) if more else "",
    }  # fmt: skip


def _retired(held: _Held) -> Reply:
    return _entry(held, 0.0) | {"replaced_by": [x.id for x in held.standing.lineage if x.relation in _SUCCESSORS]}


class FakeMemory:
    """The contract kept by dictionaries."""

    def __init__(self) -> None:
        self.state = _State({}, {})
        self.receipts: dict[str, tuple[_State, Query, Reply]] = {}

    def write(self, records: Sequence[Values]) -> None:
        """Accept records."""
        self.state = replace(self.state, accepted=self.state.accepted | {str(r["id"]): dict(r) for r in records})

    def recall(self, query: Query) -> Reply:
        """Answer a query and keep its receipt."""
        answer = _answer(self.state, query)
        named = [[name, one["id"], one["blob"]] for name in ("results", "decided_against", "open_items", "retired")
                 for one in answer[name]]  # fmt: skip
        ident = f"sha256:{_digest([query.question, named, len(self.receipts)])}"
        self.receipts[ident] = (self.state, query, {"id": ident, "question": query.question, "returned": named})
        return answer | {"receipt": {"id": ident, "stored": True}}

    def show(self, ident: str) -> Reply:
        """Return one record."""
        found = next((one for one in _records(self.state) if one.record.id == ident), None)
        if found is None:
            raise SidecarError(f"there is no record {ident!r}", "list the ids")
        entry = _entry(found, 0.0)
        return {"record": entry, "lineage": entry["lineage"]}

    def propose(self, record: Values) -> Reply:
        """Keep a candidate."""
        values = {**record, "status": "candidate", "trust": "agent_generated", "date": record.get("date", TODAY)}
        values["id"] = f"{record.get('kind')}-{TODAY.replace('-', '')}-{_digest(values)[:6]}"
        for value in values.values():
            if found := secrets.find(str(value).encode()):
                raise SidecarError(f"it holds what looks like a secret (rule {found[0].rule})", "leave it out")
        parsed = build_record(values)
        if parsed.record is None or any(problem.level == "error" for problem in parsed.problems):
            raise SidecarError("; ".join(p.reason for p in parsed.problems), "correct it and propose it again")
        again = int(values["id"] in self.state.candidates)
        self.state = replace(self.state, candidates=self.state.candidates | {str(values["id"]): values})
        return {"id": values["id"], "seen_again": again}

    def revise(self, ident: str, change: Values) -> Reply:
        """Change a candidate."""
        if ident not in self.state.candidates:
            return self._filed(ident)
        if {"status", "trust", "id"} & change.keys():
            raise SidecarError("a reviewer changes that", "promote the candidate")
        changed = {**self.state.candidates[ident], **change}
        self.state = replace(self.state, candidates=self.state.candidates | {ident: changed})
        return {"id": ident, "state": "amended"}

    def forget(self, ident: str, reason: str) -> Reply:
        """Withdraw a candidate."""
        if ident not in self.state.candidates:
            return self._filed(ident)
        left = {key: value for key, value in self.state.candidates.items() if key != ident}
        self.state = replace(self.state, candidates=left)
        return {"id": ident, "state": "withdrawn", "reason": reason}

    def _filed(self, ident: str) -> Reply:
        self.show(ident)
        commit = _digest(self.state.accepted)[:12]
        return {"code": "memory/file-backed", "id": ident, "path": f"memory/{ident}", "line": 1, "commit": commit}

    def receipt(self, ident: str) -> Reply:
        """Return a receipt."""
        return self.receipts[ident][2]

    def verify(self, ident: str) -> str:
        """Replay a receipt on the state it stood on."""
        state, query, receipt = self.receipts[ident]
        answer = _answer(state, query)
        named = [[name, one["id"], one["blob"]] for name in ("results", "decided_against", "open_items", "retired")
                 for one in answer[name]]  # fmt: skip
        return "same" if named == receipt["returned"] else "differs: records"
