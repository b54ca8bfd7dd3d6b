"""A record's title from its heading: numbering stripped, template text refused."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from seed.importers.naming import LABELS, Name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from seed.importers.decide import Notes
    from seed.importers.model import Page

_PLACEHOLDER = re.compile(
    r"\[[^\]]*\]|\{[^}]*\}|<[^>]*>|(?:(?:short|decision|adr|record) )?title(?: of .*)?"
    r"|(?:(?:adr|madr|rfc|decision|record) )*template|\W*",
    re.IGNORECASE,
)
_NUMBERING = re.compile(
    r"^\W*(?:(?P<label>[A-Za-z]{2,8})\s?[-_#.]?\s?)??(?P<number>\d{1,8})(?P<mark>\s*[-–—:.)\]|·]+\s*|\s+|$)(?!\d)"
)
_LABEL = re.compile(r"^(?:ADR|RFC)\s*[:–—-]+\s*", re.IGNORECASE)
_ENOUGH = 3


def split(heading: str, labels: frozenset[str] = frozenset(), *, bare: bool = False) -> tuple[str, str]:
    """Split ``ADR-0007: Use X`` into title and number.

    A number with neither label nor mark ("3 tiers for all") stays in the title unless ``bare`` says that this
    folder numbers its headings so.
    """
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"^(\*\*|__)(.*?)\1", r"\2", re.sub(r"\s+", " ", text).strip())
    match = _NUMBERING.match(text)
    label = (match["label"] or "").lower() if match else ""
    numbered = match and (label in LABELS | labels if label else bare or _ends_number(match["mark"]))
    if not match or not numbered or not text[match.end() :].strip():
        return _LABEL.sub("", text) or text, ""
    return text[match.end() :], match["number"]


def _ends_number(mark: str) -> bool:
    """Whether a mark ends a number: "7. Moor" and "7 - Moor", not "12-factor" or "3 tiers"."""
    return bool(mark.strip()) and (mark[-1].isspace() or not re.search(r"[-–—]", mark))


def numbers_bare(pages: Iterable[Page], names: Mapping[str, Name]) -> bool:
    """Whether three headings at least begin with their file's number alone, as "# 23 Logging" does."""
    own = 0
    for page in pages:
        number, mark, _ = page.title.partition(" ")
        own += bool(mark) and number.isdigit() and int(number) == names[page.path].value
    return own >= _ENOUGH


def with_labels(pages: Iterable[Page], names: Mapping[str, Name]) -> dict[str, Name]:
    """Return the names with the label of the heading where the file's number has none: "TEP-0012: Bells".

    A label nobody knows counts on two pages at least, each with the number of its file.
    """
    found: dict[str, str] = {}
    for page in pages:
        match = _NUMBERING.match(page.title)
        own = names[page.path].value
        if match and match["label"] and own is not None and int(match["number"]) == own:
            found[page.path] = match["label"].lower()
    counts = Counter(found.values())
    kept = {path: label for path, label in found.items() if label in LABELS or counts[label] > 1}
    return {path: replace(name, label=name.label or kept.get(path, "")) for path, name in names.items()}


def is_placeholder(page: Page) -> bool:
    """Whether the heading is unedited template text, such as "[short title of solved problem]"."""
    return bool(_PLACEHOLDER.fullmatch(split(page.title)[0]))


def title(page: Page, name: Name, notes: Notes, *, bare: bool = False) -> str:
    """Return the heading without its numbering; for a placeholder or none, the words of the file name."""
    padded = name.number.startswith("0") and page.title.startswith((f"{name.number} ", f"{name.number}-"))
    text, number = split(page.title, frozenset({name.label} - {""}), bare=bare or padded)
    if text and not is_placeholder(page):
        if number and name.value is not None and int(number) != name.value:
            notes.doubts.append(f"the heading says number {number}: the file name's {name.number} was taken")
        return text
    if text:
        notes.doubts.append(f"the title {text!r} is unedited template text: taken from the file name")
    words = re.sub(r"[-_\s]+", " ", name.slug).strip() or name.number or page.path
    notes.decided.append("title from the file name")
    return words[:1].upper() + words[1:]
