"""Cut a record into passages: what is embedded and searched. Pure. A changed cut is a new projection version."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

PROJECTION = "title-section-1"
"""Version of how passages are cut and titled; part of the embedder identity."""

_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.+?)[ \t#]*$")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
_LINK_DEFINITION = re.compile(r"^ {0,3}\[[^\]]+\]:\s+\S+.*$")


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage: character offsets into the body, section heading, and the text that is embedded.

    ``skip`` characters of ``text`` are the title and section in front of the body's own words.
    """

    start: int
    end: int
    section: str
    text: str
    skip: int

    @property
    def sha(self) -> bytes:
        """Return the sha256 of the embedded text: the key of its vector."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    end: int
    section: str


def cut(title: str, body: str, size: int = 900) -> list[Passage]:
    """Return the passages of a record, at least one. Blocks (paragraphs, fences, tables, lists) stay whole
    unless one alone is over twice ``size`` characters.
    """
    groups: list[list[_Block]] = []
    for block in _blocks(body):
        last = groups[-1] if groups else None
        if last and last[-1].section == block.section and block.end - last[0].start <= size:
            last.append(block)
        else:
            groups.append([block])
    found = []
    for group in groups:
        for start, end in _pieces(body, group[0].start, group[-1].end, size):
            found.append(_passage(title, group[0].section, body, start, end))
    return found or [Passage(0, 0, "", title, len(title))]


def _passage(title: str, section: str, body: str, start: int, end: int) -> Passage:
    head = f"{title}\n{section}\n" if section and section != title else f"{title}\n"
    return Passage(start, end, section, head + body[start:end], len(head))


def _pieces(body: str, start: int, end: int, size: int) -> list[tuple[int, int]]:
    """Split an oversized block at line ends, then at spaces, so that no passage is over twice the size."""
    found = []
    while end - start > 2 * size:
        stop = max(
            body.rfind("\n", start + size // 2, start + size),
            body.rfind(" ", start + size // 2, start + size),
        )
        stop = stop + 1 if stop > 0 else start + size
        found.append((start, stop))
        start = stop
    return [*found, (start, end)]


def _blocks(body: str) -> list[_Block]:
    """Return the blocks with text in them, each with the heading it stands under."""
    found: list[_Block] = []
    section, fence = "", ""
    start = end = -1
    at = 0
    for line in body.split("\n"):
        stop = at + len(line)
        mark = _FENCE.match(line)
        heading = None if fence else _HEADING.match(line)
        if mark and not fence:
            fence = mark.group(1)
        elif fence and mark and mark.group(1).startswith(fence):
            fence = ""
        blank = not fence and (not line.strip() or _LINK_DEFINITION.match(line) is not None)
        if heading or blank:
            if start >= 0:
                found.append(_Block(start, end, section))
            start = -1
            section = heading.group(2).strip() if heading else section
        else:
            start, end = (at if start < 0 else start), stop
        at = stop + 1
    if start >= 0:
        found.append(_Block(start, end, section))
    return found
