"""Dates as people write them, to ISO 8601; a day and a month that could be exchanged are never guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

Order = Literal["day first", "month first", ""]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_GAP = r"[\s.,/-]{0,4}"
_FORMS = tuple(
    re.compile(rf"(?<!\d)(?<!\w[-/.])(?:{form})(?!\d)", re.IGNORECASE)
    for form in (
        r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})",
        r"(?P<year>(?:19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})",
        r"(?P<year>\d{4})\s*年\s*(?P<month>\d{1,2})\s*月\s*(?P<day>\d{1,2})\s*日",
        rf"{_DAY}{_GAP}(?:of\s+)?{_MONTH}{_GAP}(?P<year>\d{{4}}|\d{{2}})",
        rf"{_MONTH}{_GAP}{_DAY}{_GAP}(?<!\d)(?P<year>\d{{4}})",
        rf"(?P<year>\d{{4}}){_GAP}{_MONTH}{_GAP}{_DAY}",
        r"(?P<one>\d{1,2})(?P<mark>[-/.])(?P<two>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})",
    )
)
_CENTURY_TURN = 69  # POSIX strptime %y: 69 to 99 are of the 1900s
_SHORT_YEAR = 2
_HYPHENS = dict.fromkeys(map(ord, "‐‑‒–−"), "-")


@dataclass(frozen=True, slots=True)
class Reading:
    """One date found: ``iso``, or both readings when day and month could be exchanged, or why it is none."""

    written: str
    iso: str = ""
    day_first: str = ""
    month_first: str = ""
    order: Order = ""

    @property
    def ambiguous(self) -> bool:
        """Whether the other dates of the folder have to settle it."""
        return not self.iso and bool(self.day_first)


def find(text: str) -> Reading | None:
    """Return the first date in the text, or None. A day that does not exist comes back with no reading."""
    plain = text.translate(_HYPHENS)
    matches = [match for form in _FORMS if (match := form.search(plain))]
    return _reading(min(matches, key=lambda match: match.start())) if matches else None


def _reading(match: re.Match[str]) -> Reading:
    parts = match.groupdict()
    written = match.group(0)
    if "one" in parts:
        return _numeric(written, parts["one"], parts["two"], parts["year"])
    month = parts["month"].lower()
    number = int(month) if month.isdigit() else _MONTHS.index(month[:3]) + 1
    return Reading(written, _iso(parts["year"], number, int(parts["day"])))


def _numeric(written: str, one: str, two: str, year: str) -> Reading:
    day_first = _iso(year, int(two), int(one))
    month_first = _iso(year, int(one), int(two))
    if day_first and month_first and day_first != month_first:
        return Reading(written, "", day_first, month_first)
    order: Order = "" if day_first == month_first else "day first" if day_first else "month first"
    return Reading(written, day_first or month_first, order=order)


def _iso(year: str, month: int, day: int) -> str:
    full = int(year)
    if len(year) == _SHORT_YEAR:
        full += 1900 if full >= _CENTURY_TURN else 2000
    try:
        return date(full, month, day).isoformat()
    except ValueError:
        return ""


def folder_order(readings: Iterable[Reading]) -> Order:
    """Return the order that all clear numeric dates of a folder share; "" where they disagree or none is."""
    orders = {reading.order for reading in readings if reading.order}
    return orders.pop() if len(orders) == 1 else ""


def settle(reading: Reading, order: Order) -> str:
    """Return the ISO date, by the folder's order where the text alone does not say; else ""."""
    if not reading.ambiguous:
        return reading.iso
    return {"day first": reading.day_first, "month first": reading.month_first, "": ""}[order]
