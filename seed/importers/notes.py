"""A file of notes to its items: list entries and paragraphs, or the text under each heading, with their lines. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seed.importers.frontmatter import read as read_front
from seed.importers.markdown import headings, mask

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SPLITS = ("heading", "item")
_ENTRY = re.compile(r"^(?P<indent>\s*)(?:[-*+]|\d{1,3}[.)])\s+(?:\[(?P<box>[ xX])\]\s+)?(?P<text>.*)$")
_RULE = re.compile(r"^\s*(?:[-*_]\s*){3,}$")
_INCLUDE = re.compile(r"^@\S+$")
_FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})")
_NO_TEXT = re.compile(r"^(?:@\S+|<!--.*-->)$")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\S)|(?<=[。！？])")
_DATE = re.compile(r"^\W*(\d{4}-\d{2}-\d{2})\b[\s:)\].–—-]*")
MAX_TITLE = 120


@dataclass(frozen=True, slots=True)
class Note:
    """One item: ``title`` and ``body`` ("" where the title says it all), the headings above it, first and last line.

    ``open`` is a box that is not ticked.
    """

    title: str
    body: str
    sections: tuple[str, ...]
    first: int
    last: int
    date: str = ""
    open: bool = False


@dataclass(frozen=True, slots=True)
class _Part:
    """The lines [start, end) under the headings ``sections``; ``own``: how many lines the last of these takes."""

    sections: tuple[str, ...]
    start: int
    end: int
    own: int = 0


def read(text: str, split: str = "") -> tuple[list[Note], str]:
    """Return the items of a Markdown text and how it was split: as asked, else by what most of its text is."""
    lines = text.split("\n")
    offset = read_front(text)[1]
    masked = mask(lines, offset)
    lines = _without_comments(lines, masked, offset)
    parts = list(_parts(masked, offset))
    entries = [note for part in parts for note in _entries(lines, masked, part)]
    chosen = split or ("item" if _mostly_lists(masked) else "heading")
    if chosen == "item":
        return entries, chosen
    return [note for part in parts for note in _whole(lines, masked, part)], chosen


def _without_comments(lines: Sequence[str], masked: Sequence[str], offset: int) -> list[str]:
    """Return the lines as they stand, code among them, with the comments blank."""
    bare = mask([line.replace("<!--", " ").replace("-->", " ") for line in lines], offset)
    return [
        m if m.strip() else line if line.strip() and not b.strip() else ""
        for line, m, b in zip(lines, masked, bare, strict=True)
    ]


def _mostly_lists(masked: Sequence[str]) -> bool:
    prose = [line for line in masked if line.strip() and not line.startswith("#")]
    listed = sum(len(line) for line in prose if _ENTRY.match(line) or line.startswith((" ", "\t")))
    return 2 * listed >= sum(map(len, prose))


def _parts(masked: Sequence[str], offset: int) -> Iterator[_Part]:
    """Yield the stretches between headings; a title over everything is no section."""
    found = headings(list(masked))
    first = found[0].start if found else len(masked)
    yield _Part((), offset, first)
    title = found[0] if found and sum(h.level == found[0].level for h in found) == 1 else None
    above: list[tuple[int, str]] = []
    for n, heading in enumerate(found):
        end = found[n + 1].start if n + 1 < len(found) else len(masked)
        above = [(level, name) for level, name in above if level < heading.level]
        if heading is not title:
            above.append((heading.level, plain(heading.title)))
        yield _Part(tuple(name for _, name in above), heading.end, end, heading.end - heading.start)


def _whole(lines: Sequence[str], masked: Sequence[str], part: _Part) -> Iterator[Note]:
    """Yield the text under a heading as one item; a heading with nothing under it only names what is below it."""
    text = _text(lines, masked, part.start, part.end)
    if not any(line.strip() and not _RULE.match(line) for line in text.split("\n")):
        return
    if part.own and part.sections:
        first = part.start - part.own
        yield Note(part.sections[-1][:300], text, part.sections[:-1], first + 1, _last(lines, first, part.end),
                   _date(part.sections[-1]))  # fmt: skip
    else:
        first = next(n for n in range(part.start, part.end) if lines[n].strip())
        yield Note(headline(text), text, part.sections, first + 1, _last(lines, first, part.end), _date(text))


def _entries(lines: Sequence[str], masked: Sequence[str], part: _Part) -> Iterator[Note]:
    """Yield each list entry with what is indented below it, and each paragraph; code goes with what it follows."""
    starts: list[tuple[int, str]] = []
    lead = ""
    blank = True
    for n in range(part.start, part.end):
        line = masked[n]
        hidden = not line.strip() and lines[n].strip()  # code
        if hidden and not starts:
            starts.append((n, "code"))
        if not line.strip() or _RULE.match(line) or _INCLUDE.match(line.strip()):
            blank = blank or not hidden
            continue
        entry = _ENTRY.match(line)
        if not starts or (entry and not entry["indent"]) or (blank and not line.startswith((" ", "\t"))):
            starts.append((n, "entry" if entry else "paragraph"))
        blank = False
    for at, (start, kind) in enumerate(starts):
        end = starts[at + 1][0] if at + 1 < len(starts) else part.end
        text = _text(lines, masked, start, end)
        follows = at + 1 < len(starts) and starts[at + 1][1] == "entry"
        if kind == "paragraph" and follows and text.rstrip().endswith((":", "：")):
            lead = text.strip()
            continue
        lead = "" if kind == "paragraph" else lead
        yield _note(text, lead, part.sections, start + 1, _last(lines, start, end))


def _note(text: str, lead: str, sections: tuple[str, ...], first: int, last: int) -> Note:
    entry = _ENTRY.match(text.split("\n", 1)[0])
    said = text
    if entry:
        rest = text.split("\n", 1)[1:]
        said = "\n".join([entry["text"], *(line.removeprefix("  ") for line in "".join(rest).split("\n") if rest)])
    said = said.strip("\n ")
    title = headline(said)
    body = said + "\n" if plain(said) != title else ""
    if lead:
        body = f"{lead}\n\n{said}\n"
    is_open = bool(entry and entry["box"] == " ")
    return Note(title, body, sections, first, last, _date(said), is_open)


def _text(lines: Sequence[str], masked: Sequence[str], start: int, end: int) -> str:
    """Return a stretch of lines without what only names another file to include."""
    kept = [lines[n] for n in range(start, end) if not _INCLUDE.match(masked[n].strip())]
    return "\n".join(kept).strip("\n") + "\n"


def _last(lines: Sequence[str], start: int, end: int) -> int:
    told = (n + 1 for n in range(end - 1, start, -1) if lines[n].strip() and not _NO_TEXT.match(lines[n].strip()))
    return next(told, start + 1)


def _date(text: str) -> str:
    found = _DATE.match(text)
    return found[1] if found else ""


def plain(text: str) -> str:
    """Return text on one line without Markdown's decoration; links become their text."""
    bare = re.sub(r"!?\[([^\]]{0,300})\]\([^)]{0,2000}\)", r"\1", text)
    bare = re.sub(r"\*\*|__|(?<![\w`])[*_](?=\S)|(?<=\S)[*_](?![\w`])", "", bare)
    return " ".join(bare.split())


def headline(text: str) -> str:
    """Return the first sentence of a text, at most ``MAX_TITLE`` characters, as a title."""
    prose = "\n".join(line for line in mask(text.split("\n"))).strip("\n")
    code = next((f"`{line.strip()}`" for line in text.split("\n") if line.strip() and not _FENCE.match(line)), "")
    whole = plain(prose.split("\n\n", maxsplit=1)[0]) or code
    whole = _DATE.sub("", whole) or whole
    sentence = _SENTENCE.split(whole)[0].strip() or whole
    if len(sentence) <= MAX_TITLE:
        return sentence or "(no words)"
    cut = sentence[: MAX_TITLE - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > MAX_TITLE // 2 else cut) + "…"
