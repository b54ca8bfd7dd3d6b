"""JSON Schemas of what the tools return, in full. Tool lists name only the top-level fields, to stay short. Pure."""

from __future__ import annotations

from typing import Any

from seed.record import KINDS, STATUSES, TRUSTS

Schema = dict[str, Any]
_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_FLAG: Schema = {"type": "boolean"}
_NUMBER: Schema = {"type": "number"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_STATUS: Schema = {"enum": [*STATUSES, "missing"]}
_COUNTS: Schema = {"type": "object", "additionalProperties": _COUNT}


def _object(required: str, properties: dict[str, Schema]) -> Schema:
    return {"type": "object", "properties": properties, "required": required.split(), "additionalProperties": False}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


_LINK = _object("relation id status", {"relation": _TEXT, "id": _TEXT, "status": _STATUS})
_CONFLICT = _object("id state reason", {"id": _TEXT, "state": {"enum": ["recorded", "hint"]}, "reason": _TEXT})
_PASSAGE = _object("", {"text": _TEXT, "section": _TEXT, "start": _COUNT, "end": _COUNT})
_EVIDENCE = _object(
    "cosine lexical matched_terms exact",
    {"cosine": _NUMBER, "lexical": _NUMBER, "fused": _NUMBER, "matched_terms": _TEXTS, "exact": _TEXTS},
)
_SOURCES = _list({"type": "object", "additionalProperties": _TEXT})
_REVISION = {"commit": _TEXT, "head": _TEXT, "stale": _FLAG, "repository": _TEXT}
_RESULT = _object(
    "id kind title status path",
    {
        "id": _TEXT,
        "kind": {"enum": list(KINDS)},
        "title": _TEXT,
        "status": _STATUS,
        "status_in_file": _TEXT,
        "date": _TEXT,
        "trust": {"enum": list(TRUSTS)},
        "score": _NUMBER,
        "relevance": _NUMBER,
        "why": _TEXT,
        "evidence": _EVIDENCE,
        "passage": {"anyOf": [_TEXT, _PASSAGE]},
        "path": _TEXT,
        "blob": _TEXT,
        "source": _SOURCES,
        "lineage": _list(_LINK),
        "conflicts": _list(_CONFLICT),
        "on_base": {"type": ["object", "null"]},
        "tags": _TEXTS,
        "workspace": _TEXT,
        "branch": _TEXT,
    },
)
_SIDE = _object(
    "id title status",
    {
        "id": _TEXT,
        "kind": {"enum": list(KINDS)},
        "title": _TEXT,
        "status": _STATUS,
        "date": _TEXT,
        "path": _TEXT,
        "blob": _TEXT,
        "replaced_by": _TEXTS,
        "why": _TEXT,
        "on_base": {"type": "object"},
    },
)


def answer_schema() -> Schema:
    """Return the schema of an answer in either detail: recall, find_precedents, query_decisions."""
    side = _list(_SIDE)
    found = _object(
        "format verdict retrieval results withheld revision receipt",
        {
            "format": {"const": 1},
            "verdict": {"enum": ["match", "weak", "none"]},
            "retrieval": {"enum": ["hybrid", "dense", "lexical", "exact", "listing"]},
            "degraded": _TEXT,
            "note": _TEXT,
            "results": _list(_RESULT),
            "decided_against": side,
            "retired": side,
            "open_items": side,
            "nearest": _list(_object("id note", {"id": _TEXT, "note": _TEXT})),
            "withheld": _COUNTS,
            "coverage": _COUNTS,
            "revision": {"type": "object", "properties": _REVISION, "required": ["commit", "stale", "repository"]},
            "total": _COUNT,
            "has_more": _FLAG,
            "next_cursor": _TEXT,
            "receipt": {"anyOf": [_TEXT, _object("id stored", {"id": _TEXT, "stored": _FLAG})]},
        },
    )
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Answer", **found}


def shown_schema() -> Schema:
    """Return the schema of one record as get_record returns it."""
    record = {"type": "object", "required": ["id", "kind", "title", "status", "trust", "path", "blob"]}
    touch = _object("commit date author subject", dict.fromkeys(("commit", "date", "author", "subject"), _TEXT))
    step = _object(
        "id step relation of status date title",
        {
            **dict.fromkeys(("id", "relation", "of", "date", "title"), _TEXT),
            "step": {"type": "integer"},
            "status": _STATUS,
            "cycle": _FLAG,
        },
    )
    found = _object(
        "format record lineage chain cited_by paths section body chars next_cursor history history_complete twins "
        "revision",
        {
            "format": {"const": 1},
            "record": record,
            "lineage": _list(_LINK),
            "chain": _list(step),
            "cited_by": _list(_object("id how status", {"id": _TEXT, "how": _TEXT, "status": _STATUS})),
            "paths": _list(_object("path exists", {"path": _TEXT, "exists": _FLAG})),
            "section": _TEXT,
            "body": _TEXT,
            "chars": _COUNT,
            "sections": _list(_object("section chars", {"section": _TEXT, "chars": _COUNT})),
            "note": _TEXT,
            "next_cursor": _TEXT,
            "history": _list(touch),
            "history_complete": _FLAG,
            "twins": _list(_object("path status title", dict.fromkeys(("path", "status", "title"), _TEXT))),
            "revision": _object("commit head stale repository", _REVISION),
        },
    )
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Shown record", **found}


_HINT = _object(
    "hint id title status overlap why",
    {
        "hint": {"enum": ["near_duplicate", "may_contradict", "decided_against", "needs_user_confirmation"]},
        "id": _TEXT,
        "title": _TEXT,
        "status": _STATUS,
        "overlap": _NUMBER,
        "why": _TEXT,
    },
)
_PUSHED: dict[str, Schema] = {"pushed": _FLAG, "command": _TEXT, "push_note": _TEXT}
_BRANCH: dict[str, Schema] = {"branch": _TEXT, "commit": _TEXT, "path": _TEXT, "repository": _TEXT}


def proposed_schema() -> Schema:
    """Return the schema of what propose_record returns."""
    found = _object(
        "format id status branch commit path repository seen_again write_hints warnings",
        {
            "format": {"const": 1},
            "id": _TEXT,
            "status": {"const": "candidate"},
            **_BRANCH,
            "seen_again": _COUNT,
            "write_hints": _list(_HINT),
            "warnings": _TEXTS,
            "dry_run": _FLAG,
            "base": _object("ref commit", {"ref": _TEXT, "commit": _TEXT}),
            **_PUSHED,
        },
    )
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Proposal", **found}


def edited_schema() -> Schema:
    """Return the schema of what revise_record and forget_record return."""
    found = _object(
        "format id branch commit repository",
        {
            "format": {"const": 1},
            "id": _TEXT,
            "code": {"const": "memory/file-backed"},
            "status": _STATUS,
            "state": {"enum": ["amended", "unchanged", "withdrawn"]},
            **_BRANCH,
            "line": {"type": "integer", "minimum": 1},
            "written": _FLAG,
            "edit": _TEXT,
            "message": _TEXT,
            "withdrawn": _FLAG,
            "restore": _TEXT,
            **_PUSHED,
        },
    )
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Edit", **found}


def context_schema() -> Schema:
    """Return the schema of a pack as assemble_context returns it."""
    names = ("id", "title", "date", "why", "path", "text")
    entry = {**dict.fromkeys(names, _TEXT), "kind": {"enum": list(KINDS)}, "status": _STATUS}
    entries = _list(_object("id kind title status", {**entry, "on_base": {"type": "object"}}))
    conflict = _object("ids state reason", {"ids": _TEXTS, "state": {"enum": ["recorded", "hint"]}, "reason": _TEXT})
    receipt = _object("id stored", {"id": _TEXT, "stored": _FLAG, "pages": _TEXTS})
    found = _object(
        "format task paths verdict constraints decisions findings decided_against open_items conflicts left_out more"
        " budget tokens revision receipt",
        {
            "format": {"const": 1},
            "task": _TEXT,
            "paths": _TEXTS,
            "verdict": {"enum": ["match", "weak", "none"]},
            **dict.fromkeys(("degraded", "note"), _TEXT),
            **dict.fromkeys(("constraints", "decisions", "findings", "decided_against", "open_items"), entries),
            "conflicts": _list(conflict),
            "left_out": _list(_object("id section", {"id": _TEXT, "section": _TEXT})),
            **dict.fromkeys(("more", "budget", "tokens"), _COUNT),
            "revision": {"type": "object", "required": ["commit", "stale", "repository"]},
            "receipt": receipt,
        },
    )
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Context pack", **found}
