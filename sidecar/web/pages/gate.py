"""How well recall did each time it was measured, and what the floor trades."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sidecar.web.charts import risk_coverage, trend
from sidecar.web.given import Given
from sidecar.web.reader import Page, Reader
from sidecar.web.results import FOLDER, Result, load

_SHARES = ("recall@3", "answered_answerable")
_COLUMNS = ("recall@3", "answered_answerable", "false_answers")
_COUNTS = ("false_answers", "forbid_hits")
_MEANING = {
    "recall@1": "expected record first",
    "recall@3": "expected record among the first 3",
    "recall@10": "expected record among the first 10",
    "mrr": "mean of 1 / its rank",
    "answered_answerable": "answerable questions answered",
    "false_answers": "unanswerable questions answered",
    "noise": "records per unanswerable question",
    "forbid_hits": "records that must never come back",
}


def page(reader: Reader, given: Given, folder: Path | None = None) -> Page:
    """Return the newest result, or the one named ``result``, and the history of all of them."""
    repo = reader.provider.session.repo
    where = folder or Path(repo.root) / FOLDER
    found, faults = load(where, repo)
    shown = next((one for one in found if one.name == given["result"]), found[-1] if found else None)
    values: dict[str, Any] = {"given": given, "where": str(where), "faults": faults, "shown": shown, "history": []}
    if shown is not None:
        values |= _drawn(shown, found)
        values["history"] = [
            {"result": one, "url": given.link(result=one.name), "here": one is shown,
             **{name.replace("@", ""): one.figure(name) for name in _COLUMNS}}
            for one in reversed(found)
        ]  # fmt: skip
    return Page("gate.html", "Gate", values)


def _drawn(shown: Result, found: list[Result]) -> dict[str, Any]:
    series = [
        (name, colour, [one.figure(name) for one in found])
        for name, colour in zip(_SHARES, ("first", "second"), strict=True)
    ]
    return {
        "cards": [
            {"figure": figure, "meaning": _MEANING.get(figure.name, ""), "count": figure.name in _COUNTS}
            for figure in shown.figures
        ],
        "curve": risk_coverage(shown.curve, shown.here) if shown.curve else "",
        "trend": trend(series, "results, oldest to newest") if len(found) > 1 else "",
        "series": _SHARES,
    }
