"""JSON as editors write it (comments, a last comma), read with places, so that one entry can be put in or cut out.

Everything else in the text stays as it is, byte for byte. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SAME_LINE = re.compile(r"(?:[ \t]+|/\*[^\n]*?\*/)*(?://[^\r\n]*)?")
_ATOM = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")

Insertion = tuple[int, str]
"""(offset, text): the text stands at that offset once it and all insertions before it are made."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands, ``text[start:end]``; ``members`` are an object's, in order."""

    start: int
    end: int
    value: Any
    members: tuple[tuple[str, int, Node], ...] = ()

    def member(self, name: str) -> tuple[str, int, Node] | None:
        """Return (name, where its key starts, value) of a member, or None."""
        return next((one for one in self.members if one[0] == name), None)


def parse(text: str) -> Node:
    """Return the value of a text; an empty one is an empty object. Raises `ValueError` that names the line."""
    at = _skip(text, 0)
    if at == len(text):
        return Node(at, at, {})
    try:
        node = _value(text, at)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if (rest := _skip(text, node.end)) != len(text):
        raise _fault(text, rest, "nothing may follow the value")
    return node


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _fault(text: str, at: int, reason: str) -> ValueError:
    return ValueError(f"line {text.count(chr(10), 0, at) + 1}: {reason}")


def _value(text: str, at: int) -> Node:
    opened = text[at : at + 1]
    if opened == "{":
        return _object(text, at)
    if opened == "[":
        return _array(text, at)
    if opened == '"':
        value, end = _string(text, at)
        return Node(at, end, value)
    if found := _ATOM.match(text, at):
        return Node(at, found.end(), json.loads(found.group()))
    raise _fault(text, at, f"a value was expected, not {opened!r}" if opened else "it ends too early")


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        value, end = scanstring(text, at + 1)
    except ValueError as exc:
        raise _fault(text, at, str(exc).split(":", 1)[0]) from None
    return str(value), int(end)


def _object(text: str, start: int) -> Node:
    members: list[tuple[str, int, Node]] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}":
        if text[at : at + 1] != '"':
            raise _fault(text, at, 'a name in "quotes" was expected' if at < len(text) else "it ends too early")
        name, end = _string(text, at)
        if any(name == one for one, _, _ in members):
            raise _fault(text, at, f"{name!r} is there twice")
        colon = _skip(text, end)
        if text[colon : colon + 1] != ":":
            raise _fault(text, colon, f"a colon was expected after {name!r}")
        node = _value(text, _skip(text, colon + 1))
        members.append((name, at, node))
        at = _after(text, node.end, "}")
    return Node(start, at + 1, {name: node.value for name, _, node in members}, tuple(members))


def _array(text: str, start: int) -> Node:
    items: list[Any] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != "]":
        node = _value(text, at)
        items.append(node.value)
        at = _after(text, node.end, "]")
    return Node(start, at + 1, items)


def _after(text: str, end: int, closing: str) -> int:
    """Return where the next entry, or the closing bracket, stands."""
    at = _skip(text, end)
    if text[at : at + 1] == ",":
        return _skip(text, at + 1)
    if text[at : at + 1] != closing:
        raise _fault(text, at, f"a comma or {closing!r} was expected" if at < len(text) else "it ends too early")
    return at


def insert(text: str, path: Sequence[str], value: object) -> list[Insertion]:
    """Return the insertions that put a value at a path of names, which is not there yet.

    Raises `ValueError` where the text is no JSON object, or something else than an object stands on the way.
    """
    node, depth = parse(text), 0
    while (found := node.member(path[depth])) is not None:
        node, depth = found[2], depth + 1
        if depth == len(path):
            raise ValueError(f"{'.'.join(path)} is there already")
    if not isinstance(node.value, dict):
        raise _fault(text, node.start, f"{'.'.join(path[:depth]) or 'the whole'} is no object")
    for name in reversed(path[depth + 1 :]):
        value = {name: value}
    line = "\r\n" if "\r\n" in text else "\n"
    if node.start == node.end:  # an empty file
        gap = line if text.strip(" \t\r\n\ufeff") and not text.endswith("\n") else ""  # a comment without a line end
        return [(node.end, gap + _told({path[depth]: value}, "", "  ", line) + line)]
    return _into(text, node, f"{json.dumps(path[depth])}: ", value, line)


