"""Pi: a session row, then rows with ``id`` and ``parentId``; a compaction names the first row it keeps."""

from __future__ import annotations

from seed.transcript.facts import Block, Compaction, Facts, Row, mapping, number, ref, text
from seed.transcript.formats.blocks import call_id, content, shown

NAME = "pi"
_TYPES = {
    "message",
    "compaction",
    "model_change",
    "thinking_level_change",
    "branch_summary",
    "custom_message",
}


def recognises(row: Row) -> bool:
    """Whether only Pi writes such a row."""
    if row.get("type") == "session":
        return "cwd" in row and "version" in row and "data" not in row and "seq" not in row
    return row.get("type") in _TYPES and "parentId" in row and "id" in row


def facts(row: Row) -> Facts:
    """Read one row."""
    kind, message = text(row.get("type")), mapping(row.get("message"))
    role = text(message.get("role"))
    blocks = tuple(content(message.get("content"), ("message", "content")))
    if role in {"toolResult", "bashExecution"}:
        key = "content" if "content" in message else "output"
        failed = bool(message.get("isError"))
        said = shown(message.get(key))
        blocks = (Block("result", said, ("message", key), call_id(message, ("message",)), failed=failed),)
    elif not message:
        key = "content" if kind == "custom_message" else "summary"
        blocks = tuple(content(row.get(key), (key,)))
    return Facts(
        type=kind,
        role="tool" if role == "toolResult" else role or kind,
        blocks=blocks,
        id=ref(row, "id"),
        parent=ref(row, "parentId"),
        timestamp=text(row.get("timestamp")),
        cwd=text(row.get("cwd")),
        session=text(row.get("id")) if kind == "session" else "",
        visible=kind in {"message", "compaction", "branch_summary", "custom_message"},
        compaction=_compaction(row) if kind == "compaction" else None,
    )


def _compaction(row: Row) -> Compaction:
    kept, tokens = text(row.get("firstKeptEntryId")), number(row.get("tokensBefore")) or 0
    return Compaction("whole", everything=True, kept_from=kept, tokens=tokens)
