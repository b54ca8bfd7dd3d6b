"""A page from its lines and headings, whatever the markup: title, fields, sections, prose."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seed.importers import marks
from seed.importers.fields import RELATIONS, is_section, normal_name, scan_lines
from seed.importers.model import Block, Document, Field, Page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_INLINE = re.compile(r"\s*[:：]\s*|\s+[-–—]\s+")
_ITEM = re.compile(r"^[\s>]*(?:[-*+]|\d{1,3}[.)])\s+")

_FIELDS, _TITLE = 100, 500  # more than any page means; whatever a file holds, reading it ends


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its text, the index of its first line, and that of the first line after it."""

    level: int
    title: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Source:
    """A document with its markup understood. ``lines``: code, comments and front matter are empty lines."""

    document: Document
    lines: list[str]
    headings: list[Heading]
    front: tuple[Field, ...] = ()
    links: Mapping[str, str] | None = None
    doubts: Sequence[str] = ()


def assemble(source: Source) -> Page:
    """Take the page apart into fields (front matter, header, sections, other lines) and prose."""
    lines, headings, front = source.lines, source.headings, source.front
    titled = next((f.value for f in front if f.name == "title"), "")
    title = _title(headings, titled=bool(titled))
    shown, mark = marks.of_title(title.title[:_TITLE] if title else titled[:_TITLE])
    header_end = next((h.start for h in headings if h is not title), len(lines))
    header, used = scan_lines(lines[:header_end], "header line")
    sections, spans = _sections(lines, headings)
    body = [""] * header_end + lines[header_end:]
    later, later_used = scan_lines(body, "line", only=("status", "date"))
    taken = used | spans | later_used | {n for h in headings for n in range(h.start, h.end)}
    document = source.document
    aside = [
        Field("status", said, where) for said, where in ((mark, marks.TITLE), marks.of_folder(document.path)) if said
    ]
    return Page(
        path=document.path,
        text=document.text,
        title=shown,
        fields=(*front, *header, *sections, *aside, *later)[:_FIELDS],
        headings=tuple(h.title for h in headings),
        blocks=_blocks(lines, taken),
        links=source.links or {},
        also=document.also,
        doubts=tuple(doubt for doubt in (document.doubt, *source.doubts) if doubt),
    )


def _title(headings: list[Heading], *, titled: bool) -> Heading | None:
    """Return the first heading of the top level that names no field or section; else the first one of all.

    ``titled``: the front matter has a title, which is better than a heading that is one of several, or a lower one.
    """
    named = [h for h in headings if not normal_name(h.title) and not is_section(h.title)]
    top = [h for h in named if h.level == 1]
    if titled and len([h for h in headings if h.level == 1]) != 1:
        return None
    return top[0] if top else None if titled else next((h for h in named if h is headings[0]), None)


def _sections(lines: list[str], headings: list[Heading]) -> tuple[list[Field], set[int]]:
    """Read sections named like a field, also with the value in the heading: ``## Status: Accepted``."""
    found: list[Field] = []
    spans: set[int] = set()
    for index, heading in enumerate(headings):
        name, inline = (*_INLINE.split(heading.title, maxsplit=1), "")[:2]
        field = normal_name(name)
        if not field:
            continue
        own = headings[index + 1].start if index + 1 < len(headings) else len(lines)
        following = (headings[n] for n in range(index + 1, len(headings)))
        end = next((h.start for h in following if h.level <= heading.level), len(lines))
        body = "\n".join(lines[heading.end : own]).strip() or "\n".join(lines[heading.end : end]).strip()
        where = f"section {heading.title!r}, line {heading.start + 1}"
        found.append(Field(field, inline.strip() or body, where))
        if field in {"status", "date", *RELATIONS}:
            spans.update(range(heading.start, own))
    return found, spans


def _blocks(lines: list[str], taken: set[int]) -> tuple[Block, ...]:
    blocks: list[Block] = []
    current: list[str] = []
    first = 0
    for index, line in enumerate([*lines, ""]):
        ends = not line.strip(" >") or index in taken or line.lstrip().startswith("|") or _ITEM.match(line)
        if ends and current:
            blocks.append(Block(" ".join(current), first + 1))
            current = []
        if line.strip(" >") and index not in taken:
            first = first if current else index
            current.append(_ITEM.sub("", line).strip(" >\t"))
    return tuple(blocks)
