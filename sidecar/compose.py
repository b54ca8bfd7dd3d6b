"""Put an answer and its receipt together from what the core decided and what the store holds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from seed import blobs
from sidecar import answer as answers
from sidecar import cursor
from sidecar import receipt as receipts
from sidecar.answer import Answer, Hit, Ranked
from sidecar.base import Since
from sidecar.corpus import Corpus
from sidecar.meaning import Asked
from sidecar.query import Query
from sidecar.quote import one_line, safe
from sidecar.session import Session, View
from sidecar.version import VERSION

_REPLACED = ("superseded_by", "refuted_by")
_NOTHING_WITHHELD = {"superseded": 0, "candidate": 0, "below_floor": 0}


@dataclass(frozen=True, slots=True)
class Decided:
    """One question with everything that its answer is made from.

    ``stand`` names what the order hangs on beside query and snapshot (sidecar.cursor), ``statuses`` maps folded ids to
    effective statuses, ``uncommitted`` counts record files that are not committed.
    """

    query: Query
    view: View
    asked: Asked
    ranked: Ranked
    start: int
    stand: str
    workspace: str
    statuses: Mapping[str, str]
    since: Since | None
    uncommitted: int


def full(session: Session, decided: Decided) -> Answer:
    """Return the full answer, less its receipt."""
    query, view, asked, ranked = decided.query, decided.view, decided.asked, decided.ranked
    corpus, heads, statuses = view.corpus, view.corpus.heads, decided.statuses
    items = _items(session, decided)
    against = [answers.side_item(heads[h.ordinal], h.status, answers.why(h)) for h in ranked.against]
    lags = decided.since is not None and decided.since.mark([*items, *against])
    doubted = _doubted(items)
    results = answers.fit(items)
    if ranked.retrieval == "listing":
        results = [answers.unscored(item) for item in results]
    shown = decided.start + len(results)
    more = shown < ranked.total

    def side(ordinal: int, why: str = "") -> dict[str, Any]:
        return answers.side_item(heads[ordinal], statuses[heads[ordinal].record.id.casefold()], why)

    found: Answer = {
        "format": 1,
        "verdict": "weak" if (lags or doubted) and ranked.verdict == "match" else ranked.verdict,
        "retrieval": ranked.retrieval,
        "results": results,
        "decided_against": against,
        "retired": [side(ordinal) for ordinal in ranked.retired],
        "open_items": [side(item.ordinal, item.why) for item in ranked.open],
        "withheld": _NOTHING_WITHHELD | ranked.withheld | {"uncommitted": decided.uncommitted},
        "coverage": _coverage(session, corpus, asked, ranked),
        "revision": _revision(session, decided),
        "total": ranked.total,
        "has_more": more,
        "next_cursor": cursor.issue(query, corpus.snapshot.key, decided.stand, shown) if more else "",
        "receipt": {"id": "", "stored": False},
    }
    if reason := view.degraded or asked.degraded:
        found["degraded"] = reason
    if ranked.verdict == "none":
        found["note"] = _none_note(found, corpus, ranked, view.commit)
        found["nearest"] = [{"id": heads[n].record.id, "note": "below the floor"} for n in ranked.nearest]
    return found


def _items(session: Session, decided: Decided) -> list[dict[str, Any]]:
    """Return the page's results in full, with their passages and the contradictions they stand in."""
    corpus, ranked = decided.view.corpus, decided.ranked
    texts = session.store.texts(int(corpus.snapshot.pids[h.passage]) for h in ranked.hits if h.passage >= 0)
    items = []
    for hit in ranked.hits:
        passage = _passage(session, corpus, hit, texts)
        item = answers.item(corpus.heads[hit.ordinal], hit, passage, decided.statuses)
        item["conflicts"] += ranked.conflicts.get(item["id"].casefold(), ())
        items.append(item)
    return items


def _doubted(items: Sequence[dict[str, Any]]) -> bool:
    """Mark the results that a record of unknown status says it replaced: it retires nothing, and yet may be right."""
    found = False
    for item in items:
        for link in item["lineage"]:
            if link["relation"] in _REPLACED and link["status"] in ("unknown", "missing"):
                reason = f"{link['id']} says that it replaced this, and its own status is unknown"
                item["conflicts"].append({"id": link["id"], "state": "hint", "reason": reason})
                found = True
    return found