def _into(text: str, node: Node, key: str, value: object, line: str) -> list[Insertion]:
    """Return the insertions that make a member the last one of an object, in the object's own layout."""
    inside = text[node.start : node.end]
    outer = _indent(text, node.start)
    last = node.members[-1][2].end if node.members else node.start + 1
    if node.members and "\n" not in inside:
        comma = _skip(text, last)
        trailing = text[comma] == ","
        at = comma + 1 if trailing else last
        return [(at, f"{'' if trailing else ','} {key}{json.dumps(value, ensure_ascii=False)}")]
    own = _indent(text, node.members[0][1]) if node.members else f"{outer}{_unit(text)}"
    unit = own[len(outer) :] if own.startswith(outer) and len(own) > len(outer) else _unit(text)
    new = f"{line}{own}{key}{_told(value, own, unit, line)}"
    if not node.members:
        closing = f"{line}{outer}" if "\n" not in inside else ""
        return [(_end(text, last, node.end), new + closing)]
    comma = _skip(text, last)
    if text[comma] == ",":
        return [(_end(text, comma + 1, node.end), f"{new},")]
    return [(last, ","), (_end(text, last, node.end) + 1, new)]


def _told(value: object, outer: str, unit: str, line: str) -> str:
    """Return a value as JSON: an object over several lines, anything else on one."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = f"{line}{outer}{unit}"
    parts = [f"{json.dumps(key)}: {_told(one, outer + unit, unit, line)}" for key, one in value.items()]
    return f"{{{inner}{f',{inner}'.join(parts)}{line}{outer}}}"


def _end(text: str, at: int, end: int) -> int:
    """Return where the last comment before the closing bracket ends, at ``at`` or later."""
    stripped = text[at : end - 1].rstrip()
    return at + len(stripped)


def _indent(text: str, at: int) -> str:
    begin = text.rfind("\n", 0, at) + 1
    return text[begin : begin + len(text[begin:at]) - len(text[begin:at].lstrip(" \t"))]


def _unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found.group(1) if found else "  "


def cut(text: str, path: Sequence[str]) -> str:
    """Return the text without the member at a path of names; unchanged where there is none. Raises `ValueError`."""
    node = parse(text)
    holder, found = node, node.member(path[0])
    for name in path[1:]:
        if found is None:
            break
        holder, found = found[2], found[2].member(name)
    if found is None:
        return text
    names = [name for name, _, _ in holder.members]
    place = names.index(found[0])
    start, end = found[1], found[2].end
    comma = _skip(text, end)
    if text[comma] == ",":
        end = comma + 1
    elif place:  # the last one: the comma before it goes too
        return _cut_last(text, holder.members[place - 1][2].end, start, end)
    rest = _SAME_LINE.match(text, end)
    begin = text.rfind("\n", 0, start) + 1
    alone = rest and not rest.group().strip() and text[rest.end() : rest.end() + 1] in {"\r", "\n"}
    if rest and alone and not text[begin:start].strip():
        return text[:begin].removesuffix("\n").removesuffix("\r") + text[rest.end() :]
    return text[:start] + text[end:].lstrip(" ")


def _cut_last(text: str, before: int, start: int, end: int) -> str:
    comma = _skip(text, before)
    kept = text[comma + 1 : start]
    ends = text[end:].lstrip(" \t").startswith(("\r", "\n"))  # else the line end before is what closes a comment
    return text[:comma] + (kept.rstrip() if ends or "//" not in kept else kept.rstrip(" \t")) + text[end:]


def applied(text: str, insertions: Sequence[Insertion]) -> str:
    """Return the text with insertions made, the first one first."""
    for at, new in insertions:
        text = text[:at] + new + text[at:]
    return text


def taken_back(text: str, insertions: Sequence[Insertion]) -> str | None:
    """Return the text without insertions, or None where one of them does not stand in its place any more."""
    for at, new in reversed(insertions):
        if text[at : at + len(new)] != new:
            return None
        text = text[:at] + text[at + len(new) :]
    return text
