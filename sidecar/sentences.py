"""A segment's text as sentences, each of which has a vector of its own. Pure.

A short sentence among others moves the vector of a whole segment by little, so a question is compared with each.
"""

from __future__ import annotations

import re

LEAST = 40
MOST = 320
PER_SEGMENT = 64
"""Of a longer segment (only whole turns are) so many sentences are embedded, at even distances; words count in all."""
_BORDER = re.compile(r"(?<=[.!?;:])\s+|\s*\n\s*|(?<=[。！？；])\s*")


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text, none empty: a short one ends the one before, a long one is cut."""
    found: list[str] = []
    for one in filter(None, map(str.strip, _BORDER.split(text))):
        for part in _bounded(one):
            if found and len(found[-1]) < LEAST:
                found[-1] += f" {part}"
            else:
                found.append(part)
    every = -(-len(found) // PER_SEGMENT)
    return found[::every] if every > 1 else found


def _bounded(text: str) -> list[str]:
    parts = []
    while len(text) > MOST:
        place = text.rfind(" ", MOST // 2, MOST)
        parts.append(text[: place if place > 0 else MOST])
        text = text[len(parts[-1]) :].strip()
    return [*parts, text] if text else parts
