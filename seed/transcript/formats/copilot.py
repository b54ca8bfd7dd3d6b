"""Copilot's events: ``{type, data, id, timestamp, parentId}``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seed.transcript.facts import Block, Compaction, Facts, Row, mapping, number, ref, text
from seed.transcript.formats.blocks import call, call_id, content, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "copilot"
_SEEN = {"system.message", "user.message", "assistant.message", "tool.execution_complete"}


def recognises(row: Row) -> bool:
    """Whether only Copilot writes such a row."""
    return isinstance(row.get("data"), dict) and "parentId" in row and "." in text(row.get("type"))


def facts(row: Row) -> Facts:
    """Read one row; a call is told twice, by the message that asks for it and by the event that starts it."""
    kind, data = text(row.get("type")), mapping(row.get("data"))
    where = mapping(data.get("context"))
    return Facts(
        type=kind,
        role="tool" if kind.startswith("tool.") else kind.partition(".")[0],
        blocks=tuple(_blocks(kind, data)),
        id=ref(row, "id"),
        parent=ref(row, "parentId"),
        message=text(data.get("messageId")),
        timestamp=text(row.get("timestamp")),
        cwd=text(where.get("cwd")),
        session=text(data.get("sessionId")) if kind == "session.start" else "",
        visible=kind in _SEEN,
        compaction=_compaction(kind, data),
    )


def _blocks(kind: str, data: Row) -> Iterator[Block]:
    at = ("data",)
    if kind == "tool.execution_start":
        yield call(data, at)
    elif kind == "tool.execution_complete":
        outcome = data.get("result") if data.get("result") is not None else data.get("error")
        key = "result" if data.get("result") is not None else "error"
        inner = mapping(outcome).get("content")
        said, where = (inner, (*at, key, "content")) if isinstance(inner, str) else (outcome, (*at, key))
        failed = data.get("success") is False
        yield Block("result", shown(said), where, call_id(data, at), failed=failed)
    elif kind.endswith(".message"):
        yield from content(data.get("content"), (*at, "content"))
        requests = data.get("toolRequests")
        for index, request in enumerate(requests if isinstance(requests, list) else []):
            yield call(mapping(request), (*at, "toolRequests", index))


def _compaction(kind: str, data: Row) -> Compaction | None:
    if kind == "session.compaction_start":
        return Compaction("start")
    if kind != "session.compaction_complete":
        return None
    error = "" if data.get("success") is not False else shown(data.get("error")) or "not successful"
    return Compaction("whole", everything=True, error=error, tokens=number(data.get("preCompactionTokens")) or 0)
