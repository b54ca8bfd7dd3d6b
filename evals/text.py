"""A result as text for a terminal: one figure a line, with interval and resolution. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evals.metrics import FIGURES

_COUNTS = ("false_answers", "forbid_hits")


def lines(found: Mapping[str, Any]) -> list[str]:
    """Return the lines of a result: headline figures, languages, then what was got wrong."""
    counts = found["counts"]
    asked = f"{counts.get('answerable', 0)} answerable and {counts.get('unanswerable', 0)} unanswerable questions"
    head = f"{asked} on {counts['records']} records"
    if found["without"]:
        head += f", WITHOUT {', '.join(found['without'])}"
    shown = [head, *(figure_line(name, found["figures"][name]) for name in FIGURES)]
    for key, title in (
        ("by_kind", "kind"),
        ("by_class", "class"),
        ("by_corpus", "corpus"),
        ("by_language", "language"),
    ):
        shown += [_group_line(title, name, group) for name, group in found[key].items()]
    shown += [_wrong(q) for q in found["questions"] if not q["correct"]]
    return shown


def figure_line(name: str, figure: Mapping[str, Any]) -> str:
    """Return one figure as text; a count has no interval."""
    if figure["value"] is None:
        return f"{name:<22} -      nothing to measure"
    if name in _COUNTS:
        return f"{name:<22} {figure['value']:<6g} of {figure['n']}"
    return (
        f"{name:<22} {figure['value']:<6.3f} 95 % {figure['low']:.3f} to {figure['high']:.3f}, "
        f"n = {figure['n']}, resolution {figure['resolution']:.3f}"
    )


def _group_line(title: str, name: str, group: Mapping[str, Any]) -> str:
    values = {key: group[key]["value"] for key in ("recall@1", "recall@3", "recall@10", "answered_unanswerable")}
    told = ", ".join(f"{key} {value:.3f}" for key, value in values.items() if value is not None)
    mark = " (by construction)" if group.get("by_construction") else ""
    return f"{title} {name}{mark}: n = {group['n']}, {told}"


def _wrong(question: Mapping[str, Any]) -> str:
    came = ", ".join((*question["returned"][:3], *(f"against {i}" for i in question["decided_against"]))) or "nothing"
    want = ", ".join(question["expected"]) or "nothing"
    at = f" (rank {question['rank']})" if question["rank"] else ""
    return f"  {question['id']}: expected {want}{at}, got {came} [{question['verdict']}]"
