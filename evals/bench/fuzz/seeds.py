"""Inputs to begin with: one of each form that the targets read."""

from __future__ import annotations

import json

from evals.bench.fuzz.files import SPLIT

UNSAFE = frozenset(map(chr, (*range(32), 0x7F, *range(0x80, 0xA0), 0x202A, 0x202B, 0x202D, 0x202E, 0x2066, 0x2067)))
POLICY = b"format: 1\nembedder: {model: toy, languages: 'off'}\ncandidates: {push: never, per_session: 1000}\n"
RECORD = b"""\
id: decision-1
kind: decision
title: Orders live in SQLite
status: accepted
date: 2026-01-02
tags: [storage, a/b]
paths: [shop/store.py]
supersedes: [decision-0]
body: |
  ## Decision

  Orders live in `shop/store.py`; see [x](y.md).

  | a | b |
"""
OLD = b"""\
id: decision-0
kind: decision
title: Orders live in Redis
status: accepted
valid_until: 2027-01-01
body: Redis.
"""
FACT = b"""\
id: fact-1
kind: fact
title: 'Retries: three'
status: unverified
trust: agent_generated
source: [{path: a}]
"""
_ODD = rb"""
id: &a x
kind: finding
title: "\u202e\x07"
status: [*a, {b: *a}]
refuted_by: x, y
context: >-
  a
  b
zz: ~
"""
RECORDS = (RECORD, SPLIT.join((RECORD, OLD, FACT, _ODD)), _ODD, b"<<<<<<< a\n", b"- a\n- {b: c}\n")
SETTINGS = (
    POLICY,
    b"weights: {adr: 1.5}\nretrieval: {fusion: cosine}\nfloors:\n- {embedder: x, value: 0.2}\nworkspaces: {a: b}\n",
    "資料庫: [database, db]\norder: 訂單\n".encode(),
    b"- id: q\n  question: Why?\n  expected: [a]\n  above: [[a, b]]\n  statuses: all\n",
    b"format: 1\nlimits: {recall@3: 0.9}\nquestions: {paraphrase: 3}\n",
)
_NYGARD = "# 7. Use SQLite\n\nDate: 2026-01-02\n\n## Status\n\nAccepted\n\nSupersedes [6](0006-redis.md)\n"
_OLDER = "# 6. Redis\n\n## Status\n\nSuperseded by [7](0007-use-sqlite.md)\n\n## Context\n\nWhy.\n"
_MADR = "---\nstatus: superseded by [ADR-0007](0007-a.md)\ndate: 01/02/2026\ndeciders: x\n---\n# A\n\n## Outcome\n\nB\n"
_PEP = "PEP: 8\nTitle: Style\nStatus: Active\nCreated: 05-Jul-2001\nReplaces: 7\n\nAbstract\n========\n\n`a <b>`_\n"
_RFC = "- Feature Name: x\n- Start Date: 2019-03-01\n- RFC PR: [o/r#0042](https://x/42)\n\n# Summary\n\nText.\n"
_KEP = "title: A\nkep-number: 1\nstatus: implementable\ncreation-date: 2020-01-02\n"
IMPORTERS = tuple(
    SPLIT.join(part.encode() for part in parts)
    for parts in (
        ("0007-use-sqlite.md", _NYGARD, "0006-redis.md", _OLDER),
        ("0001-a.md", _MADR),
        ("pep-0008.rst", _PEP),
        ("rfc/0042-x.md", _RFC),
        ("1-a/kep.yaml", _KEP, "1-a/README.md", "# KEP-1\n\nText\n"),
    )
)


def _lines(*rows: object) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _codex(**payload: object) -> dict[str, object]:
    return {"timestamp": "t", "type": "response_item", "payload": payload}


_TEXT = {"type": "text", "text": "b"}
_CALL = {"type": "tool_use", "id": "t", "name": "Edit", "input": {"file_path": "/w/a.py", "new_string": "x"}}
_RESULT = {"type": "tool_result", "tool_use_id": "t", "content": [_TEXT], "is_error": True}
_BASE = {"sessionId": "s", "cwd": "/w", "timestamp": "2026-01-01T00:00:00Z"}
SESSIONS = (
    _lines(
        {**_BASE, "type": "user", "uuid": "1", "message": {"role": "user", "content": "No, we decided to use SQLite"}},
        {**_BASE, "type": "assistant", "uuid": "2", "parentUuid": "1", "message": {"id": "m", "content": [_CALL]}},
        {**_BASE, "type": "user", "uuid": "3", "parentUuid": "2", "message": {"content": [_RESULT]}},
        {**_BASE, "type": "system", "subtype": "compact_boundary", "uuid": "4", "compactMetadata": {"preTokens": 9}},
        {**_BASE, "type": "user", "uuid": "5", "isCompactSummary": True, "message": {"role": "user", "content": "sum"}},
    ),
    _lines(
        {"timestamp": "t", "type": "session_meta", "payload": {"id": "x", "cwd": "/w"}},
        _codex(type="message", role="user", content=[{"type": "input_text", "text": "a"}]),
        _codex(type="function_call", call_id="c", name="shell", arguments='{"command": ["ls"]}'),
        _codex(type="function_call_output", call_id="c", output='{"output":"x"}'),
        {"type": "compacted", "payload": {"message": "m", "replacement_history": []}},
    ),
    _lines({"role": "user", "content": "a \u00e9 \U0001f600"}, {"role": "assistant", "content": [_TEXT]}),
    _lines({"type": "session", "id": "p", "cwd": "/w"}, {"type": "message", "id": "1", "message": {"content": "x"}}),
    _lines({"id": "1", "timestamp": "t", "type": "user", "content": [{"text": "hi"}]}, {"type": "gemini"}),
    b'no json\n\n{"a": ' + b"[" * 40 + b"\n\xff\xfe{}\r\n",
)
DRAWN = (b"", bytes(range(64)), b"\1\0" * 80, bytes(n * 37 % 256 for n in range(400)), b"\0\0\1\0\2\0\3\0" * 30)
_FILTERS = "kind status tag path workspace trust after before cursor since also k detail"
COMMANDS = {
    "recall": _FILTERS,
    "list": _FILTERS,
    "show": "at section cursor",
    "why": "k cursor",
    "graph": "type depth",
    "check": "",
    "context": "path budget workspace",
    "candidates": "",
    "receipts list": "n",
    "receipts show": "",
    "receipts verify": "",
    "transcript list": "",
    "transcript read": "turn match offset max-bytes transcript",
    "transcript address": "k transcript budget plane vector scheme",
    "transcript view": "sample scheme",
    "conflicts list": "",
    "audit": "",
    "import adr --dry-run": "into prefix missing-status",
    "propose --dry-run": "onto agent session work",
    "renumber": "to",
    "withdraw": "",
    "eval": "status gate base",
    "review": "",
}
"""Commands that read, or refuse what they are given here, with their options."""
