"""The answer: what the core decided, and the object that every surface returns, in two details. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from seed.record import SOURCES
from seed.snapshot import Head
from sidecar.quote import one_line, past_header, shorten

if TYPE_CHECKING:
    from sidecar.open_items import OpenItem

FULL_BYTES = 8000
BRIEF_PASSAGE = 300
SHORTEST_PASSAGE = 120
_FULL_PASSAGE = 900
MAX_TITLE = 300
BRIEF_WIDTH = 1500
"""Width of the JSON of three results. Measured over 311 answers: 389 tokens (o200k_base) in the median, 428 at most."""
_BOUNDED = 3
_KEY = len(', "passage": "..."')
_LEAST_PASSAGE = 60
_LABEL, _SOURCE, _MANY = 80, 200, 20
"""Longest label and source in characters, and most entries of a list: no record may blow up an answer."""
_RECEIPT = len("sha256:") + 16
_CLOSE = 0.35
NO_SUCCESSOR = ("candidate", "proposed", "rejected", "unknown")
"""Records that overturn nothing, whatever they say: lineage shows them, and no answer calls one a successor."""
_FILTERED = "passes the filters"
Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Hit:
    """One record of an answer with what speaks for it.

    ``ordinal`` points into the corpus; ``around`` are the paths a record names that lie around one asked about.
    """

    ordinal: int
    status: str
    score: float = 0.0
    relevance: float = 0.0
    cosine: float = 0.0
    lexical: float = 0.0
    fused: float = 0.0
    matched: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    passage: int = -1
    around: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranked:
    """What the core decided: the page of hits, and everything that was held back and why.

    ``conflicts``: folded id -> the contradictions between records that were recorded or are hinted at.
    """

    hits: tuple[Hit, ...]
    against: tuple[Hit, ...]
    retired: tuple[int, ...]
    total: int
    withheld: dict[str, int]
    nearest: tuple[int, ...]
    verdict: str
    retrieval: str
    open: tuple[OpenItem, ...] = ()
    conflicts: Mapping[str, Sequence[Mapping[str, str]]] = field(default_factory=dict)


def why(hit: Hit) -> str:
    """Return in words why a record matched."""
    parts = [f"exact: {_words(hit.exact[:3])}"] if hit.exact else []
    if hit.around:
        parts.append(f"speaks of {_words(hit.around[:2])}")
    if hit.matched:
        parts.append(_words(hit.matched[:4]))
    if hit.cosine >= _CLOSE:
        parts.append("close in meaning")
    return "; ".join(parts) or ("nearest in meaning" if hit.cosine > 0 else _FILTERED)


def _words(words: Sequence[str]) -> str:
    return ", ".join(one_line(word, _LABEL) for word in words)


def item(head: Head, hit: Hit, passage: Mapping[str, Any], statuses: Mapping[str, str]) -> dict[str, Any]:
    """Return the full form of one result. ``statuses``: id -> effective status today, for the lineage."""
    record = head.record
    found: dict[str, Any] = {
        "id": record.id,
        "kind": record.kind,
        "title": one_line(record.title, MAX_TITLE),
        "status": hit.status,
    }
    typed = record.status_text.strip().casefold()
    if typed != hit.status:
        found["status_in_file"] = one_line(record.status_text, 80)
    found |= {
        "date": one_line(record.date, _LABEL),
        "trust": record.trust or "document_extracted",
        "score": round(hit.score, 4),
        "relevance": round(hit.relevance, 4),
        "why": why(hit),
        "evidence": _evidence(hit),
        "passage": dict(passage),
        "path": one_line(head.path),
        "blob": head.blob,
        "source": [_source(source) for source in record.source[:3]],
        "lineage": [
            {"relation": x.relation, "id": x.id, "status": statuses.get(x.id.casefold(), x.status)}
            for x in head.lineage[:_MANY]
        ],
        "conflicts": [{"id": i, "state": "recorded", "reason": reason} for i, reason in head.conflicts[:_MANY]],
        "on_base": None,
    }
    if record.tags:
        found["tags"] = [one_line(t, _LABEL) for t in record.tags[:_MANY]]
    if record.workspace:
        found["workspace"] = one_line(record.workspace, _LABEL)
    if head.origin:
        found["branch"] = one_line(head.origin)
    return found


def _evidence(hit: Hit) -> dict[str, Any]:
    return {
        "cosine": hit.cosine,
        "lexical": hit.lexical,
        "fused": hit.fused,
        "matched_terms": [one_line(term, _LABEL) for term in hit.matched[:_MANY]],
        "exact": [one_line(token, _LABEL) for token in hit.exact[:_MANY]],
    }


def _source(source: Mapping[str, str]) -> dict[str, str]:
    return {key: one_line(source[key], _SOURCE) for key in SOURCES if key in source}


def unscored(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result of a listing: without score and passage, and with a reason only where a path was asked about."""
    dropped = {"score", "relevance", "evidence", "passage"} | ({"why"} if result["why"] == _FILTERED else set())
    return {k: v for k, v in result.items() if k not in dropped}


