"""Cursors of paged answers: a place in one answer to one question over one snapshot. Pure."""

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
    plain = json.dumps([start, _digest(query, snapshot)])
    return base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")


def start_of(query: Query, snapshot: str) -> int:
    """Return where the query's page begins. Raises `SidecarError` for a cursor of another question or snapshot."""
    if not query.cursor:
        return 0
    try:
        start, digest = json.loads(base64.urlsafe_b64decode(query.cursor + "=" * (-len(query.cursor) % 4)))
    except (ValueError, TypeError):
        raise SidecarError(
            "the cursor was not issued by this tool", "leave it out to start at the first page"
        ) from None
    if digest != _digest(query, snapshot) or not isinstance(start, int) or start < 0:
        raise SidecarError(
            "the cursor belongs to another question or to records that have changed", "ask again without a cursor"
        )
    return start


def _digest(query: Query, snapshot: str) -> str:
    asked = arguments(replace(query, cursor="", limit=1))
    return hashlib.sha256(canonical([snapshot, query.question, list(query.also), asked]).encode()).hexdigest()[:16]
