"""Cursors of paged answers: a place in one answer, bound to what was asked and to what it was answered from. Pure."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

from seed.errors import SidecarError
from sidecar.query import Query
from sidecar.receipt import arguments, canonical

_ISSUED = re.compile(r"(\d{1,12})\.([0-9a-f]{12})", re.ASCII)


def issue(query: Query, snapshot: str, start: int) -> str:
    """Return the cursor of the page that begins at ``start`` (0-based) of this query over a snapshot (its key)."""
    return encode(start, _about(query, snapshot))


def start_of(query: Query, snapshot: str) -> int:
    """Return where the query's page begins. Raises `SidecarError` for a cursor of another question or snapshot."""
    return decode(query.cursor, _about(query, snapshot))


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
        raise SidecarError(
            "the cursor belongs to another question or to records that have changed", "ask again without a cursor"
        )
    return int(issued[1])


def _about(query: Query, snapshot: str) -> str:
    asked = arguments(replace(query, cursor="", limit=1))
    return canonical([snapshot, query.question, list(query.also), asked])


def _digest(about: str) -> str:
    return hashlib.sha256(about.encode()).hexdigest()[:12]
