from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.gate import judge
from evals.gates import Gates, gates_schema, parse_gates
from seed.errors import SidecarError
from sidecar.cli import main

GATES = """
minimum: {recall@3: 1.0, answered_answerable: 0.5}
maximum: {false_answers: 0, forbid_hits: 0}
questions: {answerable: 3, unanswerable: 1}
languages: {zh: {minimum: {recall@3: 1.0}}}
controls: [floor]
"""


def a_result(**more: Any) -> dict[str, Any]:
    values = {"recall@3": (0.9, 20), "false_answers": (1.0, 10), "mrr": (0.8, 20), "forbid_hits": (0.0, 0)}
    figures = {name: {"value": value, "n": n} for name, (value, n) in values.items()}
    figures["pairwise"] = {"value": None, "n": 0}
    counts = {"answerable": 20, "unanswerable": 10, "records": 5, "deep": 2}
    plain = {"figures": figures, "by_language": {}, "counts": counts, "reviews": [], "questions": []}
    return {**plain, **more}


def gates(text: str) -> Gates:
    return parse_gates(text.encode())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("minimum: {recall@3: 0.95}", "recall@3 is 0.9, below 0.95 (n = 20, resolution 0.050)"),
        ("maximum: {false_answers: 0}", "false_answers is 1, above 0 (n = 10)"),
        ("minimum: {pairwise: 1}", "pairwise: nothing to measure"),
        ("questions: {deep: 10}", "too few to judge: 2 deep, at least 10 are needed"),
        ("questions: {keyword: 1}", "too few to judge: 0 keyword, at least 1 is needed"),
        ("languages: {zh: {minimum: {recall@3: 0.8}}}", "recall@3 (zh): nothing to measure"),
    ],
)
def test_each_way_to_fall_short(text: str, reason: str) -> None:
    """Every kind of bound fails on its own, in one line with value, bound and number of questions."""
    assert judge(a_result(), gates(text)).failures == (reason,)


def test_forbidden_record_fails() -> None:
    """A forbidden record that came back fails the gate."""
    figures = {"forbid_hits": {"value": 1.0, "n": 2}}
    assert judge(a_result(figures=figures), gates("maximum: {forbid_hits: 0}")).failures == (
        "forbid_hits is 1, above 0 (n = 2)",
    )


def test_stale_label_fails() -> None:
    """A question whose record was retired fails as a label to review, whatever was found."""
    review = {"question": "q-1", "line": 3, "record": "a", "status": "superseded", "successors": ["b"]}
    assert judge(a_result(reviews=[review]), Gates()).failures == (
        "label needs review: q-1 (line 3) expects a, which is superseded, now b",
    )


@pytest.mark.parametrize("missing", ["answerable", "unanswerable", "records"])
def test_empty_run_never_passes(missing: str) -> None:
    """A run without questions of both classes, or without records, fails even a gate without bounds."""
    counts = {"answerable": 1, "unanswerable": 1, "records": 1, missing: 0}
    assert judge(a_result(counts=counts), Gates()).failures
    assert not judge(a_result(counts={**counts, missing: 1}), Gates()).failures


def test_spare() -> None:
    """The gate tells how many questions each bound has to spare, and warns at one or fewer."""
    judged = judge(a_result(), gates("minimum: {recall@3: 0.8}\nmaximum: {false_answers: 2}"))
    assert judged.spare == {"recall@3": 2, "false_answers": 1}
    assert judged.warnings == ("false_answers: 1 to spare",)


def test_bound_without_room_does_not_warn() -> None:
    """Where the bound itself is none wrong or all right, nothing can be spared and nothing is warned."""
    assert judge(a_result(), gates("maximum: {forbid_hits: 0}")).warnings == ()


@pytest.mark.parametrize(("evidence", "fragile"), [(0.305, True), (0.295, True), (0.3051, False), (0.29, False)])
def test_fragile(evidence: float, fragile: bool) -> None:
    """A question whose evidence lies within 0.005 of the floor is named, on either side of it."""
    question = {"id": "q-1", "language": "en", "confidence": evidence, "floor": 0.3}
    assert bool(judge(a_result(questions=[question]), Gates()).warnings) is fragile


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("minimum: {recal@3: 1}", "gates.yaml:1: minimum: figure 'recal@3'"),
        ("format: 1\nminimal: {}", "gates.yaml:2: minimal: "),
        ("minimum: {recall@3: high}", "gates.yaml:1: minimum.recall@3: "),
        ("- a", "gates.yaml:1: "),
    ],
)
def test_bad_gates(text: str, told: str) -> None:
    """A bound that no one would check is an error, never ignored."""
    with pytest.raises(SidecarError) as raised:
        gates(text)
    assert str(raised.value).startswith(told)


def test_schema() -> None:
    """The schema names the figures a bound can be put on."""
    assert "recall@3" in gates_schema()["properties"]["minimum"]["propertyNames"]["enum"]


def run(corpus: Path, questions: Path, gates_file: Path, *more: str) -> int:
    return main(["eval", str(questions), "--gate", str(gates_file), "--repo", str(corpus), "--json", *more])


def test_command_passes_and_fails(
    corpus: Path, question_file: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command ends with 0 where the gate holds, with 1 and the reasons where it does not."""
    path = tmp_path / "gates.yaml"
    path.write_text(GATES)
    assert run(corpus, question_file(), path) == 0
    capsys.readouterr()
    path.write_text(GATES.replace("answerable: 3", "answerable: 9"))
    assert run(corpus, question_file(), path) == 1
    gate = json.loads(capsys.readouterr().out)["gate"]
    assert gate["failures"] == ["too few to judge: 3 answerable, at least 9 are needed"]


def test_gate_has_to_notice_a_missing_rule(
    corpus: Path, question_file: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--controls` fails when the gate passes without a rule that it says matters, and names the rule."""
    path = tmp_path / "gates.yaml"
    path.write_text(GATES)
    assert run(corpus, question_file(), path, "--controls") == 0
    assert json.loads(capsys.readouterr().out)["controls"]["floor"]["caught_by"] == ["false_answers"]
    path.write_text(GATES.replace("false_answers: 0, ", ""))
    assert run(corpus, question_file(), path, "--controls") == 1
    assert json.loads(capsys.readouterr().out)["gate"]["failures"] == [
        "control: the gate does not notice that floor is missing"
    ]
