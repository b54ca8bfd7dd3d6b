"""The answer: what the core decided, and the object that every surface returns, in two details. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seed.snapshot import Head
from sidecar.quote import one_line, safe, shorten

FULL_BYTES = 8000
BRIEF_PASSAGE = 300
SHORTEST_PASSAGE = 120
_FULL_PASSAGE = 900
_SHORT_PASSAGE = 180
_FEW = 2
_CLOSE = 0.35
_NO_SUCCESSOR = ("candidate", "proposed", "rejected", "unknown")
"""Records that overturn nothing, whatever they say: lineage shows them, and no answer calls one a successor."""
Answer = dict[str, Any]
PassageOf = Callable[["Hit"], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Hit:
    """One record of an answer with what speaks for it. ``ordinal`` points into the corpus."""

    ordinal: int
    status: str
    score: float
    relevance: float
    cosine: float
    lexical: float
    coverage: float
    matched: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    passage: int = -1


@dataclass(frozen=True, slots=True)
class Ranked:
    """What the core decided: the page of hits, and everything that was held back and why."""

    hits: tuple[Hit, ...]
    against: tuple[Hit, ...]
    retired: tuple[int, ...]
    total: int
    withheld: dict[str, int]
    nearest: tuple[int, ...]
    verdict: str
    retrieval: str


def why(hit: Hit) -> str:
    """Return in words why a record matched."""
    parts = [f"exact: {', '.join(hit.exact[:3])}"] if hit.exact else []
    if hit.matched:
        parts.append(", ".join(hit.matched[:5]))
    if hit.cosine >= _CLOSE:
        parts.append("close in meaning")
    return "; ".join(parts) or ("nearest in meaning" if hit.cosine > 0 else "passes the filters")


def item(head: Head, hit: Hit, passage: Mapping[str, Any], statuses: Mapping[str, str]) -> dict[str, Any]:
    """Return the full form of one result. ``statuses``: id -> effective status today, for the lineage."""
    record = head.record
    found: dict[str, Any] = {
        "id": record.id,
        "kind": record.kind,
        "title": one_line(record.title),
        "status": hit.status,
    }
    typed = record.status_text.strip().casefold()
    if typed != hit.status:
        found["status_in_file"] = one_line(record.status_text, 80)
    found |= {
        "date": one_line(record.date),
        "trust": record.trust or "document_extracted",
        "score": round(hit.score, 4),
        "relevance": round(hit.relevance, 4),
        "why": why(hit),
        "evidence": {
            "cosine": hit.cosine,
            "lexical": hit.lexical,
            "matched_terms": list(hit.matched),
            "exact": list(hit.exact),
        },
        "passage": dict(passage),
        "path": safe(head.path),
        "blob": head.blob,
        "source": [dict(s) for s in record.source[:3]],
        "lineage": [
            {"relation": x.relation, "id": x.id, "status": statuses.get(x.id.casefold(), x.status)}
            for x in head.lineage
        ],
        "conflicts": [{"id": ident, "state": "recorded", "reason": reason} for ident, reason in head.conflicts],
        "on_base": None,
    }
    if record.tags:
        found["tags"] = [one_line(t) for t in record.tags]
    if record.workspace:
        found["workspace"] = record.workspace
    if head.origin:
        found["branch"] = safe(head.origin)
    return found


def side_item(head: Head, hit_status: str, reason: str = "") -> dict[str, Any]:
    """Return the short form of a record in `decided_against`, `retired` or `open_items`."""
    found = {
        "id": head.record.id,
        "kind": head.record.kind,
        "title": one_line(head.record.title),
        "status": hit_status,
        "date": one_line(head.record.date),
        "path": safe(head.path),
        "blob": head.blob,
    }
    successors = [
        x.id for x in head.lineage if x.relation in ("superseded_by", "refuted_by") and x.status not in _NO_SUCCESSOR
    ]
    if successors:
        found["replaced_by"] = successors  # type: ignore[assignment]
    if reason:
        found["why"] = reason
    return found


def size(value: object) -> int:
    """Return the bytes of compact JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def fit(results: Sequence[dict[str, Any]], limit: int = FULL_BYTES) -> list[dict[str, Any]]:
    """Return the results within ``limit`` bytes: passages shrink first, then the last results go."""
    kept = list(results)
    for longest in (_FULL_PASSAGE, 600, 450, 300, 220, 160, SHORTEST_PASSAGE):
        kept = [{**r, "passage": _cut(r["passage"], longest)} for r in results]
        if size(kept) <= limit:
            return kept
    kept = [
        {
            **r,
            "evidence": {**r["evidence"], "matched_terms": r["evidence"]["matched_terms"][:6]},
            "lineage": r["lineage"][:6],
        }
        for r in kept
    ]
    while len(kept) > 1 and size(kept) > limit:
        kept.pop()
    return kept


def _cut(passage: Mapping[str, Any], longest: int) -> dict[str, Any]:
    text = passage.get("text", "")
    return {**passage, "text": shorten(text, longest)} if text else dict(passage)


def brief(answer: Answer) -> Answer:
    """Return the brief detail: what an agent needs to act, and nothing that is empty."""
    longest = _passage_limit(len(answer["results"]))
    found: Answer = {k: answer[k] for k in ("format", "verdict", "retrieval")}
    found["results"] = [_brief_result(result, longest) for result in answer["results"]]
    for key in ("decided_against", "retired", "open_items"):
        if answer[key]:
            found[key] = [
                {k: v for k, v in entry.items() if k not in ("blob", "path", "kind")} for entry in answer[key]
            ]
    found |= {key: answer[key] for key in ("degraded", "note") if answer.get(key)}
    revision = answer["revision"]
    found["withheld"] = {k: v for k, v in answer["withheld"].items() if v}
    found["revision"] = {k: revision[k] for k in ("stale", "repository")} | {"commit": revision["commit"][:12]}
    if revision["stale"]:
        found["revision"]["head"] = revision["head"][:12]
    if answer["has_more"]:
        found |= {"total": answer["total"], "has_more": True, "next_cursor": answer["next_cursor"]}
    found["receipt"] = answer["receipt"]["id"][: len("sha256:") + 16]
    return found


def _brief_result(result: dict[str, Any], longest: int) -> dict[str, Any]:
    kept = ("id", "kind", "title", "status", "date", "score", "why", "path")
    short = {k: result[k] for k in kept if result.get(k) not in ("", None)}
    short |= {"title": shorten(result["title"], 160), "score": round(result["score"], 2)}
    short |= {key: result[key] for key in ("conflicts", "on_base", "branch", "status_in_file") if result.get(key)}
    if text := result["passage"].get("text"):
        short["passage"] = shorten(" ".join(text.split()), longest)
    return short


def _passage_limit(results: int) -> int:
    """Return the longest passage of a page: three results have to fit into 450 tokens."""
    return BRIEF_PASSAGE if results <= _FEW else _SHORT_PASSAGE
