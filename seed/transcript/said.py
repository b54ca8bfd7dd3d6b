"""What is said in a line: the byte ranges of its text, without the metadata around it, and that as text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seed.transcript import spans
from seed.transcript.facts import parse_row
from seed.transcript.formats import facts_of

if TYPE_CHECKING:
    from seed.transcript.facts import Block, Facts

Range = tuple[int, int]

_ESCAPE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|([nrt\"/]))")
_PLAIN = {"n": "\n", "r": "", "t": "\t"}


@dataclass(frozen=True, slots=True)
class Said:
    """A range of the line that is text, and what it belongs to: its role, or the tool that is called."""

    start: int
    end: int
    title: str


def said(raw: bytes, form: str) -> list[Said]:
    """Return what is said in a line, in order; of a line that cannot be read, all of it."""
    row = parse_row(raw)
    if row is None:
        return [Said(0, len(raw), "")] if raw.strip(b"\0\r ") else []
    facts = facts_of(form, row)
    titles = {block.at: _title(facts, block) for block in facts.blocks if block.kind != "image"}
    depths = {len(at) for at in titles}
    found = []
    for value in spans.walk(raw) if titles else ():
        if value.text and value.end > value.start:
            above = next((value.path[:depth] for depth in depths if value.path[:depth] in titles), None)
            if above is not None:
                found.append(Said(value.start, value.end, titles[above]))
    return found


def _title(facts: Facts, block: Block) -> str:
    if block.kind == "call":
        return f"call {block.name}".strip()
    return block.kind if block.kind in {"result", "thinking"} else facts.role


def plain(raw: bytes) -> str:
    """Return a piece of a line as a reader sees it: escapes resolved, of a string inside a string too."""
    return (
        _ESCAPE.sub(_resolved, raw.decode("utf-8", "replace"))
        .encode("utf-16", "surrogatepass")
        .decode("utf-16", "replace")
    )


def _resolved(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return _PLAIN.get(match[2], match[2])


def spoken(raw: bytes, parts: list[Said], start: int, end: int) -> tuple[str, str]:
    """Return (title, text) of what is said in bytes ``start`` to ``end`` of a line; "" where only metadata stands."""
    found, title = [], ""
    for part in parts:
        low, high = max(start, part.start), min(end, part.end)
        if low < high:
            title = title or part.title
            found.append(plain(raw[low:high]).strip())
    return title, "\n".join(filter(None, found))


def titled(title: str, text: str) -> str:
    """Return a text with its title before it."""
    return f"{title}: {text}" if title and text else text


def view(raw: bytes, parts: list[Said], start: int, end: int) -> str:
    """Return the text to embed for bytes ``start`` to ``end`` of a line: what is said there, with its title.

    Empty where only metadata stands: such a segment exists, so that no byte is lost, but says nothing.
    """
    return titled(*spoken(raw, parts, start, end))
