"""The first page: what is here, and where to find it."""

from __future__ import annotations

from sidecar.query import IN_FORCE, Query
from sidecar.web.given import Given
from sidecar.web.reader import Page, Reader

_LATEST = 6


def page(reader: Reader, _given: Given) -> Page:
    """Return counts, the newest decisions, and what waits for a person."""
    look = reader.look()
    counts = look.counts
    newest = look.qualifying(Query(listing=True, kinds=("decision", "adr")))[:_LATEST]
    values = {
        "total": len(look.told),
        "in_force": sum(counts["status"][name] for name in IN_FORCE),
        "kinds": counts["kind"].most_common(),
        "statuses": counts["status"].most_common(),
        "waiting": counts["status"]["candidate"],
        "unreadable": len(look.view.corpus.snapshot.unreadable),
        "receipts": look.provider.receipts.count(),
        "newest": look.rows(newest),
    }
    return Page("home.html", "Home", values)
