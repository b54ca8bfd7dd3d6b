"""YAML read as the text that was typed: no booleans, numbers or dates are guessed, every key knows its line.

libyaml gives the events; the tree is built here with a stack, so deep nesting and alias bombs end in an error
instead of in recursion or memory (decision-0006).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

MAX_BYTES = 1 << 20
MAX_DEPTH = 32
MAX_NODES = 20_000
_CONFLICT = re.compile(r"^(<<<<<<<|>>>>>>>|\|\|\|\|\|\|\|)( |$)", re.MULTILINE)
_LOADER = getattr(yaml, "CLoader", yaml.Loader)


@dataclass(slots=True, eq=False)  # not frozen: Python sets a traceback on what it raises
class YamlFaultError(Exception):
    """Why a YAML text cannot be read: 1-based line, reason, and what to do."""

    line: int
    reason: str
    fix: str


@dataclass(slots=True)
class Document:
    """A parsed mapping: ``data`` with text leaves, ``lines`` the 1-based line of each top-level key."""

    data: dict[str, object]
    lines: dict[str, int]


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a top-level list: its value, its 1-based line, and the lines of its keys where it is a mapping."""

    value: object
    line: int
    lines: dict[str, int]


@dataclass(slots=True)
class _Open:
    """A collection that is still being filled, with the key that waits for its value."""

    value: dict[str, object] | list[object]
    anchor: str | None
    size_before: int
    key: str | None = None


