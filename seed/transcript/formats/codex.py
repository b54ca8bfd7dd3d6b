"""Codex rollouts: rows of ``{timestamp, type, payload}``, addressed by line since most have no id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seed.transcript.facts import Block, Compaction, Facts, Row, mapping, text
from seed.transcript.formats.blocks import call_id, content, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "codex"
_TYPES = {"session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"}
_CALLS = {"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"}
_OUTPUTS = {"function_call_output", "custom_tool_call_output", "tool_search_output"}
_CONTEXT = ("<environment_context>", "<user_instructions>", "<permissions", "<INSTRUCTIONS>", "# AGENTS.md")


def recognises(row: Row) -> bool:
    """Whether only Codex writes such a row."""
    return row.get("type") in _TYPES and isinstance(row.get("payload"), dict)


def facts(row: Row) -> Facts:
    """Read one row; ``event_msg`` rows repeat for the screen what ``response_item`` rows tell the model."""
    kind, payload = text(row.get("type")), mapping(row.get("payload"))
    inner = text(payload.get("type"))
    blocks = tuple(_blocks(kind, inner, payload))
    role = text(payload.get("role")) or _role(inner)
    if role == "user" and blocks and blocks[0].text.lstrip().startswith(_CONTEXT):
        role = "context"
    meta = kind == "session_meta"
    return Facts(
        type=f"{kind}/{inner}" if inner else kind,
        role=role,
        blocks=blocks,
        timestamp=text(row.get("timestamp")),
        cwd=text(payload.get("cwd")) if kind in {"session_meta", "turn_context"} else "",
        session=text(payload.get("id")) if meta else "",
        visible=kind in {"response_item", "compacted"},
        compaction=_compaction(kind, inner, payload),
    )


def _role(inner: str) -> str:
    if inner in _CALLS or inner in {"reasoning", "agent_message", "agent_reasoning"}:
        return "assistant"
    return "tool" if inner in _OUTPUTS else "user" if inner == "user_message" else ""


def _blocks(kind: str, inner: str, payload: Row) -> Iterator[Block]:
    at = ("payload",)
    if kind == "compacted" or inner in {"user_message", "agent_message"}:
        yield from content(payload.get("message"), (*at, "message"))
    elif inner == "agent_reasoning":
        yield from (Block("thinking", part.text, part.at) for part in content(payload.get("text"), (*at, "text")))
    elif inner in _CALLS:
        key = next((key for key in ("arguments", "input", "action") if key in payload), "")
        value, where = payload.get(key), (*at, key) if key else at
        yield Block("call", shown(value), where, call_id(payload, at), text(payload.get("name")) or inner, value)
    elif inner in _OUTPUTS:
        output = payload.get("output")
        failed = mapping(output).get("success") is False or _exit_code(output) != 0
        yield Block("result", shown(output), (*at, "output"), call_id(payload, at), failed=failed)
    elif inner == "reasoning":
        yield from content(payload.get("summary"), (*at, "summary"))
        yield from content(payload.get("content"), (*at, "content"))
    elif inner == "message":
        yield from content(payload.get("content"), (*at, "content"))


def _exit_code(output: object) -> int:
    """Return the exit code a shell's output ends with, 0 where it names none."""
    marker = '"exit_code":'
    if not isinstance(output, str) or marker not in output:
        return 0
    digits = output[output.rfind(marker) + len(marker) :].lstrip()
    code = digits[: len(digits) - len(digits.lstrip("-0123456789"))]
    return int(code) if code.lstrip("-").isdigit() else 0


def _compaction(kind: str, inner: str, payload: Row) -> Compaction | None:
    if kind == "compacted":
        history = payload.get("replacement_history")
        kept = [shown(mapping(item).get("content")) for item in history] if isinstance(history, list) else []
        return Compaction("whole", everything=True, kept_texts=frozenset(filter(None, kept)))
    if kind == "event_msg" and inner == "error" and "compact" in text(payload.get("message")).lower():
        return Compaction("end", error=text(payload.get("message")))
    return None