def side_item(head: Head, hit_status: str, reason: str = "") -> dict[str, Any]:
    """Return the short form of a record in `decided_against`, `retired` or `open_items`."""
    found = {
        "id": head.record.id,
        "kind": head.record.kind,
        "title": one_line(head.record.title, MAX_TITLE),
        "status": hit_status,
        "date": one_line(head.record.date, _LABEL),
        "path": one_line(head.path),
        "blob": head.blob,
    }
    successors = [
        x.id for x in head.lineage if x.relation in ("superseded_by", "refuted_by") and x.status not in NO_SUCCESSOR
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
    kept = [_lean(result, 6) for result in kept]
    while len(kept) > 1 and size(kept) > limit:
        kept.pop()
    return kept if size(kept) <= limit else [_lean(result, 0) for result in kept]


def _lean(result: dict[str, Any], entries: int) -> dict[str, Any]:
    """Return a result with at most so many entries in each of its lists; `get_record` has them all."""
    evidence = {k: v[:entries] if isinstance(v, list) else v for k, v in result["evidence"].items()}
    short = {k: v[:entries] for k, v in result.items() if isinstance(v, list)}
    return {**result, **short, "evidence": evidence}


def _cut(passage: Mapping[str, Any], longest: int) -> dict[str, Any]:
    text = passage.get("text", "")
    return {**passage, "text": shorten(text, longest)} if text else dict(passage)


def brief(answer: Answer) -> Answer:
    """Return the brief detail: what an agent needs to act, nothing that is empty, passages in the room that is left."""
    found = {k: answer[k] for k in ("format", "verdict", "retrieval")}
    found["results"] = [_brief_result(result) for result in answer["results"]]
    for key in ("decided_against", "retired", "open_items"):
        if answer[key]:
            found[key] = [_brief_side(entry) for entry in answer[key]]
    found |= {key: answer[key] for key in ("degraded", "note") if answer.get(key)}
    found["withheld"] = {k: v for k, v in answer["withheld"].items() if v}
    revision = answer["revision"]
    short = {"commit": revision["commit"][:12], "stale": revision["stale"], "repository": revision["repository"]}
    found["revision"] = short | ({"head": revision["head"][:12]} if revision["stale"] else {})
    if answer["has_more"] or answer["retrieval"] == "listing":
        found["total"] = answer["total"]
    if answer["has_more"]:
        found["next_cursor"] = answer["next_cursor"]
    receipt = answer["receipt"]
    found["receipt"] = receipt["id"][:_RECEIPT] + ("" if receipt["stored"] else " (not stored)")
    return _with_passages(found, answer["results"])


def _brief_result(result: Mapping[str, Any]) -> dict[str, Any]:
    short = {k: result[k] for k in ("id", "kind", "title", "status", "date", "score", "why", "path") if result.get(k)}
    short["title"] = _narrow(result["title"], 120)
    if "score" in result:
        short["score"] = round(result["score"], 2)
    return short | {k: result[k] for k in ("conflicts", "on_base", "branch", "status_in_file") if result.get(k)}


def _brief_side(entry: Mapping[str, Any]) -> dict[str, Any]:
    short = {k: entry[k] for k in ("id", "title", "status", "replaced_by") if entry.get(k)}
    return {**short, "title": _narrow(entry["title"], 80)}


def _with_passages(found: Answer, results: Sequence[Mapping[str, Any]]) -> Answer:
    """Share what is left of the bound among the passages: 60 characters at the least, 300 at the most."""
    if not results:
        return found
    room = BRIEF_WIDTH * max(len(results), _BOUNDED) / _BOUNDED - width(found)
    each = min(max(room / len(results) - _KEY, _LEAST_PASSAGE), BRIEF_PASSAGE)
    for short, result in zip(found["results"], results, strict=True):
        said = past_header(result.get("passage", {}).get("text", ""), result["title"])
        if text := " ".join(said.split()):
            short["passage"] = _narrow(text, each)
    return found


def _narrow(text: str, limit: float) -> str:
    return shorten(text, int(limit * len(text) / width(text)))


def width(value: object) -> int:
    """Return the length of a value's JSON as a tokenizer feels it: outside ASCII a character is about a token each."""
    text = json.dumps(value, ensure_ascii=False)
    return len(text) + 2 * sum(1 for character in text if not character.isascii())
