"""Records in force that contradict each other, or may: what was judged, and what the last scan left to judge."""

from __future__ import annotations

from typing import Any

from sidecar import contradictions
from sidecar.web.given import Given, pages
from sidecar.web.reader import Look, Page, Reader

_SIZE = 20
_STATES = {"open": "Open", "closed": "Closed", "settled": "Judged"}


def page(reader: Reader, given: Given) -> Page:
    """Return recorded verdicts, open ones first, and a page of the pairs that wait for a judge."""
    look = reader.look()
    found = contradictions.listing(look.provider)
    shown = pages(given, len(found["hints"]), _SIZE)
    recorded = sorted(found["recorded"], key=lambda one: (one["state"] != "open", one["id"]))
    hints = found["hints"][shown["start"] : shown["start"] + _SIZE]
    return Page("conflicts.html", "Contradictions", {
        "given": given,
        "open": sum(one["state"] == "open" for one in recorded),
        "recorded": [{**one, "word": _STATES[one["state"]], "sides": _sides(look, one["ids"])} for one in recorded],
        "hints": [{**hint, "sides": _sides(look, hint["ids"])} for hint in hints],
        "total": len(found["hints"]),
        "pages": shown,
    })  # fmt: skip


def _sides(look: Look, ids: list[str]) -> list[dict[str, Any]]:
    return [dict(look.named(ident)) for ident in ids]
