"""Cut a record into passages: what is embedded and searched. Pure. A changed cut is a new projection version."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

PROJECTION = "title-section-2"
"""Version of how passages are cut and titled; part of the embedder identity."""

_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.+?)\s*#*\s*$")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？；])\s*|\n")


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
    whole: bool  # a fence or a table, never cut
    heading: bool


def cut(title: str, body: str, size: int = 900) -> list[Passage]:
    """Return the passages of a record, in order, each about ``size`` characters; at least one.

    Blocks (paragraphs, lists, fences, tables) are packed up to ``size``; a fence or a table is kept whole, a longer
    paragraph is cut at the end of a sentence. A heading starts a new passage once the one before holds half of it.
    """
    packed: list[_Block] = []
    for block in (piece for whole in _blocks(body) for piece in _pieces(body, whole, size)):
        if packed and _fits(packed[-1], block, size):
            last = packed[-1]
            packed[-1] = replace(last, end=block.end, heading=last.heading and block.heading)
        else:
            packed.append(block)
    # Headings without text, as in a record that was only started, say nothing that can be found.
    texts = [block for block in packed if not block.heading]
    found = [_passage(title, block.section, body, block.start, block.end) for block in texts]
    return found or [Passage(0, 0, "", title, len(title))]


def _passage(title: str, section: str, body: str, start: int, end: int) -> Passage:
    head = "".join(f"{part}\n" for part in (title, section if section != title else "") if part)
    return Passage(start, end, section, head + body[start:end], len(head))


def _fits(open_: _Block, block: _Block, size: int) -> bool:
    if open_.heading:
        return True  # a heading never stands alone
    if block.heading and block.section != open_.section and open_.end - open_.start >= size // 2:
        return False
    return block.end - open_.start <= size


def _blocks(body: str) -> Iterator[_Block]:
    """Yield the blocks of `body`: headings, fences, tables and runs of other lines between blank lines."""
    section, fence, kind, start, end, position = "", "", "", 0, 0, 0
    for line in body.split("\n"):
        line_start, position = position, position + len(line) + 1
        now = "fence" if fence else _kind(line)
        heading = _HEADING.match(line) if now == "heading" else None
        if now != kind or heading:
            if kind and kind != "blank":
                yield _Block(start, end, section, kind in {"fence", "table"}, kind == "heading")
            kind, start = now, line_start
        if heading:
            section = heading[2]
        if now == "fence":
            marks = _FENCE.match(line)
            if not fence:
                fence = marks[1] if marks else ""
            elif marks and marks[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
                yield _Block(start, line_start + len(line), section, whole=True, heading=False)
                kind = "blank"
        end = line_start + len(line)
    if kind and kind != "blank":
        yield _Block(start, end, section, kind in {"fence", "table"}, kind == "heading")


def _kind(line: str) -> str:
    if not line.strip():
        return "blank"
    if _HEADING.match(line):
        return "heading"
    if _FENCE.match(line):
        return "fence"
    return "table" if line.lstrip().startswith("|") else "text"


def _pieces(body: str, block: _Block, size: int) -> Iterator[_Block]:
    """Yield `block`, or its parts cut at sentence ends where it is longer than `size` and may be cut."""
    start = block.start
    while not block.whole and block.end - start > size:
        ends = [m.end() for m in _SENTENCE_END.finditer(body, start + size // 3, start + size)]
        cut_at = ends[-1] if ends else start + size
        yield _Block(start, cut_at, block.section, whole=False, heading=False)
        start = cut_at
    if body[start : block.end].strip():
        yield _Block(start, block.end, block.section, block.whole, block.heading)
