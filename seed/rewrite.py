"""Change single values of a record file and keep every other byte: comments, order, quotes, line ends. Pure."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import yaml
from yaml.events import (
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from seed.yamltext import decode, parse

Edit = Callable[[str, str], str]
_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_LOADER = getattr(yaml, "CLoader", yaml.Loader)


@dataclass(frozen=True, slots=True)
class Scalar:
    """One text of a file: the top-level key it belongs to, its value, and its character offsets, quotes included."""

    key: str
    value: str
    start: int
    end: int


def scalar(text: str) -> str:
    """Return a text as a YAML value on one line, quoted where YAML would read it as something else."""
    plain = text.encode("utf-8", "replace").decode()
    style = '"' if _BREAKS.search(plain) else None  # only double quotes can escape them
    dumped: str = yaml.safe_dump(plain, allow_unicode=True, width=float("inf"), default_style=style)
    return dumped.removesuffix("\n").removesuffix("\n...")


def scalars(text: str) -> Iterator[Scalar]:
    """Yield the values that stand directly under a top-level key or in a list there, in order of appearance."""
    depth, key = 0, ""
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, (MappingStartEvent, SequenceStartEvent)):
            depth += 1
        elif isinstance(event, (MappingEndEvent, SequenceEndEvent)):
            depth -= 1
            key = "" if depth == 1 else key
        elif isinstance(event, ScalarEvent):
            if depth == 1 and not key:
                key = event.value
                continue
            start, end = event.start_mark, event.end_mark
            if start is not None and end is not None:  # libyaml always knows both; the annotations do not say so
                yield Scalar(key, event.value, start.index, end.index)
            key = "" if depth == 1 else key
        elif isinstance(event, yaml.AliasEvent):
            key = "" if depth == 1 else key


def edited(data: bytes, edit: Edit) -> bytes:
    """Return a file with each value replaced by what ``edit(key, value)`` returns for it.

    Raises `YamlFaultError` for a file that cannot be read. A value with an anchor, a fold or an escape is left alone:
    the caller reads the result again and sees what was not changed.
    """
    parse(data)
    text = decode(data)
    pieces, at = [], 0
    for found in scalars(text):
        new = edit(found.key, found.value)
        written = text[found.start : found.end]
        quote = written[:1] if written[:1] in ("'", '"') else ""
        if new != found.value and written == f"{quote}{found.value}{quote}":
            pieces += [text[at : found.start], f"{quote}{new}{quote}"]
            at = found.end
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    return mark + "".join([*pieces, text[at:]]).encode()
