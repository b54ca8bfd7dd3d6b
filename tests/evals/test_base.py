from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from evals.base import looser_gates
from evals.gates import parse_gates
from sidecar.cli import main

QUESTIONS = """
- id: q-1
  question: How do two stacks swap traffic at each release?
  expected: [decision-0003]
  forbid: [decision-0001]
- id: q-2
  question: Which yoga pose relaxes knees?
  expected: []
  unanswerable: off_topic
"""
GATES = "minimum: {recall@3: 0.5}\nmaximum: {false_answers: 0}\n"


@pytest.fixture
def project(corpus: Path) -> Path:
    """Return a repository with records, questions and gates, committed as `base`."""
    (corpus / "questions.yaml").write_text(QUESTIONS)
    (corpus / "gates.yaml").write_text(GATES)
    save(corpus)
    subprocess.run(["git", "-C", str(corpus), "branch", "base"], check=True)
    return corpus


def save(folder: Path) -> None:
    subprocess.run(["git", "-C", str(folder), "add", "-A"], check=True)
    subprocess.run(["git", "-C", str(folder), "commit", "-qm", "change", "--allow-empty"], check=True)


def gate(project: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    files = [str(project / "questions.yaml"), "--gate", str(project / "gates.yaml")]
    code = main(["eval", *files, "--repo", str(project), "--base", "base", "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)["gate"]
    assert code == (0 if found["passed"] else 1)
    return found


def edit(path: Path, old: str, new: str) -> None:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_nothing_changed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An untouched set passes against its base."""
    assert gate(project, capsys)["failures"] == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "expected: [decision-0003]",
            "expected: [decision-0003, fact-0001]",
            "question q-1: it expected decision-0003, now",
        ),
        ("  forbid: [decision-0001]\n", "", "question q-1: forbid lost an entry"),
        ("Which yoga pose relaxes knees?", "Which pose?", "question q-2: its wording changed"),
        (
            "expected: [decision-0003]",
            "expected: [decision-0003]\n  statuses: all",
            "question q-1: its statuses changed",
        ),
        ("id: q-2", "id: q-3", "question q-2 is gone"),
    ],
)
def test_loosened_label(project: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, told: str) -> None:
    """Every way to make a question easier fails, whatever the figures are."""
    edit(project / "questions.yaml", old, new)
    failures = gate(project, capsys)["failures"]
    assert failures
    assert failures[-1].startswith(f"loosened since base: {told}")


def test_base_gates_are_in_force(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A loosened gate neither counts nor passes: the base's own bound judges."""
    edit(project / "gates.yaml", "maximum: {false_answers: 0}\n", "")
    found = gate(project, capsys)
    assert found["from"] == "base"
    assert found["failures"][0].startswith("loosened since base: the bound on false_answers is gone")


def test_base_policy_is_in_force(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A policy changed in the pull request changes nothing: the base's policy answers."""
    edit(project / "knowledge" / "policy.yaml", "format: 1\n", "format: 1\nretrieval: {fusion: lexical}\n")
    save(project)
    files = [str(project / "questions.yaml"), "--repo", str(project), "--json"]
    assert main(["eval", *files, "--base", "base"]) == 0
    held = json.loads(capsys.readouterr().out)
    assert main(["eval", *files]) == 0
    own = json.loads(capsys.readouterr().out)
    assert held["questions"][0]["cosine"] > 0 >= own["questions"][0]["cosine"]


def test_a_record_justifies(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A new record in force that names the file lets a loosened label pass; a proposed one does not."""
    edit(project / "questions.yaml", "  forbid: [decision-0001]\n", "")
    record = project / "knowledge" / "decision-0009.yaml"
    text = "id: decision-0009\nkind: decision\ntitle: Allow it\nstatus: proposed\npaths: [questions.yaml]\nbody: Why.\n"
    record.write_text(text)
    save(project)
    assert not gate(project, capsys)["passed"]
    record.write_text(text.replace("proposed", "accepted"))
    save(project)
    assert gate(project, capsys)["passed"]


def test_successor_in_its_place(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Expecting the record that superseded the expected one is no loosening; keeping the old one needs review."""
    (project / "knowledge" / "decision-0010.yaml").write_text(
        "id: decision-0010\nkind: decision\ntitle: Two stacks swap traffic at each release\nstatus: accepted\n"
        "supersedes: [decision-0003]\nbody: Two stacks swap traffic at each release, slowly.\n"
    )
    save(project)
    label = "q-1 (line 2) expects decision-0003, which is superseded, now decision-0010"
    assert gate(project, capsys)["failures"][0] == f"label needs review: {label}"
    edit(project / "questions.yaml", "expected: [decision-0003]", "expected: [decision-0010]")
    assert gate(project, capsys)["failures"] == []


def test_relabel(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--relabel` prints the label as it is and as a reviewer would write it, and asks nothing."""
    (project / "knowledge" / "decision-0010.yaml").write_text(
        "id: decision-0010\nkind: decision\ntitle: New\nstatus: accepted\nsupersedes: [decision-0003]\nbody: b\n"
    )
    save(project)
    assert main(["eval", str(project / "questions.yaml"), "--repo", str(project), "--relabel"]) == 0
    told = capsys.readouterr().out
    assert "-   expected: [decision-0003]\n+   expected: [decision-0010]" in told


def test_unknown_base(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A base that is no revision is told in one line."""
    files = [str(project / "questions.yaml"), "--repo", str(project), "--base", "nowhere"]
    assert main(["eval", *files]) == 2
    assert "nowhere" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("new", "told"),
    [
        ("minimum: {recall@3: 0.4}\nmaximum: {false_answers: 0}", ["recall@3 went from 0.5 to 0.4"]),
        ("minimum: {recall@3: 0.5}\nmaximum: {false_answers: 1}", ["false_answers went from 0 to 1"]),
        ("minimum: {recall@3: 0.6}\nmaximum: {false_answers: 0}", []),
    ],
)
def test_looser_gates(new: str, told: list[str]) -> None:
    """A lower minimum and a higher maximum ask less; a stricter bound does not."""
    assert list(looser_gates(parse_gates(GATES.encode()), parse_gates(new.encode()))) == told


def test_looser_set_bounds() -> None:
    """Fewer questions and fewer controls ask less too."""
    old, new = parse_gates(b"questions: {deep: 10}\ncontrols: [floor]"), parse_gates(b"questions: {deep: 9}")
    assert list(looser_gates(old, new)) == [
        "the least number of deep questions went from 10 to 9",
        "the control without floor is gone",
    ]
