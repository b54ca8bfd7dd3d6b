"""Where the values of a JSON line stand in its bytes: what an edge or a segment rests on, exactly."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

JsonPath = tuple[str | int, ...]

# Possessive quantifiers: a string of megabytes is one step and needs no backtracking memory; one that
# is never closed is a token too, or each quote in it would be tried again.
# Colons are left out like blanks: a key is the string that stands where an object expects one.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+|[{}\[\],]|[^\s"{}\[\],:]++', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Value:
    """A value: its path in the row, and its bytes; a string's range is what is between the quotes."""

    path: JsonPath
    start: int
    end: int
    text: bool
    leaf: bool


def walk(raw: bytes) -> Iterator[Value]:
    """Yield every value of a JSON text, containers after what they hold; stops at the first oddity."""
    open_at: list[tuple[int, bool]] = []  # where each open container began, and whether it is an object
    path: list[str | int] = []
    keyed = False  # whether the object's next value has its key already
    for match in _TOKEN.finditer(raw):
        token, start, end = match[0], match.start(), match.end()
        first = token[:1]
        if first in b"{[":
            open_at.append((start, first == b"{"))
            path.append(0)
            keyed = False
            continue
        if first == b'"' and not keyed and open_at and open_at[-1][1]:
            path[-1], keyed = _decode(token), True
            continue
        if first in b"}]":
            if not open_at:
                return
            path.pop()
            yield Value(tuple(path), open_at.pop()[0], end, text=False, leaf=False)
        elif first == b",":
            last = path[-1] if path else None
            if isinstance(last, int):
                path[-1] = last + 1
        else:
            quote = first == b'"' and len(token) > 1
            yield Value(tuple(path), start + quote, end - quote, text=quote, leaf=True)
        keyed = False


def _decode(token: bytes) -> str:
    if b"\\" not in token:
        return token[1:-1].decode("utf-8", "surrogateescape")
    try:
        return str(json.loads(token))
    except ValueError:
        return token[1:-1].decode("utf-8", "surrogateescape")


def locate(raw: bytes, paths: set[JsonPath]) -> dict[JsonPath, tuple[int, int]]:
    """Return the byte range of each of ``paths`` that the line has; of a key given twice, the last."""
    return {value.path: (value.start, value.end) for value in walk(raw) if value.path in paths}