def _coverage(session: Session, corpus: Corpus, asked: Asked, ranked: Ranked) -> dict[str, int]:
    settled = ~corpus.having("origin", bool)
    records = int(settled.sum())
    whole = asked.plane.embedded if asked.plane is not None else session.embedded(corpus)
    embedded = int((whole & settled).sum())
    searched = embedded if ranked.retrieval in ("hybrid", "dense") else records
    unreadable = len(corpus.snapshot.unreadable)
    return {"records": records, "embedded": embedded, "searched": searched, "unreadable": unreadable}


def _passage(session: Session, corpus: Corpus, hit: Hit, texts: dict[int, tuple[bytes, str, int]]) -> dict[str, Any]:
    if hit.passage < 0:
        return {}
    head = corpus.heads[hit.ordinal]
    first = int(np.searchsorted(corpus.documents.owners, hit.ordinal))
    cuts = session.store.cuts(head.blob, blobs.version(corpus.snapshot.policy))
    cut = cuts[hit.passage - first]
    _, text, skip = texts[cut.pid]
    return {
        "text": safe(text[skip:]),
        "section": one_line(cut.section),
        "start": cut.start,
        "end": cut.end,
    }


def _revision(session: Session, decided: Decided) -> dict[str, Any]:
    view, asked = decided.view, decided.asked
    snapshot = view.corpus.snapshot
    return {
        "commit": view.commit,
        "head": view.head,
        "stale": view.stale,
        "base": {"ref": view.base.ref, "commit": view.base.commit} if view.base else None,
        "knowledge_tree": snapshot.tree,
        "candidates": snapshot.candidates,
        "embedder": asked.embedder,
        "floor": asked.floor.value,
        "floor_source": asked.floor.source,
        "policy": _policy_digest(view.corpus, asked),
        "repository": session.repo.name,
        "workspace": decided.workspace,
    }


def _policy_digest(corpus: Corpus, asked: Asked) -> str:
    floors = ",".join(f"{phrase.floor:.6f}" for phrase in asked.phrases)
    return "sha256:" + hashlib.sha256(f"{corpus.snapshot.policy.digest}\n{floors}".encode()).hexdigest()


def receipt_body(decided: Decided, full: Answer, now: datetime) -> dict[str, Any]:
    """Return what the receipt of an answer holds, before it is chained."""
    query, view, asked = decided.query, decided.view, decided.asked
    snapshot = view.corpus.snapshot
    return {
        "format": 1,
        "question": query.question,
        "also": list(query.also),
        "arguments": receipts.arguments(query),
        "workspace": decided.workspace,
        "commit": view.commit,
        "knowledge_tree": snapshot.tree,
        "candidates": [list(tip) for tip in snapshot.tips],
        "base": view.base.to_json() if view.base else None,
        "embedder": asked.embedder,
        "policy": full["revision"]["policy"],
        "provider": VERSION,
        "coverage": full["coverage"],
        "time": now.astimezone(UTC).isoformat(timespec="milliseconds"),
        "verdict": full["verdict"],
        "returned": receipts.returned(full),
    }


def _none_note(full: Answer, corpus: Corpus, ranked: Ranked, commit: str) -> str:
    coverage = full["coverage"]
    if not commit:
        return "No commit yet, so no records: commit files under knowledge/ first ('sidecar new decision TITLE')."
    if not corpus.heads and corpus.snapshot.unreadable:
        bad = len(corpus.snapshot.unreadable)
        return f"No record could be read: {bad} files are unreadable ('sidecar check' says why)."
    if not corpus.heads:
        return "No records: this commit has no knowledge/ folder with records. 'sidecar new decision TITLE' starts one."
    if full["retrieval"] == "listing":
        return "No record qualifies."
    if full["retrieval"] in ("hybrid", "dense") and coverage["embedded"] < coverage["records"]:
        lead = f"Nothing in the part searched ({coverage['embedded']} of {coverage['records']} records)."
    elif full.get("degraded") and coverage["embedded"] < coverage["records"]:
        part = f"by words, and by meaning {coverage['embedded']} of {coverage['records']} records"
        lead = f"Nothing in the part searched ({part})."
    else:
        lead = "No record answers this."
    below = ranked.withheld.get("below_floor", 0)
    near = (
        f" Nearest, but below the floor: {one_line(corpus.heads[ranked.nearest[0]].record.title, 100)}."
        if ranked.nearest
        else ""
    )
    held = "1 record was" if below == 1 else f"{below} records were"
    return f"{lead} {held} below the floor.{near} If you decide it now, propose a record."
