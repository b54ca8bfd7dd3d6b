"""Claude Code: one row a content block, joined by uuids; the main file and sub-agents' files alike."""

from __future__ import annotations

from seed.transcript.facts import Compaction, Facts, Row, mapping, number, ref, text
from seed.transcript.formats.blocks import call, content, result

NAME = "claude"
_SEEN = {"user", "assistant", "attachment"}  # what is sent to the model; the rest is the host's own


def recognises(row: Row) -> bool:
    """Whether only Claude Code writes such a row."""
    if "sessionId" in row and row.get("type") in {"queue-operation", "tool_use", "tool_result", "mode"}:
        return True
    if row.get("type") in {"summary", "file-history-snapshot"}:
        return "leafUuid" in row or "messageId" in row
    return "sessionId" in row and "uuid" in row


def facts(row: Row) -> Facts:
    """Read one row."""
    message, kind = mapping(row.get("message")), text(row.get("type"))
    blocks = tuple(content(message.get("content"), ("message", "content")))
    if not blocks and kind == "tool_use":
        blocks = (call(row, ()),)
    elif not blocks and kind == "tool_result":
        blocks = (result(row, ()),)
    elif not blocks and kind in {"summary", "system", "attachment"}:
        key = "summary" if kind == "summary" else "content" if kind == "system" else "attachment"
        blocks = tuple(content(row.get(key), (key,)))
    return Facts(
        type=kind,
        role=text(message.get("role")) or kind,
        blocks=blocks,
        id=ref(row, "uuid"),
        parent=ref(row, "parentUuid") or ref(row, "logicalParentUuid"),
        answers=ref(row, "sourceToolAssistantUUID"),
        message=text(message.get("id")),
        timestamp=text(row.get("timestamp")),
        cwd=text(row.get("cwd")),
        session=text(row.get("sessionId")),
        agent=text(row.get("agentId")),
        visible=kind in _SEEN and not row.get("isVisibleInTranscriptOnly"),
        sidechain=bool(row.get("isSidechain")),
        compaction=_compaction(row),
    )


def _compaction(row: Row) -> Compaction | None:
    if row.get("isCompactSummary"):
        return Compaction("summary", everything=True)
    if row.get("type") != "system" or row.get("subtype") != "compact_boundary":
        return None
    metadata = mapping(row.get("compactMetadata"))
    kept = mapping(metadata.get("preservedSegment"))
    return Compaction(
        "start",
        everything=True,
        kept_from=text(kept.get("headUuid")),
        kept_to=text(kept.get("tailUuid")),
        trigger=text(metadata.get("trigger")),
        tokens=number(metadata.get("preTokens")) or 0,
    )
