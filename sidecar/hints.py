"""What a proposal is close to, said before it is written: likely duplicates, and records it may contradict.

Hints rest on the same evidence as recall and are marked as hints: whoever proposes, or reviews, judges.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from seed import text
from seed.errors import SidecarError
from seed.git.tree import UnreadableBlobError, read_blob
from seed.reader import parse_record
from seed.record import Record
from sidecar.pending import Pending
from sidecar.query import Query
from sidecar.similar import ALIKE, SAME, bag, overlap

if TYPE_CHECKING:
    from sidecar.provider import Provider
    from sidecar.session import View

_MOST = 5
_LIMIT = 10
_BODY_CHARACTERS = 700
_NEGATION = re.compile(r"\b(?:not?|never|without|neither|nor|none|cannot)\b|n't\b|[不非無无未]", re.IGNORECASE)
_DECIDING = ("supersedes", "refutes")


def says_the_same(one: Record, other: Record) -> bool:
    """Tell whether two records of a kind say the same: nearly the same words, the same negations, numbers and names.

    Words alone would take "use X" and "do not use X" for one proposal.
    """
    if one.kind != other.kind or set(one.relations) != set(other.relations):
        return False
    return overlap(bag(one), bag(other)) >= SAME and _marks(one) == _marks(other)


def _marks(record: Record) -> tuple[int, frozenset[str]]:
    whole = f"{record.title}\n{record.body}"
    return len(_NEGATION.findall(whole)), frozenset(text.exact_tokens(whole))


def twin_of(record: Record, waiting: Sequence[Pending]) -> Pending | None:
    """Return the pending candidate that says the same, or None."""
    return next((one for one in waiting if says_the_same(record, one.record)), None)


def write_hints(
    provider: Provider, record: Record, waiting: Sequence[Pending], view: View, now: datetime
) -> list[dict[str, Any]]:
    """Return what a proposal is close to, likeliest duplicates first, at most five.

    Each is ``{"hint": near_duplicate|may_contradict|decided_against|needs_user_confirmation, "id", "title", "status",
    "overlap", "why"}``; ``overlap`` is the share of words in common, 0 to 1.
    """
    own = bag(record)
    named = {target.casefold() for _, target in record.relations}
    found = []
    for entry, against in _near(provider, record, view, now):
        held = _record(provider, entry["blob"])
        share = round(overlap(own, bag(held)), 2) if held else 0.0
        if entry["id"].casefold() in named and share < ALIKE:
            continue
        hint = "near_duplicate" if share >= ALIKE else "decided_against" if against else "may_contradict"
        found.append(_hint(hint, entry, share, entry.get("why", "")))
    for one in waiting:
        share = round(overlap(own, bag(one.record)), 2)
        if share >= ALIKE:
            told = {"id": one.record.id, "title": one.record.title, "status": "candidate"}
            found.append(_hint("near_duplicate", told, share, "waits for a reviewer"))
    found += _confirmed(record, view)
    # A stable sort: of equal overlap the order of recall stays.
    return sorted(found, key=lambda one: -one["overlap"])[:_MOST]


def _near(provider: Provider, record: Record, view: View, now: datetime) -> list[tuple[dict[str, Any], bool]]:
    """Return (entry, decided against) of what recall has for the title, and for the body by itself, each once."""
    found: dict[str, tuple[dict[str, Any], bool]] = {}
    for question in (record.title, record.body[:_BODY_CHARACTERS]):
        if question.strip():
            answer, _ = provider.answer(Query(question.strip(), limit=_LIMIT), view, now)
            for name in ("results", "decided_against"):
                for entry in answer[name]:
                    found.setdefault(entry["blob"], (entry, name == "decided_against"))
    return list(found.values())


def _hint(hint: str, entry: dict[str, Any], share: float, why: str) -> dict[str, Any]:
    return {"hint": hint, "id": entry["id"], "title": entry["title"], "status": entry["status"], "overlap": share,
            "why": why}  # fmt: skip


def _record(provider: Provider, blob: str) -> Record | None:
    try:
        return parse_record(read_blob(provider.session.repo, blob)).record
    except UnreadableBlobError:
        return None


def _confirmed(record: Record, view: View) -> list[dict[str, Any]]:
    """Return the records in force that a user confirmed and that this one would overturn."""
    found = []
    for relation in _DECIDING:
        for target in record.related(relation):
            for n in view.corpus.ordinals(target):
                held = view.corpus.heads[n]
                if held.record.trust == "user_confirmed":
                    told = {"id": held.record.id, "title": held.record.title, "status": held.status}
                    why = f"a user confirmed it: what {relation} it must be confirmed by a user too when it is promoted"
                    found.append(_hint("needs_user_confirmation", told, 0.0, why))
    return found


def unknown_targets(record: Record, view: View) -> list[str]:
    """Return a warning for each record that a proposal names and that is not there."""
    return [
        f"{relation} names {target!r}, and no record here has that id"
        for relation, target in record.relations
        if not view.corpus.ordinals(target)
    ]


def hints_or_reason(
    provider: Provider, record: Record, waiting: Sequence[Pending], now: datetime, budget: float
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return (hints, warnings); a store that cannot answer is a warning, never a reason to lose a proposal."""
    try:
        view = provider.session.view(budget=budget)
        return write_hints(provider, record, waiting, view, now), unknown_targets(record, view)
    except SidecarError as exc:
        return [], [f"what it is close to could not be looked up: {exc.message}"]
