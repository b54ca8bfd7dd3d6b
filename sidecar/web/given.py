"""What a page was asked for: its address read into a query, and addresses of other pages made from it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from sidecar.query import Query, checked

SIZE = 50
"""Records on a page of a list."""


@dataclass(frozen=True, slots=True)
class Given:
    """The path of a page, the name at its end if it has one, and its parameters, the last of each."""

    path: str
    name: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, key: str) -> str:
        """Return a parameter, "" where it was not given."""
        return self.parameters.get(key, "").strip()

    def number(self, key: str, least: int = 1, most: int = 1_000_000) -> int:
        """Return a parameter as a whole number within bounds; anything else is the least."""
        text = self[key]
        return (
            min(max(int(text), least), most)
            if text.isascii() and text.isdigit() and len(text) < len("1000000000")
            else least
        )

    def link(self, **changes: object) -> str:
        """Return this page's address with parameters changed; empty ones are left out."""
        values = {**self.parameters, **{key: str(value) for key, value in changes.items()}}
        asked = urlencode({key: value for key, value in values.items() if value})
        return quote(self.path) + (f"?{asked}" if asked else "")


def query(given: Given, *, statuses: Sequence[str] = ()) -> Query:
    """Return the query of a page's parameters. Raises `SidecarError` naming the one that cannot be meant.

    ``statuses`` are those of a page that names none; without any, records in force.
    """

    def several(key: str) -> tuple[str, ...]:
        return (given[key],) if given[key] else ()

    asked = Query(
        question=given["q"],
        limit=20 if given["q"] else SIZE,
        cursor=given["cursor"],
        kinds=several("kind"),
        statuses=several("status") or tuple(statuses),
        tags=several("tag"),
        path=given["path"],
        workspace=given["workspace"],
        trust=given["trust"],
        after=given["after"],
        before=given["before"],
        listing=not given["q"],
    )
    return checked(asked)


def pages(given: Given, total: int, size: int = SIZE) -> dict[str, Any]:
    """Return where a list stands: ``at`` of ``last``, ``start``, and the addresses of the pages around it."""
    last = max(-(-total // size), 1)
    at = min(given.number("page"), last)

    def url(page: int) -> str:
        return given.link(page="" if page == 1 else page)

    shown = sorted({1, last, *(page for page in range(at - 1, at + 2) if 1 <= page <= last)})
    numbers: list[tuple[int, str]] = []
    for page in shown:
        if numbers and page > numbers[-1][0] + 1:
            numbers.append((0, ""))
        numbers.append((page, url(page)))
    return {
        "at": at,
        "last": last,
        "start": (at - 1) * size,
        "numbers": numbers,
        "previous": url(at - 1) if at > 1 else "",
        "next": url(at + 1) if at < last else "",
    }
