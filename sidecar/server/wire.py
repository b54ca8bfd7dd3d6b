r"""What is wrong with a line a client sent: the errors it is answered with, by the request's own id where it has one.

The SDK drops what it cannot read without a word, and the client waits for ever. Here every such line is answered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from mcp.types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    JSONRPCMessage,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

MAX_LINE_BYTES: Final = 4 << 20
"""Twice what a record of the largest size takes with every character escaped as ``\\uXXXX``."""
EDGE_BYTES: Final = 1 << 16
"""How much of either end of a longer line is looked at for its id."""

_BOM = b"\xef\xbb\xbf"
_DIGITS = 4000
_SHOWN = 80
# A message's members are these and `params`, so its id stands before `params` or after it, among plain values.
_MEMBER = r'"(?:jsonrpc|id|method)"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?\d+)'
_FIRST = re.compile(rf"\s*\{{\s*(?:{_MEMBER}\s*,\s*)*(?:{_MEMBER})?")
_LAST = re.compile(rf"(?:,\s*{_MEMBER}\s*)+\}}\s*\Z")
_ID = re.compile(r'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)')
_LONE = re.compile("[\ud800-\udfff]")

Ident = int | str | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error to answer with: the id of the request (None where it cannot be known), the code, what to do."""

    ident: Ident
    code: int
    text: str


def judged(line: bytes) -> tuple[JSONRPCMessage | None, tuple[Refusal, ...]]:
    """Return a line's message, or None with the errors it is answered with: none where no answer is due."""
    line = line.removeprefix(_BOM)
    if not line.strip():
        return None, ()
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return None, _wrong(line)
    # Without a usable id the SDK takes a request for a notification, which is never answered.
    found = _wrong(line) if isinstance(message, JSONRPCNotification) and b'"id"' in line else ()
    return (None if found else message), found


def too_long(head: bytes, tail: bytes) -> Refusal:
    """Return the error for a line over the bound, of which only the two ends were kept."""
    ident = _edge_id(head.removeprefix(_BOM).decode("utf-8", "replace"), tail.decode("utf-8", "replace"))
    return Refusal(ident, INVALID_REQUEST, f"the message has over {MAX_LINE_BYTES >> 20} MiB - send less at once")


def _wrong(line: bytes) -> tuple[Refusal, ...]:
    text = line.decode("utf-8", "replace")
    try:
        return tuple(_refused(line, json.loads(text, parse_int=_whole)))
    except RecursionError:
        return (Refusal(_edge_id(text, text[-EDGE_BYTES:]), INVALID_REQUEST, _DEEP),)
    except ValueError:
        shown = re.sub(r"[^ -~]", "?", text.strip()[:_SHOWN])
        return (Refusal(None, PARSE_ERROR, f"this line is no JSON: {shown} - send one JSON-RPC message a line"),)


def _refused(line: bytes, found: object) -> Iterator[Refusal]:
    if isinstance(found, list):
        idents = [_ident(item) for item in found if isinstance(item, dict) and {"id", "method"} <= item.keys()]
        yield from (Refusal(ident, INVALID_REQUEST, _BATCH) for ident in idents or [None])
    elif not isinstance(found, dict):
        yield Refusal(None, INVALID_REQUEST, "a message is a JSON object - send a JSON-RPC 2.0 request")
    elif "method" in found or not {"result", "error"} & found.keys():  # a response is never answered
        yield from _faults(line, found)


def _faults(line: bytes, found: dict[str, Any]) -> Iterator[Refusal]:
    ident = _ident(found)
    if "id" in found and ident is None:
        yield Refusal(None, INVALID_REQUEST, "id is not a text or a whole number - give the request one")
    elif not _is_utf8(line):
        yield Refusal(ident, PARSE_ERROR, "the message is not UTF-8 - encode it as UTF-8")
    elif found.get("jsonrpc") != "2.0":
        yield Refusal(ident, INVALID_REQUEST, 'jsonrpc is not "2.0" - send a JSON-RPC 2.0 request')
    elif not isinstance(found.get("method"), str):
        yield Refusal(ident, INVALID_REQUEST, "method is not a text - name the method to call")
    elif not isinstance(found.get("params", {}), dict | None):
        yield Refusal(ident, INVALID_PARAMS, "params is not an object - send params by name")
    elif _LONE.search(json.dumps(found, ensure_ascii=False)):
        yield Refusal(ident, INVALID_PARAMS, r"a text holds half a character (a lone \ud800 to \udfff) - send it whole")
    else:
        yield from _unread(ident, line)


def _unread(ident: Ident, line: bytes) -> Iterator[Refusal]:
    """Yield the error for what only the SDK's reader refuses: nesting, and a number of too many digits."""
    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as exc:
        deep = "recursion" in str(exc)
        text = _DEEP if deep else f"a value cannot be read, as a number of over {_DIGITS} digits - send plain values"
        yield Refusal(ident, INVALID_REQUEST if deep else INVALID_PARAMS, text)


_DEEP = "the message is nested too deeply - send at most 100 levels"
_BATCH = "batches are not taken - send each request on a line of its own"


def _whole(digits: str) -> int | None:
    return int(digits) if len(digits) <= _DIGITS else None


def _ident(found: dict[str, Any]) -> Ident:
    ident = found.get("id")
    plain = isinstance(ident, int) and not isinstance(ident, bool)
    return ident if plain or (isinstance(ident, str) and not _LONE.search(ident)) else None


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _edge_id(head: str, tail: str) -> Ident:
    """Return the id among the plain values at either end of a message; None where there is none."""
    ends = (_FIRST.match(head), _LAST.search(tail))
    found = [ident for end in ends if end for ident in _ID.findall(end.group())]
    return _ident({"id": json.loads(found[-1], strict=False, parse_int=_whole)}) if found else None
