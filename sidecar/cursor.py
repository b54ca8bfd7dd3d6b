"""Cursors of paged answers: a place in one answer, bound to what was asked and to what it was answered from. Pure."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import replace

from seed.errors import SidecarError
from sidecar.query import Query
from sidecar.receipt import arguments, canonical


def issue(query: Query, snapshot: str, start: int) -> str:
    """Return the cursor of the page that begins at ``start`` (0-based) of this query over a snapshot (its key)."""
    return encode(start, _about(query, snapshot))


def start_of(query: Query, snapshot: str) -> int:
    """Return where the query's page begins. Raises `SidecarError` for a cursor of another question or snapshot."""
    return decode(query.cursor, _about(query, snapshot))


def encode(start: int, about: str) -> str:
    """Return the cursor of position ``start`` in the answer to ``about``, a text that names it fully."""
    return base64.urlsafe_b64encode(json.dumps([start, _digest(about)]).encode()).decode().rstrip("=")


def decode(cursor: str, about: str) -> int:
    """Return the position, 0 for an empty cursor. Raises `SidecarError` for one of another answer, or of none."""
    if not cursor:
        return 0
    try:
        start, digest = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, TypeError, RecursionError):
        raise SidecarError(
            "the cursor was not issued by this tool", "leave it out to start at the first page"
        ) from None
    if digest != _digest(about) or not isinstance(start, int) or start < 0:
        raise SidecarError(
            "the cursor belongs to another question or to records that have changed", "ask again without a cursor"
        )
    return start


def _about(query: Query, snapshot: str) -> str:
    asked = arguments(replace(query, cursor="", limit=1))
    return canonical([snapshot, query.question, list(query.also), asked])


def _digest(about: str) -> str:
    return hashlib.sha256(about.encode()).hexdigest()[:16]
