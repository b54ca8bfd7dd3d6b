"""A result as text for a terminal: one figure a line, with interval and resolution. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evals.metrics import COUNTS, FIGURES

_GROUPS = {"by_kind": "kind", "by_class": "class", "by_corpus": "corpus", "by_language": "language"}
_TABLE = ("recall@1", "recall@3", "recall@10", "mrr", "answered_answerable", "false_answers", "noise")


def lines(found: Mapping[str, Any]) -> list[str]:
    """Return the lines of a result: figures, groups, what was got wrong, then whatever else was asked for."""
    shown = [_head(found)]
    plain = found.get("plain", {})
    for name in FIGURES:
        beside = f"   with it {plain[name]:.3f}" if plain.get(name) is not None else ""
        shown.append(figure_line(name, found["figures"][name]) + beside)
    for key, title in _GROUPS.items():
        shown += [_group_line(title, name, group) for name, group in found[key].items()]
    shown += [_wrong(q) for q in found["questions"] if not q["correct"]]
    for key, part in (("controls", _controls), ("embedders", _embedders), ("repeat", _repeat),
                      ("comparison", _comparison), ("gate", _gate)):  # fmt: skip
        if key in found:
            shown += ["", *part(found[key])]
    return shown


def _head(found: Mapping[str, Any]) -> str:
    counts, stamp = found["counts"], found["stamp"]
    asked = f"{counts.get('answerable', 0)} answerable and {counts.get('unanswerable', 0)} unanswerable questions"
    removed = f", WITHOUT {', '.join(found['without'])}" if found["without"] else ""
    cached = ", from the cache" if found.get("cached") else ""
    return f"{asked} on {counts['records']} records of {stamp['commit'][:12] or 'no commit'}{removed}{cached}"


def figure_line(name: str, figure: Mapping[str, Any]) -> str:
    """Return one figure as text; a count has no interval."""
    if figure["value"] is None:
        return f"{name:<22} -      nothing to measure"
    if name in COUNTS:
        return f"{name:<22} {figure['value']:<6g} of {figure['n']}"
    interval = f"95 % {figure['low']:.3f} to {figure['high']:.3f}"
    return f"{name:<22} {figure['value']:<6.3f} {interval}, n = {figure['n']}, resolution {figure['resolution']:.3f}"


def _group_line(title: str, name: str, group: Mapping[str, Any]) -> str:
    values = {key: group[key]["value"] for key in ("recall@1", "recall@3", "recall@10", "answered_unanswerable")}
    told = ", ".join(f"{key} {value:.3f}" for key, value in values.items() if value is not None)
    mark = " (by construction)" if group["by_construction"] else ""
    return f"{title} {name}{mark}: n = {group['n']}, {told}"


def _wrong(question: Mapping[str, Any]) -> str:
    came = ", ".join((*question["returned"][:3], *(f"against {i}" for i in question["decided_against"]))) or "nothing"
    want = ", ".join(question["expected"]) or "nothing"
    at = f" (rank {question['rank']})" if question["rank"] else ""
    return f"  {question['id']}: expected {want}{at}, got {came} [{question['verdict']}]"


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Yield the lines of a table whose columns are as wide as they need to be."""
    cells = [list(header), *([cell(value) for value in row] for row in rows)]
    widths = [max(len(row[n]) for row in cells) for n in range(len(header))]
    for row in cells:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def cell(value: object) -> str:
    """Return a value as it is shown: numbers with up to three decimals, "-" for nothing."""
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return "-" if value is None else str(value)


def _controls(controls: Mapping[str, Any]) -> list[str]:
    rows = [[f"without {rule}", *(c["figures"][name] for name in _TABLE), _caught(c)] for rule, c in controls.items()]
    return list(table(["control", *_TABLE, "gate"], rows))


def _caught(control: Mapping[str, Any]) -> str:
    if control["caught_by"]:
        return f"fails by {', '.join(control['caught_by'])}"
    return "passes, but must fail" if control["matters"] else "passes"


def _embedders(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    header = [key for key in rows[0] if key != "identity"]
    return list(table(header, [[_joined(row[key]) for key in header] for row in rows]))


def _joined(value: object) -> object:
    return ", ".join(cell(v) for v in value) if isinstance(value, list) else value


def _repeat(repeat: Mapping[str, Any]) -> list[str]:
    same = "equal" if repeat["equal"] else f"different for {', '.join(repeat['differs'])}"
    return [f"asked {repeat['times']} times: {same}"]


def _comparison(found: Mapping[str, Any]) -> list[str]:
    moved = [[name, f["old"], f["new"], f["difference"], f["verdict"]] for name, f in found["figures"].items()]
    shown = [f"against the baseline: {text}" for text in found["inputs"]]
    shown += table(["figure", "old", "new", "difference", "verdict"], moved)
    for question in found["questions"]:
        old, new = (_reply(question[side]) for side in ("old", "new"))
        shown.append(f"  {question['id']} ({question['language']}) {question['change']}: {old} -> {new}")
    return shown


def _reply(reply: Mapping[str, Any] | None) -> str:
    if reply is None:
        return "-"
    return f"{reply['verdict']}, rank {reply['rank'] or '-'}, {', '.join(reply['returned'][:3]) or 'nothing'}"


def _gate(gate: Mapping[str, Any]) -> list[str]:
    shown = [f"gate: {text}" for text in (*gate["failures"], *gate["warnings"])]
    spare = ", ".join(f"{name} {left}" for name, left in gate["spare"].items())
    verdict = "passed" if gate["passed"] else f"FAILED, {len(gate['failures'])} fell short"
    return [*shown, f"gate {verdict}" + (f"; questions to spare: {spare}" if spare else "")]


def relabelling(changes: Sequence[Mapping[str, Any]], where: str) -> list[str]:
    """Return label changes as lines of a diff to review."""
    shown = []
    for change in changes:
        shown += [f"{where}:{change['line']}: {reason}" for reason in change["reasons"]]
        shown += [
            f"-   expected: [{', '.join(change['expected'])}]",
            f"+   expected: [{', '.join(change['suggested'])}]",
        ]
    return shown or ["every label still holds"]
