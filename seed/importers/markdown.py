"""Markdown to pages: front matter and headings; code and comments are not read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seed.importers import frontmatter
from seed.importers.marks import with_badges, with_rows
from seed.importers.pages import Heading, Source, assemble

if TYPE_CHECKING:
    from seed.importers.model import Document, Page

_FENCE = re.compile(r"^[\s>]*(?:[-*+]\s+)?(`{3,}|~{3,})")
_ATX = re.compile(r"^ {0,3}(#{1,6})(?:\s+|(?=[^\W\d_]))(.*)$")
_SETEXT = re.compile(r"^ {0,3}(=+|-{2,})\s*$")
_PLAIN = re.compile(r"^ {0,3}[^\s>|#*+=~<-]")
_DEFINITION = re.compile(r"^ {0,3}\[([^\]]+)\]:\s*<?([^\s>]+)>?")


def parse(document: Document) -> Page:
    """Take one Markdown document apart. Never fails: what cannot be read is a doubt."""
    front, offset, doubts = frontmatter.read(document.text)
    lines = [with_rows(with_badges(line)) for line in mask(document.text.split("\n"), offset)]
    links = {m[1].lower(): m[2] for line in reversed(lines) if (m := _DEFINITION.match(line))}
    lines = ["" if _DEFINITION.match(line) else line for line in lines]
    return assemble(Source(document, lines, headings(lines), front, links, doubts))


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
    kept = []
    start = 0
    while start < len(line):
        mark = "-->" if inside else "<!--"
        end = line.find(mark, start)
        kept += [] if inside else [line[start : end if end >= 0 else len(line)]]
        start = end + len(mark) if end >= 0 else len(line)
        inside = inside != (end >= 0)
    return "".join(kept), inside


def _without_closing(title: str) -> str:
    """Strip the closing marks of "## Title ##"; those of "C#" belong to the title."""
    bare = title.rstrip("#")
    return bare.rstrip() if bare != title and bare.endswith((" ", "\t")) else title


def headings(lines: list[str]) -> list[Heading]:
    """Return the headings of masked lines, in order."""
    found = []
    for index, line in enumerate(lines):
        atx = _ATX.match(line)
        if atx:
            found.append(Heading(len(atx[1]), _without_closing(atx[2].strip()), index, index + 1))
        elif index and _SETEXT.match(line) and _PLAIN.match(lines[index - 1]):
            level = 1 if line.strip().startswith("=") else 2
            found.append(Heading(level, lines[index - 1].strip(), index - 1, index + 1))
    return found
