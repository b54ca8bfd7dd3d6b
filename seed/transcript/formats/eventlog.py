"""Event logs: rows with the host's own number, ``seq``, and a ``type`` like ``user/message``.

A row's facts stand in the row or under ``data`` (a message again under ``message``). A compaction is
``compaction/start``, ``summary`` and ``end``; any of these may name the numbers that it hides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seed.transcript.facts import Compaction, Facts, Row, mapping, number, ref, text
from seed.transcript.formats.blocks import call, content, result, shown
from seed.transcript.formats.hidden import ends, hidden

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seed.transcript.facts import Block
    from seed.transcript.spans import JsonPath

NAME = "eventlog"
_FAILED = {"failed", "error", "cancelled", "aborted"}


def recognises(row: Row) -> bool:
    """Whether the row is numbered and typed the way event logs are."""
    return number(row.get("seq")) is not None and isinstance(row.get("type"), str)


def facts(row: Row) -> Facts:
    """Read one row."""
    kind, at = text(row.get("type")), ("data",) if isinstance(row.get("data"), dict) else ()
    body = mapping(row["data"]) if at else row
    if isinstance(body.get("message"), dict):
        body, at = mapping(body["message"]), (*at, "message")
    family, _, phase = kind.partition("/")
    operation = mapping(row.get("surfaceOp"))
    session = text(row.get("sessionId")) or text(row.get("session_id"))
    return Facts(
        type=kind,
        role=text(body.get("role")) or family,
        blocks=tuple(_blocks(family, phase, body, at)),
        id=ref(row, "id"),
        parent=ref(row, "parentId") or ref(row, "parent_id"),
        message=text(body.get("id")) if family == "assistant" else "",
        timestamp=next((str(row[key]) for key in ("timestamp", "time", "ts") if key in row), ""),
        cwd=text(row.get("cwd")) or text(body.get("cwd")),
        session=session or text(body.get("sessionId")) or (text(body.get("id")) if family == "session" else ""),
        agent=text(row.get("agentId")),
        seq=number(row.get("seq")),
        visible=True if "surfaceOp" in row else None,
        compaction=_compaction(phase, row, body) if family == "compaction" else _replacement(operation),
    )


def _blocks(family: str, phase: str, body: Row, at: JsonPath) -> Iterator[Block]:
    if family == "tool" and phase == "call":
        yield call(body, at)
    elif family == "tool" and phase == "result":
        yield result(body, at)
    else:
        for key in ("content", "text", "summary", "message"):
            yield from content(body.get(key), (*at, key))
        calls = body.get("toolCalls") or body.get("tool_calls")
        key = "toolCalls" if body.get("toolCalls") else "tool_calls"
        for index, one in enumerate(calls if isinstance(calls, list) else []):
            yield call(mapping(one), (*at, key, index))


def _compaction(phase: str, row: Row, body: Row) -> Compaction:
    (seqs, interval), (more, between) = hidden(row), hidden(body)
    status = text(body.get("status"))
    error = row.get("error") or body.get("error") or (status if status in _FAILED else "")
    if not error and (body.get("ok") is False or body.get("success") is False):
        error = "not successful"
    return Compaction(
        {"start": "start", "summary": "summary", "end": "end", "prune": "replace"}.get(phase, "whole"),
        id=text(body.get("compactionId")) or text(body.get("compaction_id")),
        seqs=tuple(sorted({*seqs, *more})),
        interval=between or interval,
        error=shown(error) if error else "",
        trigger=text(body.get("trigger")) or text(body.get("reason")),
        tokens=number(body.get("shadowedTokenCount")) or number(body.get("tokensBefore")) or 0,
    )


def _replacement(operation: Row) -> Compaction | None:
    """Read a row that takes the place of others on the surface (a rewind, a pruned result, a checkpoint)."""
    between = ends(operation)
    return Compaction("replace", interval=between) if between and operation.get("op") == "replace" else None
