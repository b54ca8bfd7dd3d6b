"""Text laid out for a terminal: lines folded to its width by cells, so that wide characters count as two. Pure."""

from __future__ import annotations

import re
import unicodedata

_PREFIX = re.compile(r"(?P<indent> *)(?P<mark>(?:\| )|(?:[-*] )|(?:\d+\. ))?(?P<inner>(?: |[-*] )*)")
_ESCAPE = re.compile(r"\033\[[0-9;]*m")
_TOKEN = re.compile(r"\033\[[0-9;]*m|\s+|[^\s\033]+|\033")
_CLOSING = frozenset("、。，．：；！？）」』】〕》〉’”…ー,.;:!?)]}")
"""What may not begin a line."""
NARROWEST = 20


def cells(text: str) -> int:
    """Return how many cells a terminal takes for a text; colours take none."""
    return sum(map(_cell, _ESCAPE.sub("", text)))


def _cell(char: str) -> int:
    if char.isascii():
        return 1
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def fold(text: str, width: int) -> str:
    """Return a text with every line folded to a width in cells; nothing is folded below `NARROWEST`.

    A folded line goes on under its own text; one behind a margin keeps the margin, so that quoted text stays quoted.
    """
    if width < NARROWEST:
        return text
    return "\n".join(part for line in text.split("\n") for part in _folded(line, width))


def _folded(line: str, width: int) -> list[str]:
    if cells(line) <= width:
        return [line]
    found = _PREFIX.match(line)
    first = found.group() if found else ""
    if len(first) > width // 2:
        first = ""
    rest = first if found is None or found["mark"] != "| " else f"{found['indent']}| {' ' * len(found['inner'])}"
    rest = rest if "| " in rest else " " * len(first)
    done: list[str] = []
    now, used, gap = first, cells(first), ""
    for piece in _pieces(line[len(first) :]):
        size = cells(piece)
        if piece.isspace():
            gap = piece
        elif size and used + len(gap) + size > width and used > cells(rest):
            done.append(now)
            now, used, gap = rest + piece, cells(rest) + size, ""
        else:
            now, used, gap = now + gap + piece, used + len(gap) + size, ""
    return [*done, now]


def _pieces(text: str) -> list[str]:
    """Return what a line may be broken between: words, spaces, colours, and wide characters with what closes them."""
    pieces: list[str] = []
    for token in _TOKEN.findall(text):
        if token.isascii():
            pieces.append(token)
            continue
        start = len(pieces)
        for char in token:
            glued = len(pieces) > start and (char in _CLOSING or (_cell(char) < 2 and _cell(pieces[-1][-1]) < 2))  # noqa: PLR2004 - two cells
            if glued:
                pieces[-1] += char
            else:
                pieces.append(char)
    return pieces
