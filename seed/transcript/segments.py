"""Segments: an index into a turn, never a stored fragment. Each scheme cuts every turn without a gap.

A scheme says where to cut; what lies between two cuts is a segment, so every byte is in exactly one.
No cut is inside a character or an escape.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from seed.errors import SidecarError
from seed.transcript.changes import changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from seed.transcript.said import Said

SMALL = 200
LARGE = 1800
SIZED = 900
# Metadata around a text this long is a segment of its own; less is not worth a cut.
FRAME = 64

_NEWLINE = rb"\\++n"
_PARAGRAPH = re.compile(
    rb"(?:" + _NEWLINE + rb"[ \t]*){2,}"  # a blank line
    rb"|" + _NEWLINE + rb"(?=#{1,6} |```|~~~|[-*] |\d+[.)] |diff --git |@@ |(?:class|def|func|function|export) )"
)
_LINE = re.compile(_NEWLINE)
_WORD = re.compile(rb"(?<=[\s,;.!?])(?=[^\s])|(?<=[\x80-\xbf])(?=[\xc0-\xff])")
_ESCAPE = re.compile(rb"\\++(?:u[0-9a-fA-F]{4}|.)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Segment:
    """Bytes ``start`` to ``end`` of the turn ``turn``."""

    turn: int
    start: int
    end: int


def whole_turn(raw: bytes, parts: list[Said]) -> Iterator[int]:
    """Cut nowhere."""
    del raw, parts
    yield from ()


def structural(raw: bytes, parts: list[Said]) -> Iterator[int]:
    """Cut at what the text itself sets apart: fields, paragraphs, headings, lists, fences and definitions."""
    yield from _frame(raw, parts)
    for part in parts:
        places = [match.end() for match in _PARAGRAPH.finditer(raw, part.start, part.end)]
        yield from _sized(raw, part, _spaced(places, part, SMALL), LARGE)


def sized(raw: bytes, parts: list[Said]) -> Iterator[int]:
    """Cut each text about every `SIZED` bytes, between lines or words."""
    yield from _frame(raw, parts)
    for part in parts:
        yield from _sized(raw, part, [], SIZED)


def changepoint(raw: bytes, parts: list[Said]) -> Iterator[int]:
    """Cut each text where its vocabulary changes."""
    yield from _frame(raw, parts)
    for part in parts:
        places = changes(raw, part.start, part.end)
        yield from _sized(raw, part, _spaced(places, part, SMALL), LARGE)


SCHEMES: dict[str, Callable[[bytes, list[Said]], Iterator[int]]] = {
    "whole-turn": whole_turn,
    "structural": structural,
    "sized-900": sized,
    "changepoint": changepoint,
}
DEFAULT: Final = "structural"
"""Finds as much as whole turns with the shipped embedder, in segments half as long (evals.bench.segments)."""
VERSION = 1  # of every scheme: another one is another index family


def segments(turn: int, raw: bytes, parts: list[Said], scheme: str) -> list[Segment]:
    """Return the segments of a turn by a scheme. Raises SidecarError for a scheme that does not exist."""
    if scheme not in SCHEMES:
        raise SidecarError(f"there is no scheme {scheme}", f"choose one of {', '.join(SCHEMES)}")
    inside = {cut for cut in SCHEMES[scheme](raw, parts) if 0 < cut < len(raw)}
    return [Segment(turn, start, end) for start, end in pairwise(sorted({0, *inside, len(raw)}))]


def check(found: Iterable[Segment], lengths: Iterable[int]) -> None:
    """Prove that every byte of every turn, given by length in order, is in exactly one segment.

    Raises SidecarError naming the first turn where it is not.
    """
    left = iter(found)
    one = next(left, None)
    for turn, length in enumerate(lengths):
        position = 0
        while one is not None and one.turn == turn and one.start == position and one.end > position:
            position, one = one.end, next(left, None)
        if position != length:
            raise SidecarError(f"turn {turn}: segments cover {position} of {length} bytes", "report this as a fault")
    if one is not None:
        raise SidecarError(f"a segment lies outside every turn: {one}", "report this as a fault")


def _frame(raw: bytes, parts: list[Said]) -> Iterator[int]:
    """Cut where text begins and ends, if there is enough metadata around it or text before it."""
    position = last = 0
    for part in parts:
        if part.start - position >= FRAME:
            yield position
            last = part.start
        elif part.start - last >= SMALL:
            last = part.start
        yield last
        position = part.end
    if len(raw) - position >= FRAME:
        yield position


def _spaced(places: Iterable[int], part: Said, least: int) -> list[int]:
    """Return those of ``places`` that leave at least ``least`` bytes on both sides."""
    kept, last = [], part.start
    for place in places:
        if place - last >= least and part.end - place >= least:
            kept.append(place)
            last = place
    return kept


def _sized(raw: bytes, part: Said, places: list[int], most: int) -> Iterator[int]:
    """Yield ``places``, and more where what lies between two of them is longer than ``most`` bytes."""
    yield from places
    for start, end in pairwise([part.start, *places, part.end]):
        place = start
        while end - place > most:
            place = _border(raw, place + most // 2, place + most)
            yield place


def _border(raw: bytes, low: int, high: int) -> int:
    """Return the last good place to cut in ``low``..``high``: after a line, else a word, else a character."""
    for pattern in (_LINE, _WORD):
        found = [match.end() for match in pattern.finditer(raw, low, high) if match.end() <= high]
        if found:
            return found[-1]
    place = high
    for match in _ESCAPE.finditer(raw, max(0, low), min(len(raw), high + 8)):
        if match.start() < place < match.end():
            place = match.start()
    while place > low and 0x80 <= raw[place] < 0xC0:  # noqa: PLR2004  # inside a character of UTF-8
        place -= 1
    return place if place > low else high
