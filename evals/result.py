"""The result of a run as one JSON object: figures, groups, every question, and the stamp of what was read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple
from typing import Any

from evals.metrics import FIGURES, Figure, Outcome, correct, curve, figures, forbidden, rank
from evals.questions import Question
from evals.run import Reply, Run

FORMAT = 1
Result = dict[str, Any]
_PREFIX = re.compile(r"^(.+?)[-_.]?\d[^/]*$")


def outcome(question: Question, reply: Reply) -> Outcome:
    """Return the outcome that the metrics measure."""
    return Outcome(
        question.expected,
        reply.results,
        reply.against,
        reply.verdict,
        reply.confidence,
        question.forbid,
        question.above,
        reply.ranked,
    )


def result(run: Run, digest: str, *, without: Sequence[str] = (), statuses: Sequence[str] = ()) -> Result:
    """Return the result of a run; ``digest`` is that of the question file. Plain numbers stand at the top level too."""
    headline = [(q, outcome(q, replies[q.language])) for q, replies in run.replies]
    measured = figures([o for _, o in headline])
    spent = sorted(r.milliseconds for _, replies in run.replies for r in replies.values())
    return {
        "format": FORMAT,
        **{name: measured[name].to_json()["value"] for name in FIGURES},
        "figures": _json(measured),
        "by_kind": _groups(headline, lambda q: [q.kind]),
        "by_class": _groups(headline, lambda q: q.classes),
        "by_corpus": _groups(headline, corpora),
        "by_language": _languages(run),
        "by_construction": sorted(q.id for q, _ in headline if q.by_construction),
        "curve": [[round(x, 4) for x in astuple(point)] for point in curve([o for _, o in headline])],
        "questions": [_question(q, replies) for q, replies in run.replies],
        "reviews": [{**asdict(r), "successors": list(r.successors)} for r in run.reviews],
        "counts": {**_classes(headline), "records": run.records},
        "without": list(without),
        "statuses": list(statuses),
        "timing": {
            **{key: run.seeded[key] for key in ("seconds", "embedded", "cached")},
            "median_ms": round(_percentile(spent, 0.5), 2),
            "p95_ms": round(_percentile(spent, 0.95), 2),
        },
        "stamp": {**run.stamp, "questions": digest},
    }


def comparable(found: Result) -> Result:
    """Return the part of a result that has to be equal when nothing that was read differs."""
    return {key: value for key, value in found.items() if key not in ("timing", "stamp")}


def corpora(question: Question) -> list[str]:
    """Return the corpora a question belongs to: its own key, else the prefixes of the ids it expects."""
    if question.corpus:
        return [question.corpus]
    found = (_PREFIX.match(ident) for ident in question.expected)
    return list(dict.fromkeys(match.group(1) for match in found if match))


def _groups(
    outcomes: Sequence[tuple[Question, Outcome]], names: Callable[[Question], Sequence[str]]
) -> dict[str, dict[str, Any]]:
    members: dict[str, list[tuple[Question, Outcome]]] = {}
    for question, found in outcomes:
        for name in names(question):
            members.setdefault(name, []).append((question, found))
    return {name: _group(group) for name, group in sorted(members.items())}


def _group(members: Sequence[tuple[Question, Outcome]]) -> dict[str, Any]:
    constructed = all(question.by_construction for question, _ in members)
    return {"n": len(members), "by_construction": constructed, **_json(figures([found for _, found in members]))}


def _languages(run: Run) -> dict[str, dict[str, Any]]:
    members: dict[str, list[tuple[Question, Outcome]]] = {}
    for question, replies in run.replies:
        for language, reply in replies.items():
            members.setdefault(language, []).append((question, outcome(question, reply)))
    return {name: _group(group) for name, group in sorted(members.items())}


def _classes(outcomes: Sequence[tuple[Question, Outcome]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for question, _ in outcomes:
        for name in dict.fromkeys((*question.classes, question.kind)):
            found[name] = found.get(name, 0) + 1
    return dict(sorted(found.items()))


def _question(question: Question, replies: Mapping[str, Reply]) -> dict[str, Any]:
    head, *others = question.texts
    found = {
        "id": question.id,
        "kind": question.kind,
        "class": question.classes[0],
        "line": question.line,
        "unanswerable": question.unanswerable,
        "expected": list(question.expected),
        "language": head,
        "question": question.texts[head],
        **_reply(question, replies[head]),
    }
    if others:
        found["variants"] = {
            language: {"question": question.texts[language], **_reply(question, replies[language])}
            for language in others
        }
    return found


def _reply(question: Question, reply: Reply) -> dict[str, Any]:
    found = outcome(question, reply)
    return {
        "verdict": reply.verdict,
        "correct": correct(found),
        "rank": rank(found),
        "returned": list(reply.results),
        "decided_against": list(reply.against),
        "scores": list(reply.scores),
        "confidence": reply.confidence,
        "cosine": reply.cosine,
        "floor": reply.floor,
        "forbidden": forbidden(found),
    }


def _json(found: Mapping[str, Figure]) -> dict[str, Any]:
    return {name: figure.to_json() for name, figure in found.items()}


def _percentile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0.0