def decode(data: bytes) -> str:
    """Return the text of a file's bytes; raises `YamlFaultError` for oversized files and for anything but UTF-8."""
    if len(data) > MAX_BYTES:
        raise YamlFaultError(
            1,
            f"file has {len(data)} bytes, over the limit of 1 MiB",
            "split the record or link to the long part",
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        line = data.count(b"\n", 0, exc.start) + 1
        raise YamlFaultError(line, f"byte {data[exc.start]:#04x} is not UTF-8", "save the file as UTF-8") from None
    if found := _CONFLICT.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise YamlFaultError(
            line, "a merge conflict marker is left in the file", "resolve the conflict and delete the markers"
        )
    return text


def parse(data: bytes) -> Document:
    """Parse one YAML mapping; every scalar is text. Raises `YamlFaultError` with the line of the first fault."""
    built = _build(data)
    if not isinstance(built.root, dict):
        raise YamlFaultError(1, "the file is not a mapping of keys to values", "write one record as 'key: value' lines")
    return Document(built.root, built.lines)


def parse_list(data: bytes) -> list[Item]:
    """Parse one YAML list, entry by entry; every scalar is text. Raises `YamlFaultError` like `parse`."""
    built = _build(data)
    if built.root is None:
        return []
    if not isinstance(built.root, list):
        raise YamlFaultError(1, "the file is not a list", "write each entry as '- key: value'")
    return built.items


def _build(data: bytes) -> _Builder:
    text = decode(data)
    try:
        return _Builder().build(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        line = mark.line + 1 if mark else 1
        raise YamlFaultError(
            line,
            f"not valid YAML: {exc.problem or exc.context}",
            "correct the syntax; quote text with ': ' or '#'",
        ) from None
    except yaml.YAMLError as exc:
        where = text.count("\n", 0, getattr(exc, "position", 0) or 0) + 1
        reason = str(getattr(exc, "reason", "") or exc).split("\n", 1)[0]
        raise YamlFaultError(where, f"not valid YAML: {reason}", "remove control characters") from None


def _line(event: object) -> int:
    """Return the 1-based line an event starts at."""
    mark = getattr(event, "start_mark", None)
    return mark.line + 1 if mark is not None else 1


class _Builder:
    """Turns the event stream into a tree, counting what aliases expand to."""

    def __init__(self) -> None:
        self.stack: list[_Open] = []
        self.anchors: dict[str, tuple[object, int]] = {}
        self.size = 0
        self.lines: dict[str, int] = {}
        self.entry_lines: dict[str, int] = {}
        self.items: list[Item] = []
        self.root: object = None
        self.documents = 0

    def build(self, events: object) -> _Builder:
        for event in events:  # type: ignore[attr-defined]
            self._event(event)
        return self

    def _event(self, event: object) -> None:
        if isinstance(event, ScalarEvent):
            self._tagged(event)
            self._scalar(event)
        elif isinstance(event, (MappingStartEvent, SequenceStartEvent)):
            self._tagged(event)
            self._open(event)
        elif isinstance(event, (MappingEndEvent, SequenceEndEvent)):
            done = self.stack.pop()
            if done.anchor:
                self.anchors[done.anchor] = (done.value, self.size - done.size_before)
            self._place(done.value, _line(event))
        elif isinstance(event, AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise YamlFaultError(_line(event), "a second document starts here", "keep one record in a file")

    def _tagged(self, event: ScalarEvent | MappingStartEvent | SequenceStartEvent) -> None:
        if event.tag is not None and event.tag != "!":
            raise YamlFaultError(_line(event), f"YAML tag {event.tag!r} is not allowed", "write the plain value")

    def _scalar(self, event: ScalarEvent) -> None:
        line = _line(event)
        top = self.stack[-1] if self.stack else None
        if top is not None and isinstance(top.value, dict) and top.key is None:
            self._key(top, event.value, line)
            return
        self._count(line)
        if event.anchor:
            self.anchors[event.anchor] = (event.value, 1)
        self._place(event.value, line)

    def _key(self, top: _Open, key: str, line: int) -> None:
        if key == "<<":
            raise YamlFaultError(line, "the merge key '<<' is not allowed", "write the keys out")
        if key in top.value:
            raise YamlFaultError(line, f"key {key!r} stands twice", "keep one of the two")
        top.key = key
        if len(self.stack) == 1:
            self.lines[key] = line
        elif len(self.stack) == 2 and isinstance(self.stack[0].value, list):  # noqa: PLR2004 - an entry of the top list
            self.entry_lines[key] = line

    def _open(self, event: MappingStartEvent | SequenceStartEvent) -> None:
        line = _line(event)
        if len(self.stack) >= MAX_DEPTH:
            raise YamlFaultError(line, f"nested deeper than {MAX_DEPTH} levels", "flatten the structure")
        top = self.stack[-1] if self.stack else None
        if top is not None and isinstance(top.value, dict) and top.key is None:
            raise YamlFaultError(line, "a key is not plain text", "quote it, or write text before the colon")
        self._count(line)
        value: dict[str, object] | list[object] = {} if isinstance(event, MappingStartEvent) else []
        self.stack.append(_Open(value, event.anchor, self.size - 1))

    def _alias(self, event: AliasEvent) -> None:
        line = _line(event)
        if event.anchor not in self.anchors:
            raise YamlFaultError(line, f"alias *{event.anchor} has no complete anchor", "write the value out")
        top = self.stack[-1] if self.stack else None
        if top is not None and isinstance(top.value, dict) and top.key is None:
            raise YamlFaultError(line, "an alias is used as a key", "write the key out")
        value, size = self.anchors[event.anchor]
        self._count(line, size)
        self._place(value, line)

    def _count(self, line: int, nodes: int = 1) -> None:
        self.size += nodes
        if self.size > MAX_NODES:
            raise YamlFaultError(
                line, f"expands to more than {MAX_NODES} values", "remove the aliases or split the file"
            )

    def _place(self, value: object, line: int) -> None:
        if not self.stack:
            self.root = value
            return
        top = self.stack[-1]
        if isinstance(top.value, list):
            top.value.append(value)
            if len(self.stack) == 1:
                self.items.append(Item(value, min(self.entry_lines.values(), default=line), self.entry_lines))
                self.entry_lines = {}
            return
        if top.key is None:
            raise YamlFaultError(line, "a key is not plain text", "write text before the colon")
        top.value[top.key] = value
        top.key = None
