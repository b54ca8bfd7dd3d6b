"""Markdown ADRs to pages: front matter, title, fields, sections and prose; code and comments are not read."""

from __future__ import annotations

import re
from dataclasses import dataclass

from seed.importers import frontmatter
from seed.importers.fields import RELATIONS, is_section, normal_name, scan_lines
from seed.importers.model import Block, Document, Field, Page

_FENCE = re.compile(r"^[\s>]*(?:[-*+]\s+)?(`{3,}|~{3,})")
_ATX = re.compile(r"^ {0,3}(#{1,6})(?:\s+|(?=[^\W\d_]))(.*?)\s*#*\s*$")
_SETEXT = re.compile(r"^ {0,3}(=+|-{2,})\s*$")
_PLAIN = re.compile(r"^ {0,3}[^\s>|#*+=~<-]")
_DEFINITION = re.compile(r"^ {0,3}\[([^\]]+)\]:\s*<?([^\s>]+)>?")
_ITEM = re.compile(r"^[\s>]*(?:[-*+]|\d{1,3}[.)])\s+")


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    title: str
    start: int  # index of its line
    end: int  # index of the first line after it


def parse(document: Document) -> Page:
    """Take one Markdown document apart. Never fails: what cannot be read is a doubt."""
    front, offset, doubts = frontmatter.read(document.text)
    lines = mask(document.text.split("\n"), offset)
    headings = _headings(lines)
    title = _title(headings)
    header_end = next((h.start for h in headings if h is not title), len(lines))
    header, used = scan_lines(lines[:header_end], "header line")
    sections, spans = _sections(lines, headings)
    later, later_used = scan_lines(lines, "line", only=("status", "date"))
    taken = used | spans | later_used | {n for h in headings for n in range(h.start, h.end)}
    return Page(
        path=document.path,
        text=document.text,
        title=title.title if title else next((f.value for f in front if f.name == "title"), ""),
        fields=(*front, *header, *sections, *later),
        headings=tuple(h.title for h in headings),
        blocks=_blocks(lines, taken),
        links=_definitions(lines),
        doubts=tuple(doubt for doubt in (document.doubt, *doubts) if doubt),
    )


def _title(headings: list[_Heading]) -> _Heading | None:
    """Return the first heading of the top level that names no field or section; else the first one of all."""
    named = [h for h in headings if not normal_name(h.title) and not is_section(h.title)]
    top = next((h for h in named if h.level == 1), None)
    return top or next((h for h in named if h is headings[0]), None)


def mask(lines: list[str], start: int = 0) -> list[str]:
    """Blank out what stands before line ``start``, fenced code and HTML comments; as many lines stay."""
    masked = [""] * min(start, len(lines))
    fence = ""
    comment = False
    for line in lines[start:]:
        opened = _FENCE.match(line)
        if fence:
            closing = line.strip(" >\t")
            fence = "" if closing.startswith(fence) and not closing.strip(fence[0]) else fence
            masked.append("")
        elif opened and not comment:
            fence = opened[1]
            masked.append("")
        else:
            text, comment = _without_comments(line, comment)
            masked.append(text)
    return masked


def _without_comments(line: str, inside: bool) -> tuple[str, bool]:
    kept = ""
    while line:
        mark = "-->" if inside else "<!--"
        before, found, line = line.partition(mark)
        kept += "" if inside else before
        inside = inside != bool(found)
    return kept, inside


def _headings(lines: list[str]) -> list[_Heading]:
    found = []
    for index, line in enumerate(lines):
        atx = _ATX.match(line)
        if atx:
            found.append(_Heading(len(atx[1]), atx[2].strip(), index, index + 1))
        elif index and _SETEXT.match(line) and _PLAIN.match(lines[index - 1]):
            level = 1 if line.strip().startswith("=") else 2
            found.append(_Heading(level, lines[index - 1].strip(), index - 1, index + 1))
    return found


def _sections(lines: list[str], headings: list[_Heading]) -> tuple[list[Field], set[int]]:
    """Read sections named like a field, also with the value in the heading: ``## Status: Accepted``."""
    found: list[Field] = []
    spans: set[int] = set()
    for index, heading in enumerate(headings):
        name, _, inline = heading.title.partition(":")
        field = normal_name(name)
        if not field:
            continue
        following = headings[index + 1 :]
        end = next((h.start for h in following if h.level <= heading.level), len(lines))
        own = min(end, next((h.start for h in following), len(lines)))
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
        if line.strip(" >") and index not in taken and not _DEFINITION.match(line):
            first = first if current else index
            current.append(_ITEM.sub("", line).strip(" >\t"))
    return tuple(blocks)


def _definitions(lines: list[str]) -> dict[str, str]:
    return {m[1].lower(): m[2] for line in reversed(lines) if (m := _DEFINITION.match(line))}
