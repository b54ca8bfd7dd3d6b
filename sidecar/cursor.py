"""Cursors of paged answers: a place in one answer, bound to what was asked and to what it was answered from. Pure."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

from seed.errors import SidecarError
from sidecar.query import Query
from sidecar.receipt import arguments, canonical

_ISSUED = re.compile(r"(\d{1,12})\.([0-9a-f]{12})([0-9a-f]{6})?", re.ASCII)
_AGAIN = "ask again without a cursor"


class MovedError(SidecarError):
    """A cursor's answer has another order by now, or none: the next page of it would repeat or lose records."""


def issue(query: Query, snapshot: str, stand: str, start: int) -> str:
    """Return the cursor of the page that begins at ``start`` (0-based) of this query over a snapshot (its key).

    ``stand`` names what the order hangs on beside both: the vectors that were there, and the day.
    """
    return encode(start, _about(query, snapshot)) + _digest(stand)[:6]


def start_of(query: Query, snapshot: str, stand: str = "") -> int:
    """Return where the query's page begins; without ``stand`` whatever the order hangs on now.

    Raises `SidecarError` for a cursor of another question or snapshot, `MovedError` for another order.
    """
    start = decode(query.cursor, _about(query, snapshot))
    if stand and query.cursor and not query.cursor.endswith(_digest(stand)[:6]):
        raise MovedError("the order has changed since this cursor was issued: more is embedded, or a day began", _AGAIN)
    return start


def encode(start: int, about: str) -> str:
    """Return the cursor of position ``start`` in the answer to ``about``, a text that names it fully.

    Short and plain, for an agent pays for each character of it.
    """
    return f"{start}.{_digest(about)}"


def decode(cursor: str, about: str) -> int:
    """Return the position, 0 for an empty cursor. Raises `SidecarError` for one of another answer, or of none."""
    if not cursor:
        return 0
    issued = _ISSUED.fullmatch(cursor)
    if issued is None:
        raise SidecarError("the cursor was not issued by this tool", "leave it out to start at the first page")
    if issued[2] != _digest(about):
        raise MovedError("the cursor belongs to another question or to records that have changed", _AGAIN)
    return int(issued[1])


def _about(query: Query, snapshot: str) -> str:
    asked = arguments(replace(query, cursor="", limit=1))
    return canonical([snapshot, query.question, list(query.also), asked])


def _digest(about: str) -> str:
    return hashlib.sha256(about.encode()).hexdigest()[:12]
