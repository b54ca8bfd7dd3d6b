"""Decisions in the order in which they were taken, and what replaced them."""

from __future__ import annotations

from calendar import monthrange
from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from itertools import groupby
from typing import Any

from seed.record import KINDS, parse_day
from sidecar.web.charts import columns
from sidecar.web.given import Given, pages, query
from sidecar.web.reader import Look, Page, Reader

_DECIDED = ("decision", "adr")
_DAYS, _MONTHS, _YEARS = 62, 60, 60
_LEAST = 3
_NAMES = "January February March April May June July August September October November December".split()


def page(reader: Reader, given: Given) -> Page:
    """Return a page of the timeline, newest first. Raises `SidecarError` for a filter that cannot be meant."""
    asked = query(given, statuses=("all",))
    if not asked.kinds:
        asked = replace(asked, kinds=_DECIDED)
    elif given["kind"] == "all":
        asked = replace(asked, kinds=())
    look = reader.look()
    found = look.qualifying(asked)
    shown = pages(given, len(found))
    rows = look.rows(found[shown["start"] : shown["start"] + asked.limit])
    whole = look.qualifying(replace(asked, after="", before=""))
    return Page("timeline.html", "Timeline", {
        "given": given,
        "periods": [(name, list(group)) for name, group in groupby(rows, key=lambda row: _period(row["date"]))],
        "pages": shown,
        "total": len(found),
        "kinds": [("", "Decisions and ADRs"), *((kind, kind) for kind in KINDS)],
        "statuses": [("", "Every status"), *((name, name) for name in look.counts["status"])],
        "narrowed": given["after"] or given["before"],
        **_columns(look, whole, given),
    })  # fmt: skip


def _period(text: str) -> str:
    day = parse_day(text)
    return f"{_NAMES[day.month - 1]} {day.year}" if day else "Without a date"


def _columns(look: Look, ordinals: list[int], given: Given) -> dict[str, Any]:
    """Return the columns over the whole time, each a day, a month or a year, whichever leaves few enough."""
    dated = (parse_day(look.told[n].date) for n in ordinals)
    days = Counter(day for day in dated if day)
    if not days:
        return {"columns": "", "first": "", "last": ""}
    spans = _spans(min(days), max(days))
    if len(spans) < _LEAST:
        return {"columns": "", "first": "", "last": ""}
    counts = [
        (name, sum(days[day] for day in days if first <= day <= last),
         given.link(after=first.isoformat(), before=last.isoformat(), page=""))
        for name, first, last in spans
    ]  # fmt: skip
    return {"columns": columns(counts), "first": spans[0][0], "last": spans[-1][0]}


def _spans(first: date, last: date) -> list[tuple[str, date, date]]:
    """Return the spans from one day to another: (name, first day, last day)."""
    if (last - first).days < _DAYS:
        days = [first + timedelta(n) for n in range((last - first).days + 1)]
        return [(day.isoformat(), day, day) for day in days]
    count = 12 * (last.year - first.year) + last.month - first.month + 1
    if count <= _MONTHS:
        months = [((first.month - 1 + n) // 12 + first.year, (first.month - 1 + n) % 12 + 1) for n in range(count)]
        return [(f"{_NAMES[m - 1]} {y}", date(y, m, 1), date(y, m, monthrange(y, m)[1])) for y, m in months]
    step = -(-(last.year - first.year + 1) // _YEARS)
    years = [(year, min(year + step - 1, last.year)) for year in range(first.year, last.year + 1, step)]
    return [(str(a) if a == b else f"{a} to {b}", date(a, 1, 1), date(b, 12, 31)) for a, b in years]
