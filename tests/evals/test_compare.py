from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.compare import compare, load_baseline
from evals.metrics import FIGURES
from seed.errors import SidecarError
from sidecar.cli import main


def a_result(values: dict[str, float], asked: list[dict[str, Any]], **stamp: str) -> dict[str, Any]:
    figures = {name: {"value": values.get(name), "n": 40} for name in FIGURES}
    return {"figures": figures, "questions": asked, "stamp": stamp}


def asked(ident: str, rank: int | None, verdict: str = "match", **more: Any) -> dict[str, Any]:
    return {"id": ident, "language": "en", "rank": rank, "verdict": verdict, "correct": rank is not None and rank <= 3,
            "returned": ["a"], **more}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "old", "new", "verdict"),
    [
        ("recall@3", 0.5, 0.6, "better"),
        ("recall@3", 0.6, 0.5, "worse"),
        ("mrr", 0.50, 0.51, "not distinguishable"),
        ("recall@3", 0.5, 0.5, "equal"),
        ("noise", 1.0, 0.5, "better"),
        ("false_answers", 0, 1, "worse"),
    ],
)
def test_verdict(name: str, old: float, new: float, verdict: str) -> None:
    """A difference below 1/n is not distinguishable; what is better depends on the figure."""
    found = compare(a_result({name: old}, []), a_result({name: new}, []))
    assert found["figures"][name]["verdict"] == verdict


def test_question_by_question() -> None:
    """Each question that came out differently is named with what happened to it, and the equal ones are not."""
    old = a_result({}, [asked("a", 1), asked("b", 5), asked("c", 1), asked("d", 2), asked("e", 1)])
    new = a_result({}, [asked("a", 4), asked("b", 3), asked("c", 2), asked("d", 2, "weak"), asked("f", 1)])
    assert {q["id"]: q["change"] for q in compare(old, new)["questions"]} == {
        "a": "lost", "b": "gained", "c": "rank", "d": "verdict", "e": "question is gone", "f": "new question",
    }  # fmt: skip


def test_inputs_that_differ() -> None:
    """What was not the same on both sides is said before any figure."""
    old, new = a_result({}, [], policy="p", questions="q"), a_result({}, [], policy="p2", questions="q")
    assert compare(old, new)["inputs"] == ["the policy differs"]


def test_command(
    corpus: Path, question_file: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A result written with --out is a baseline for the next run, and equal runs show no change."""
    out = tmp_path / "old.json"
    assert main(["eval", str(question_file()), "--repo", str(corpus), "--out", str(out)]) == 0
    capsys.readouterr()
    assert main(["eval", str(question_file()), "--repo", str(corpus), "--baseline", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["comparison"]
    assert (found["inputs"], found["questions"]) == ([], [])
    assert found["figures"]["recall@3"]["verdict"] == "equal"


@pytest.mark.parametrize("content", ["no json", "[]", '{"format": 1}'])
def test_what_is_no_baseline(tmp_path: Path, content: str) -> None:
    """A file that is no result is told in one line."""
    path = tmp_path / "old.json"
    path.write_text(content)
    with pytest.raises(SidecarError, match="sidecar eval --json"):
        load_baseline(path)
