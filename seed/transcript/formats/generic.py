"""Any other JSONL of ``role`` and ``content`` (or ``message``, as Cursor writes it)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seed.transcript.facts import Block, Facts, Row, mapping, number, ref, text
from seed.transcript.formats.blocks import call, call_id, content, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seed.transcript.spans import JsonPath

NAME = "generic"


def recognises(row: Row) -> bool:
    """Whether the row has a role and something said."""
    return isinstance(row.get("role"), str) and ("content" in row or "message" in row or "text" in row)


def facts(row: Row) -> Facts:
    """Read one row."""
    role = text(row.get("role"))
    return Facts(
        type=text(row.get("type")) or role,
        role=role,
        blocks=tuple(_blocks(row, role)),
        id=ref(row, "id"),
        parent=ref(row, "parentId") or ref(row, "parent_id"),
        timestamp=text(row.get("timestamp")) or text(row.get("created_at")),
        cwd=text(row.get("cwd")),
        session=next((text(row[key]) for key in ("session_id", "sessionId", "conversation_id") if key in row), ""),
        seq=number(row.get("seq")),
        visible=True,
    )


def _blocks(row: Row, role: str) -> Iterator[Block]:
    key = next((key for key in ("content", "message", "text") if row.get(key) is not None), "")
    value: object = row.get(key)
    at: JsonPath = (key,)
    if isinstance(value, dict) and "content" in value:
        value, at = value["content"], (key, "content")
    if role == "tool":
        yield Block("result", shown(value), at, call_id(row, ()))
    else:
        yield from content(value, at)
    calls = row.get("tool_calls")
    for index, one in enumerate(calls if isinstance(calls, list) else []):
        inner = mapping(mapping(one).get("function"))
        asked = call(inner or mapping(one), ("tool_calls", index, *(["function"] if inner else [])))
        joined = call_id(mapping(one), ("tool_calls", index))
        yield Block("call", asked.text, asked.at, joined, asked.name, asked.arguments)
