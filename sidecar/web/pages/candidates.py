"""What agents proposed and no one has reviewed yet: each with its diff, what it is close to, and how to promote it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from difflib import unified_diff
from typing import Any

from seed.errors import SidecarError
from seed.git.tree import find, read_blob
from sidecar import candidates, pending
from sidecar.hints import write_hints
from sidecar.pending import Pending
from sidecar.query import Query
from sidecar.quote import one_line
from sidecar.web.given import Given
from sidecar.web.html import diff_lines, markdown
from sidecar.web.reader import Look, NotHereError, Page, Reader

_WAITING = Query(listing=True, statuses=("candidate",))
_SECONDS = 10.0


def page(reader: Reader, given: Given) -> Page:
    """Return what waits for a reviewer, oldest first; what was merged already is named so that it can be ended."""
    look = reader.look()
    listed = candidates.listing(look.provider, nearest=False)["candidates"]
    shown = _admitted(look)
    return Page("candidates.html", "Candidates", {
        "given": given,
        "waiting": [_told(one) for one in listed if one["state"] == "waiting" and one["id"].casefold() in shown],
        "merged": [one["id"] for one in listed if one["state"] == "merged"],
    })  # fmt: skip


def one(reader: Reader, given: Given) -> Page:
    """Return one candidate. Raises `SidecarError` where there is none of that id."""
    look = reader.look()
    key = given.name.casefold()
    listed = {entry["id"].casefold(): entry for entry in candidates.listing(look.provider, nearest=False)["candidates"]}
    if key not in listed or key not in _admitted(look):
        raise NotHereError(f"no candidate {one_line(given.name, 80)!r} waits", "see the list of candidates")
    waiting = pending.pending(look.provider.session.repo)
    mine = next(p for p in waiting if p.record.id.casefold() == key)
    return Page("candidate.html", f"Candidate {mine.record.id}", {
        "given": given,
        "one": _told(listed[key]),
        "body": markdown(mine.record.body, look.link),
        "diff": diff_lines(_diff(look, mine)),
        **_close(look, mine, waiting),
    })  # fmt: skip


def _admitted(look: Look) -> frozenset[str]:
    """Return the folded ids of the candidates that the door lets through."""
    return frozenset(look.told[n].id.casefold() for n in look.qualifying(_WAITING))


def _told(entry: dict[str, Any]) -> dict[str, Any]:
    age = entry["age_days"]
    by = ", ".join(f"{key} {value}" for key, value in entry["proposed_by"].items())
    told = "today" if age == 0 else "yesterday" if age == 1 else f"{age} days ago"
    return {**entry, "status": "candidate", "age": told, "by": by or entry["author"], "day": entry["date"][:10]}


def _diff(look: Look, mine: Pending) -> Iterator[str]:
    """Yield the change of its file against the commit that answers, without the two lines that name it."""
    repo, commit = look.provider.session.repo, look.view.commit
    entry = find(repo, commit, mine.path) if commit else None
    before = read_blob(repo, entry.blob).decode("utf-8", "replace") if entry else ""
    after = mine.data.decode("utf-8", "replace")
    lines = list(unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=3))
    yield from lines[2:]


def _close(look: Look, mine: Pending, waiting: list[Pending]) -> dict[str, Any]:
    """Return what it may repeat or contradict, by the evidence of recall, or why that could not be worked out."""
    provider, shown = look.provider, _admitted(look)
    others = [p for p in waiting if p is not mine and p.record.id.casefold() in shown]
    try:
        view = provider.session.view(budget=_SECONDS)
        hints = write_hints(provider, mine.record, others, replace(view, base=None), provider.clock())
    except SidecarError as exc:
        return {"hints": [], "fault": str(exc)}
    own = mine.record.id.casefold()
    return {"hints": [hint for hint in hints if hint["id"].casefold() != own], "fault": ""}
