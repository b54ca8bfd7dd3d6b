"""Which items of a file of notes no longer hold, and why: by front matter, heading, strike or mark. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seed.importers import frontmatter
from seed.importers import status as wording
from seed.importers.force import FINAL
from seed.importers.notes import plain
from seed.importers.words import ANY, meaning

if TYPE_CHECKING:
    from seed.importers.notes import Note

_MARK = re.compile(r"[\[(]([^\])\n]{3,80})[\])]")
_LEAD = re.compile(r"^\W*([\w ]{4,30}?)\s*(?::|\s[-–—]\s|\b(?:by|since|in favou?r of)\b)")
_SHORT = 3  # words of a heading that is a mark and no sentence
_OVER = (*FINAL, "historical")


def of_document(text: str) -> str:
    """Return why nothing of a file holds, by the status in its front matter; "" where it may."""
    for field in frontmatter.read(text)[0]:
        if field.name == "status" and wording.read(field.value).status in _OVER:
            return f"the front matter says {field.value[:60]!r}"
        if field.name == "superseded by" and re.search(r"\w", field.value):
            return f"the front matter says it is superseded by {field.value[:60]!r}"
    return ""


def of_note(note: Note) -> str:
    """Return why an item no longer holds, "" where nothing says so."""
    for section in note.sections:
        if _ends(section, heading=True):
            return f"it stands under {section[:60]!r}"
    if wording.STRUCK.search(note.title) or wording.STRUCK.match((note.body or note.title).lstrip(" -*+>")):
        return "it is struck out"
    if _ends(note.title, heading=bool(note.body) and note.title not in plain(note.body)):
        return f"it is marked in {note.title[:60]!r}"
    first = next((line for line in note.body.split("\n") if line.strip()), "")
    return f"it begins with {first[:60]!r}" if _ends(first, heading=False) else ""


def _ends(text: str, *, heading: bool) -> bool:
    marks = [match[1] for match in _MARK.finditer(text)]
    lead = _LEAD.match(text)
    marks += [lead[1]] if lead else []
    marks += (
        [text]
        if (heading and len(text.split()) <= _SHORT) or re.fullmatch(rf"\W*(?:{ANY.pattern})\W*", text, re.IGNORECASE)
        else []
    )
    return any(_says(mark.strip(" *_:.")) for mark in marks)


def _says(mark: str) -> bool:
    """Whether a mark is a word that takes out of force, with "since 2024" or nouns such as "rules" at most."""
    word = ANY.match(mark)
    found = bool(word) and meaning(word[0]) in _OVER  # type: ignore[index]
    return found or bool(re.match(r"(?:old|former|outdated|past) \w+$", mark, re.IGNORECASE))
