"""One record: what it says, what became of it, and what it rests on."""

from __future__ import annotations

from typing import Any

from sidecar.web.given import Given
from sidecar.web.html import markdown
from sidecar.web.reader import Look, Page, Reader

_SECONDS = 5.0
_BODY = 60_000
"""Characters of a body on a page; the rest is a step away. Some Markdown takes its parser long, so there is a bound."""
_OPTIONAL = (
    "status_in_file",
    "date",
    "workspace",
    "valid_until",
    "source",
    "proposed_by",
    "branch",
    "extra",
    "on_base",
)


def page(reader: Reader, given: Given) -> Page:
    """Return one record by id or path of its file. Raises `SidecarError` where there is none."""
    look = reader.look()
    found = look.provider.show(given.name, at=given["at"], start=given["cursor"], budget=_SECONDS, size=_BODY)
    record = found["record"]
    values: dict[str, Any] = {
        "given": given,
        "found": found,
        "record": {**dict.fromkeys(_OPTIONAL), "tags": [], "conflicts": [], **record},
        "body": markdown(found["body"], _other(look, record["id"])),
        "chain": _chain(look, found),
        "links": [{**link, **_titled(look, link["id"])} for link in found["lineage"]],
        "cited": [{**cited, **_titled(look, cited["id"])} for cited in found["cited_by"]],
        "more": given.link(cursor=found["next_cursor"]) if found["next_cursor"] else "",
    }
    return Page("record.html", f"{record['id']}: {record['title']}", values)


def _other(look: Look, own: str) -> Any:  # noqa: ANN401 - a small closure
    return lambda ident: "" if ident.casefold() == own.casefold() else look.link(ident)


def _titled(look: Look, ident: str) -> dict[str, str]:
    return {"title": look.named(ident)["title"]}


def _chain(look: Look, found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the steps from the newest record to the oldest, the shown one among them; none where it stands alone."""
    steps = found["chain"]
    if not steps:
        return []
    record = found["record"]
    here = {"id": record["id"], "status": record["status"], "title": record["title"], "date": record.get("date", ""),
            "step": 0, "here": True}  # fmt: skip
    after = [step for step in steps if step["step"] > 0]
    before = [step for step in steps if step["step"] < 0]
    ordered = [*sorted(after, key=lambda s: -s["step"]), here, *sorted(before, key=lambda s: -s["step"])]
    return [{**step, "there": bool(look.link(step["id"]))} for step in ordered]
