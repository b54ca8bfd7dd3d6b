"""Reading turns back: whole or around a match, bounded, continued, and with no escaping added."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seed.errors import SidecarError
from seed.transcript import spans
from seed.transcript.facts import PARSED_BYTES, parse_row
from seed.transcript.formats import facts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from seed.transcript.facts import Block
    from seed.transcript.reader import Reader
    from seed.transcript.turns import Turn

MAX_BYTES = 20_000
HEAD_TURNS = 64
AROUND = 300


@dataclass(frozen=True, slots=True)
class Part:
    """Text of one turn: bytes ``start`` to ``end`` of the ``total`` that its text has in UTF-8.

    ``raw`` says that the line is shown as it is, since it is broken, too long, or holds nothing said.
    """

    turn: int
    seq: int | None
    role: str
    type: str
    digest: str
    start: int
    end: int
    total: int
    text: str
    raw: bool


@dataclass(frozen=True, slots=True)
class Page:
    """What one reading returns; go on with ``next_offset`` when it is not None."""

    parts: tuple[Part, ...]
    next_offset: int | None
    matched: int
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Shown:
    turn: int
    seq: int | None
    role: str
    type: str
    digest: str
    text: bytes
    raw: bool


@dataclass(frozen=True, slots=True)
class Query:
    """Which turns (ordinals, or the host's numbers), which part of them, and how much at a time."""

    turns: tuple[int, ...] = ()
    seqs: tuple[int, ...] = ()
    match: str = ""
    offset: int = 0
    max_bytes: int = MAX_BYTES
    raw: bool = False


def read(reader: Reader, query: Query) -> Page:
    """Return the text of turns, at most ``max_bytes`` of UTF-8 from ``offset`` of them all joined.

    With ``match`` only the turns that hold it (in any case) count, each cut to what stands around it.
    Raises SidecarError when none of the numbers is known, for a size that makes no sense, and past the end.
    """
    if query.max_bytes < 4 or query.offset < 0:  # noqa: PLR2004  # the longest character of UTF-8
        raise SidecarError(f"cannot read {query.max_bytes} bytes from {query.offset}", "give positive numbers")
    wanted, unknown = _wanted(reader, query)
    if not wanted:
        numbers = f"0 to {reader.manifest.turns - 1}"
        raise SidecarError(f"{reader.manifest.id} has no {', '.join(unknown) or 'turn'}", f"its turns are {numbers}")
    parts: list[Part] = []
    pattern = (
        re.compile(re.escape(query.match.encode("utf-8", "backslashreplace")), re.IGNORECASE) if query.match else None
    )
    position, left, matched = 0, query.max_bytes, 0
    for ordinal in wanted:
        turn, line = reader.turn(ordinal)
        if pattern and _cannot_hold(line, query.match, pattern):
            continue
        shown = _show(reader.manifest.identity.format, turn, line, raw=query.raw)
        slices = list(_slices(shown.text, pattern))
        matched += bool(query.match and slices)
        for first, last in slices:
            skip = max(0, query.offset - position)
            position += last - first
            if skip >= last - first:
                continue
            start = _border(shown.text, first + skip)
            end = _border(shown.text, min(last, start + left))
            if end > start:
                parts.append(_part(shown, start, end))
                left -= end - start
            if end < last:
                return Page(tuple(parts), position - (last - end), matched, unknown)
    if query.offset and query.offset >= position:
        raise SidecarError(f"offset {query.offset} is past the end: what is asked has {position} bytes",
                           "go on from a page's next_offset, or begin at 0")  # fmt: skip
    return Page(tuple(parts), None, matched, unknown)


def _part(shown: _Shown, start: int, end: int) -> Part:
    text = shown.text[start:end].decode("utf-8", "backslashreplace")
    where = (shown.turn, shown.seq, shown.role, shown.type, shown.digest)
    return Part(*where, start, end, len(shown.text), text, shown.raw)


def _wanted(reader: Reader, query: Query) -> tuple[list[int], tuple[str, ...]]:
    """Return the ordinals that are meant, in the order asked, and the numbers that mean nothing."""
    known = range(reader.manifest.turns)
    found = dict.fromkeys(turn for turn in query.turns if turn in known)
    unknown = [f"turn {turn}" for turn in query.turns if turn not in known]
    if query.seqs:
        numbered = dict(_numbered(reader, set(query.seqs)))
        found |= dict.fromkeys(numbered[seq] for seq in query.seqs if seq in numbered)
        unknown += [f"seq {seq}" for seq in query.seqs if seq not in numbered]
    if not query.turns and not query.seqs and query.match:
        found = dict.fromkeys(known)
    return list(found), tuple(unknown)


def numbered(reader: Reader) -> bool:
    """Whether the session's host numbers its rows itself."""
    form = reader.manifest.identity.format
    for ordinal, _, raw in reader.lines():
        row = parse_row(raw)
        if row is not None and facts_of(form, row).seq is not None:
            return True
        if ordinal >= HEAD_TURNS:
            break
    return False


def _numbered(reader: Reader, wanted: set[int]) -> Iterator[tuple[int, int]]:
    """Yield (host's number, ordinal) for the numbers wanted; of a number given twice, the first row."""
    form, left = reader.manifest.identity.format, set(wanted)
    for ordinal, _, raw in reader.lines():
        if not left:
            return
        row = parse_row(raw) if b'"seq"' in raw else None
        seq = None if row is None else facts_of(form, row).seq
        if seq in left:
            left.discard(seq)
            yield seq, ordinal


def _cannot_hold(line: bytes, match: str, pattern: re.Pattern[bytes]) -> bool:
    """Whether a line need not be parsed: text that JSON never escapes would stand in it as it is."""
    plain = match.isascii() and match.isprintable() and not set(match) & set('"\\/')
    return plain and b"\\u00" not in line and pattern.search(line) is None


def _show(form: str, turn: Turn, line: bytes, *, raw: bool) -> _Shown:
    row = None if raw or len(line) > PARSED_BYTES else parse_row(line)
    if row is None:
        return _Shown(turn.ordinal, None, "", "", turn.digest, line, raw=True)
    facts = facts_of(form, row)
    text = "\n".join(_rendered(line, facts.blocks))
    said = text.encode("utf-8", "backslashreplace") if text else line
    return _Shown(turn.ordinal, facts.seq, facts.role, facts.type, turn.digest, said, raw=not text)


def _rendered(line: bytes, blocks: Iterable[Block]) -> Iterator[str]:
    """Yield each block with a line that says what it is; arguments that are an object as the row has them."""
    blocks = tuple(blocks)
    objects = {block.at for block in blocks if block.kind == "call" and isinstance(block.arguments, dict | list)}
    at = spans.locate(line, objects) if objects else {}
    for block in blocks:
        if block.kind == "text":
            yield block.text
            continue
        name = " ".join(filter(None, (block.kind, block.name, block.call.text, "failed" if block.failed else "")))
        exact = line[slice(*at[block.at])].decode("utf-8", "surrogateescape") if block.at in at else block.text
        yield f"[{name}]\n{exact}"


def _slices(text: bytes, pattern: re.Pattern[bytes] | None) -> Iterator[tuple[int, int]]:
    """Yield what is shown of a text: all of it, or what stands around each match, neighbours joined."""
    if pattern is None:
        yield 0, len(text)
        return
    start = end = -1
    for found in pattern.finditer(text):
        low, high = max(0, found.start() - AROUND), min(len(text), found.end() + AROUND)
        if low > end >= 0:
            yield _border(text, start), _border(text, end)
            start = low
        start, end = (low if start < 0 else start), high
    if end >= 0:
        yield _border(text, start), _border(text, end)


def _border(text: bytes, at: int) -> int:
    """Return the last place at or before ``at`` where a character of UTF-8 begins."""
    return next((place for place in range(at, max(-1, at - 4), -1) if not _continues(text, place)), at)


def _continues(text: bytes, at: int) -> bool:
    return 0 < at < len(text) and 0x80 <= text[at] < 0xC0  # noqa: PLR2004  # a continuation byte
