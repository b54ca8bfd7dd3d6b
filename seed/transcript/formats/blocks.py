"""Content lists: the hosts disagree on names, not on the idea, so one reader serves them all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from seed.transcript.facts import Block, Ref, Row, mapping, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seed.transcript.spans import JsonPath

_TEXT = {"text": "text", "input_text": "text", "output_text": "text", "summary_text": "thinking",
         "thinking": "thinking", "reasoning": "thinking", "refusal": "text"}  # fmt: skip
_CALLS = {"tool_use", "tool-use", "tool-call", "tool_call", "toolCall", "function_call", "server_tool_use"}
_RESULTS = {"tool_result", "tool-result", "toolResult", "function_call_output", "web_search_tool_result"}
_CALL_IDS = ("tool_use_id", "call_id", "callId", "toolCallId", "tool_call_id", "toolUseId", "id")
_ARGUMENTS = ("input", "arguments", "args", "parameters")
_CONTENTS = ("content", "output", "result", "text")


def shown(value: object) -> str:
    """Return a value as text with no layer of escaping added: strings as they are, lists part by part."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(part for part in map(_part, value) if part)
    return "" if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def output(said: str) -> str:
    """Return what a tool printed, also where the host wraps that in JSON with the exit code beside it."""
    if said.startswith("{") and '"output"' in said:
        try:
            return text(mapping(json.loads(said)).get("output")) or said
        except (ValueError, RecursionError):
            return said
    return said


def _part(value: object) -> str:
    inner = mapping(value)
    if isinstance(inner.get("text"), str):
        return text(inner["text"])
    return shown(value)


def call_id(block: Row, at: JsonPath) -> Ref:
    """Return the id that joins a call and its result, under whichever name the host gives it."""
    for key in _CALL_IDS:
        if isinstance(block.get(key), str):
            return Ref(block[key], (*at, key))
    return Ref()


def call(block: Row, at: JsonPath) -> Block:
    """Read a tool call; arguments that are a string stay that string, since that is what was sent."""
    key = next((key for key in _ARGUMENTS if key in block), "")
    value = block.get(key)
    name = text(block.get("name")) or text(block.get("toolName")) or text(block.get("tool_name"))
    return Block("call", shown(value), (*at, key) if key else at, call_id(block, at), name, value)


def result(block: Row, at: JsonPath) -> Block:
    """Read the result of a tool call."""
    key = next((key for key in _CONTENTS if key in block), "")
    failed = bool(block.get("is_error") or block.get("isError") or block.get("error"))
    failed = failed or block.get("success") is False
    where = (*at, key) if key else at
    return Block("result", shown(block.get(key)), where, call_id(block, at), failed=failed)


def content(value: object, at: JsonPath) -> Iterator[Block]:
    """Yield the blocks of a message's content: a string, one block, or a list of them."""
    if isinstance(value, str):
        if value:
            yield Block("text", value, at)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from content(part, (*at, index))
    elif isinstance(value, dict):
        yield _block(value, at)


def _block(block: Row, at: JsonPath) -> Block:
    kind = text(block.get("type"))
    if kind in _CALLS:
        return call(block, at)
    if kind in _RESULTS:
        return result(block, at)
    if kind in _TEXT or not kind:
        for key in (kind, "text", "thinking", "content"):
            if isinstance(block.get(key), str):
                return Block(_TEXT.get(kind, "text"), block[key], (*at, key))
    return Block("image" if "image" in kind else "other", shown(block), at)
