"""All records by filter, or the answer to a question: the same answer that an agent gets, with its receipt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sidecar.query import Query
from sidecar.web.charts import bar
from sidecar.web.given import Given, pages, query
from sidecar.web.html import markdown, plural
from sidecar.web.reader import Look, Page, Reader

_MOST_TAGS = 200
_BUDGET = 30.0
_VERDICTS = {
    "match": ("good", "Match", "Words and meaning agree, or one of them is strong enough alone."),
    "weak": (
        "wait",
        "Weak match",
        "Something is above the floor, but the evidence is thin: confirm it before you rely on it.",
    ),
    "none": ("", "No match", "No record in force answers this."),
}


def page(reader: Reader, given: Given) -> Page:
    """Return a page of the list, or of an answer. Raises `SidecarError` for a filter that cannot be meant."""
    asked = query(given)
    look = reader.look()
    values = {"given": given, "filters": _filters(look, given), "narrowed": _narrowed(given)}
    if asked.question:
        return Page("search.html", f"Search: {asked.question[:60]}", values | _answer(look, asked, given))
    found = look.qualifying(asked)
    shown = pages(given, len(found))
    rows = look.rows(found[shown["start"] : shown["start"] + asked.limit])
    held = len(look.qualifying(_any_status(asked))) - len(found) if not asked.statuses else 0
    every = given.link(status="all", page="")
    return Page("records.html", "Records", values | {
        "rows": rows, "pages": shown, "total": len(found), "held": held, "every": every,
    })  # fmt: skip


def _any_status(asked: Query) -> Query:
    return replace(asked, statuses=("all",))


def _answer(look: Look, asked: Query, given: Given) -> dict[str, Any]:
    """Ask the provider, which leaves a receipt."""
    answer = look.provider.recall(asked, budget=_BUDGET)
    colour, word, meaning = _VERDICTS[answer["verdict"]]
    withheld = [
        plural(count, name.replace("_", " "), name.replace("_", " "))
        for name, count in answer["withheld"].items()
        if count
    ]
    return {
        "answer": answer,
        "verdict": {"colour": colour, "word": word, "meaning": meaning},
        "withheld": withheld,
        "passages": {one["id"]: markdown(one["passage"].get("text", ""), look.link) for one in answer["results"]},
        "bars": {result["id"]: bar(float(result["relevance"])) for result in answer["results"]},
        "nearest": [look.named(one["id"]) for one in answer.get("nearest", [])],
        "more": given.link(cursor=answer["next_cursor"]) if answer["has_more"] else "",
    }


def _filters(look: Look, given: Given) -> list[dict[str, Any]]:
    """Return the choices of each filter with how many records have them."""
    counts = look.counts

    def options(first: Iterable[tuple[str, str]], name: str, most: int = _MOST_TAGS) -> list[tuple[str, str]]:
        listed = [(value, f"{value} ({count:,})") for value, count in counts[name].most_common(most)]
        known = {value for value, _ in (*first, *listed)}
        return [*first, *listed, *([(given[name], given[name])] if given[name] not in known else [])]

    found = [
        {"name": "kind", "label": "Kind", "options": options([("", "Any kind")], "kind")},
        {
            "name": "status",
            "label": "Status",
            "options": options([("", "In force"), ("all", "Every status")], "status"),
        },
        {"name": "tag", "label": "Tag", "options": options([("", "Any tag")], "tag")},
    ]
    if counts["workspace"] or given["workspace"]:
        found.append(
            {"name": "workspace", "label": "Workspace", "options": options([("", "Every workspace")], "workspace")}
        )
    return [{**one, "chosen": given[str(one["name"])]} for one in found]


def _narrowed(given: Given) -> list[tuple[str, str, str]]:
    """Return the filters that have no field on the page: (name, value, address without it)."""
    return [
        (key, given[key], given.link(**{key: "", "page": ""}))
        for key in ("path", "trust", "after", "before")
        if given[key]
    ]
