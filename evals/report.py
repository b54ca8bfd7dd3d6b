"""A result as one self-contained page: no script, nothing fetched, light and dark, readable on a phone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from evals.charts import distribution, risk_coverage
from evals.metrics import COUNTS, FIGURES
from evals.text import cell

_HEADLINE = ("recall@1", "recall@3", "recall@10", "mrr", "ndcg@10", "answered_answerable", "false_answers", "noise",
             "pairwise", "coverage@0", "coverage@0.05", "forbid_hits")  # fmt: skip
_GROUPS = {"by_class": "Class", "by_kind": "Kind", "by_corpus": "Corpus", "by_language": "Language"}
_GROUP_FIGURES = ("recall@1", "recall@3", "recall@10", "mrr", "answered_answerable", "false_answers", "noise")
_CELLS = 10
Html = str


def page(found: Mapping[str, Any]) -> str:
    """Return the page of a result. Raises `SidecarError` where the charts' library is missing."""
    counts = found["counts"]
    title = (
        f"Recall on {counts.get('answerable', 0)} answerable and {counts.get('unanswerable', 0)} unanswerable questions"
    )
    sections = (_head(title, found), _gate(found), _cards(found), _charts(found), _groups(found), _ranks(found),
                _unanswerable(found), _controls(found), _embedders(found), _changes(found), _stamp(found))  # fmt: skip
    template = Template(files("evals").joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute(title=escape(title), body="\n".join(part for part in sections if part))


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> Html:
    """Return a table that scrolls by itself where it is too wide; a cell (class, value) gets that class."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(_td(value) for value in row)}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _td(value: object) -> Html:
    if isinstance(value, tuple):
        return f'<td class="{escape(value[0])}">{escape(cell(value[1]))}</td>'
    return f"<td>{escape(cell(value))}</td>"


def _head(title: str, found: Mapping[str, Any]) -> Html:
    stamp = found["stamp"]
    removed = f" <b>Without {escape(', '.join(found['without']))}.</b>" if found["without"] else ""
    about = f"{found['counts']['records']} records of {stamp['commit'][:12] or 'no commit'}, sidecar {stamp['version']}"
    return f"<h1>{escape(title)}</h1><p>{escape(about)}.{removed}</p>"


def _gate(found: Mapping[str, Any]) -> Html:
    if "gate" not in found:
        return ""
    gate = found["gate"]
    state = "passed" if gate["passed"] else "failed"
    told = "".join(f"<li>{escape(text)}</li>" for text in (*gate["failures"], *gate["warnings"]))
    return f'<div class="banner {state}"><b>The gate {state}.</b><ul>{told}</ul></div>'


def _cards(found: Mapping[str, Any]) -> Html:
    cards = "".join(_card(name, found["figures"][name]) for name in _HEADLINE)
    return f'<h2>Figures</h2><div class="cards">{cards}</div>'


def _card(name: str, figure: Mapping[str, Any]) -> Html:
    value = cell(figure["value"])
    interval = f"95 %: {cell(figure['low'])} to {cell(figure['high'])}" if figure["low"] is not None else ""
    size = f"n = {figure['n']}, resolution {cell(figure['resolution'])}" if figure["n"] else "nothing to measure"
    if name in COUNTS:
        size = f"of {figure['n']}"
    lines = "".join(f"<span>{escape(text)}</span>" for text in (name, interval, size) if text)
    return f'<div class="card"><b>{escape(value)}</b>{lines}</div>'


def _charts(found: Mapping[str, Any]) -> Html:
    floors = sorted({q["floor"] for q in found["questions"]})
    told = ", ".join(cell(floor) for floor in floors)
    evidence = f"Evidence of the best record of each question; dashed, the floor {told}. Exact tokens stand rightmost."
    drawn = {
        "Risk and coverage: what each threshold would answer, and what the floor in force does.": risk_coverage(found),
        evidence: distribution(found, "confidence", "evidence before the floor", floors),
        "Cosine of the nearest passage for each question.": distribution(found, "cosine", "cosine", ()),
    }
    figures = "".join(f"<figure>{svg}<figcaption>{escape(text)}</figcaption></figure>" for text, svg in drawn.items())
    return f'<h2>What the evidence tells apart</h2><div class="charts">{figures}</div>'


def _groups(found: Mapping[str, Any]) -> Html:
    parts = []
    for key, title in _GROUPS.items():
        rows = [
            [name + (" (by construction)" if group["by_construction"] else ""), group["n"],
             *(group[figure]["value"] if group[figure]["n"] else None for figure in _GROUP_FIGURES)]
            for name, group in found[key].items()
        ]  # fmt: skip
        parts.append(f"<h2>By {title.lower()}</h2>" + table([title, "n", *_GROUP_FIGURES], rows))
    return "".join(parts)


def _replies(question: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield (language, wording, reply) of a question."""
    yield question["language"], question["question"], question
    for language, reply in question.get("variants", {}).items():
        yield language, reply["question"], reply


def _ranks(found: Mapping[str, Any]) -> Html:
    rows = [
        _question(f"{question['id']} {language}", text, question["expected"], reply)
        for question in found["questions"] if question["expected"]
        for language, text, reply in _replies(question)
    ]  # fmt: skip
    lead = "<p>The first ten places; filled where an expected record stands.</p>"
    return "<h2>Rank of each expected record</h2>" + lead + "".join(rows)


def _question(name: str, text: str, expected: Sequence[str], reply: Mapping[str, Any]) -> Html:
    wanted = {ident.casefold() for ident in expected}
    back = [ident.casefold() for ident in reply["returned"]]
    states = ["hit" if ident in wanted else "back" for ident in back] + [""] * (_CELLS - len(back))
    strip = "".join(f'<i class="{state}"></i>' for state in states[:_CELLS])
    ranks = ", ".join(_rank(ident, back, reply["decided_against"]) for ident in expected)
    mark = "right" if reply["correct"] else "wrong"
    return (
        f'<div class="question"><span class="mark {mark}">{escape(name)}</span>'
        f'<span>{escape(text)}<br><span class="soft">{escape(ranks)}</span></span>'
        f'<span><span class="strip" aria-hidden="true">{strip}</span>'
        f'<span class="soft">{escape(reply["verdict"])}</span></span></div>'
    )


def _rank(ident: str, back: Sequence[str], against: Sequence[str]) -> str:
    if ident.casefold() in back:
        return f"{ident}: rank {back.index(ident.casefold()) + 1}"
    beside = ident.casefold() in {other.casefold() for other in against}
    return f"{ident}: {'decided against, beside the results' if beside else 'not found'}"


def _unanswerable(found: Mapping[str, Any]) -> Html:
    rows = [
        [question["id"], language, question["unanswerable"], text, _verdict(reply["verdict"]), _came_back(reply)]
        for question in found["questions"]
        if not question["expected"]
        for language, text, reply in _replies(question)
    ]
    header = ["question", "language", "class", "wording", "verdict", "came back"]
    return "<h2>Questions without an answer</h2>" + table(header, rows) if rows else ""


def _verdict(verdict: str) -> tuple[str, str]:
    return ("" if verdict == "none" else "worse", verdict)


def _came_back(reply: Mapping[str, Any]) -> str:
    return ", ".join((*reply["returned"], *reply["decided_against"]))


def _controls(found: Mapping[str, Any]) -> Html:
    if "controls" not in found:
        return ""
    rows = [["all rules", *(found[name] for name in _GROUP_FIGURES), ""]]
    rows += [
        [f"without {rule}", *(control["figures"][name] for name in _GROUP_FIGURES), ", ".join(control["caught_by"])]
        for rule, control in found["controls"].items()
    ]
    return "<h2>One rule removed at a time</h2>" + table(["", *_GROUP_FIGURES, "the gate fails by"], rows)


def _embedders(found: Mapping[str, Any]) -> Html:
    if "embedders" not in found:
        return ""
    header = [key for key in found["embedders"][0] if key != "identity"]
    rows = [
        [", ".join(map(cell, row[key])) if isinstance(row[key], list) else row[key] for key in header]
        for row in found["embedders"]
    ]
    return "<h2>Models, each with its own floor</h2>" + table(header, rows)


def _changes(found: Mapping[str, Any]) -> Html:
    if "comparison" not in found:
        return ""
    comparison = found["comparison"]
    moved = [
        [name, f["old"], f["new"], f["difference"], (f["verdict"].split()[0], f["verdict"])]
        for name, f in ((name, comparison["figures"][name]) for name in FIGURES)
    ]
    changed = [
        [q["id"], q["language"], q["change"], *(_brief(q[side]) for side in ("old", "new"))]
        for q in comparison["questions"]
    ]
    lead = f"<p>{escape('; '.join(comparison['inputs']) or 'Every input is the same')}.</p>"
    figures = table(["figure", "old", "new", "difference", "verdict"], moved)
    return f"<h2>Since the baseline</h2>{lead}{figures}" + table(
        ["question", "language", "change", "old", "new"], changed
    )


def _brief(reply: Mapping[str, Any] | None) -> str:
    if reply is None:
        return "-"
    return f"{reply['verdict']}, rank {reply['rank'] or '-'}: {', '.join(reply['returned'][:3]) or 'nothing'}"


def _stamp(found: Mapping[str, Any]) -> Html:
    rows = [[name, ", ".join(value) if isinstance(value, list) else value] for name, value in found["stamp"].items()]
    return "<h2>Made from</h2>" + table(["input", "value"], rows)
