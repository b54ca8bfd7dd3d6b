from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.controls import Setup, without
from evals.questions import load_questions
from evals.result import result
from evals.run import isolated, run
from sidecar.cli import main

SHARED = Path(__file__).parents[2] / ".." / "shared" / "corpora" / "dev"


def evaluated(corpus: Path, path: Path, setup: Setup | None = None, **more: Any) -> dict[str, Any]:
    loaded = load_questions(path)
    with isolated():
        return result(run(corpus, loaded.questions, setup or Setup(), **more), loaded.digest)


def test_toy_corpus(corpus: Path, question_file: Callable[..., Path]) -> None:
    """Recall, abstention, side list, pairs and languages are measured as the documentation says."""
    found = evaluated(corpus, question_file())
    assert (found["recall@1"], found["recall@3"], found["false_answers"], found["noise"]) == (1.0, 1.0, 0.0, 0.0)
    assert (found["forbid_hits"], found["pairwise"]) == (0.0, 1.0)
    by_id = {q["id"]: q for q in found["questions"]}
    assert by_id["q-3"]["decided_against"] == ["decision-0004"]
    assert by_id["q-3"]["rank"] == 1
    assert by_id["q-4"]["verdict"] == "none"
    assert by_id["q-1"]["variants"]["zh"]["question"].startswith("登录")
    assert found["by_language"]["en"]["n"] == 4
    assert found["by_language"]["zh"]["n"] == 1
    assert found["figures"]["recall@3"]["n"] == 3
    classes = {"answerable": 3, "unanswerable": 1, "off_topic": 1, "keyword": 1, "paraphrase": 2, "status": 1}
    assert found["counts"] == {**classes, "records": 5}


def test_isolated_store_leaves_no_trace(corpus: Path, question_file: Callable[..., Path]) -> None:
    """An evaluation neither reads nor writes the user's store, and gives the environment back."""
    home = os.environ["SIDECAR_HOME"]
    evaluated(corpus, question_file())
    assert os.environ["SIDECAR_HOME"] == home
    assert not Path(home).exists()


def test_statuses_of_a_question_win(corpus: Path, question_file: Callable[..., Path]) -> None:
    """`statuses: all` of one question takes retired records in, whatever the run's default is."""
    path = question_file("- {id: a, question: Login state in Redis, expected: [decision-0001], statuses: all}\n"
                         "- {id: b, question: Login state in Redis, expected: [decision-0001]}\n")  # fmt: skip
    found = evaluated(corpus, path)
    assert [q["rank"] for q in found["questions"]] == [1, None]
    assert [r["question"] for r in found["reviews"]] == ["b"]
    assert found["reviews"][0]["successors"] == ["decision-0002"]


def test_confidence_is_measured_without_the_floor(corpus: Path, question_file: Callable[..., Path]) -> None:
    """A question that brought nothing still shows how much evidence there was."""
    found = evaluated(corpus, question_file("- {id: a, question: Which stacks rest in spring sun, expected: []}\n"))
    asked = found["questions"][0]
    assert asked["verdict"] == "none"
    assert 0 < asked["confidence"] <= asked["floor"]


def test_confidence_of_what_was_decided_against(corpus: Path, question_file: Callable[..., Path]) -> None:
    """A question that only a rejected record answers shows that record's evidence, which is above the floor."""
    asked = evaluated(corpus, question_file())["questions"][2]
    assert asked["decided_against"] == ["decision-0004"]
    assert asked["confidence"] > asked["floor"]


@pytest.mark.parametrize("rule", ["floor", "weights", "instruction", "status", "lexical", "dense"])
def test_curve_and_floor_agree(corpus: Path, question_file: Callable[..., Path], rule: str) -> None:
    """A question is answered exactly when its evidence before the floor is above the floor in force."""
    found = evaluated(corpus, question_file(), without(rule, Setup()))
    for asked in found["questions"]:
        assert (asked["verdict"] != "none") == (asked["confidence"] > asked["floor"])


def test_command(corpus: Path, question_file: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    """`sidecar eval --json` prints one object with plain numbers on top and a stamp of what was read."""
    assert main(["eval", str(question_file()), "--json", "--repo", str(corpus)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == 1
    assert found["recall@3"] == found["figures"]["recall@3"]["value"] == 1.0
    assert {"version", "commit", "knowledge_tree", "embedder", "policy", "questions"} <= found["stamp"].keys()


def test_command_as_text(corpus: Path, question_file: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    """The text says with every figure over how many questions it is and what difference it can show."""
    assert main(["eval", str(question_file()), "--repo", str(corpus)]) == 0
    assert "recall@3               1.000  95 % 1.000 to 1.000, n = 3, resolution 0.333" in capsys.readouterr().out


def test_bad_file_is_told_line_by_line(
    corpus: Path, question_file: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """A bad question set ends with 2 and one line for each problem."""
    path = question_file("- {id: a, question: x}\n- {id: b, question: y}\n")
    assert main(["eval", str(path), "--repo", str(corpus)]) == 2
    told = capsys.readouterr().err.strip().split("\n")
    assert len(told) == 2
    assert all("expected is missing" in line for line in told)


def test_missing_file(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A question set that does not exist is one line, exit 2."""
    assert main(["eval", "nowhere.yaml", "--repo", str(corpus)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.skipif(not SHARED.is_dir(), reason="the corpora are not beside this checkout")
def test_real_records_with_the_shipped_model(repository: Path) -> None:
    """On 141 real records with every status, most answerable questions find their record among the first ten."""
    keys = ("id", "kind", "title", "status", "date", "body", "tags", "supersedes", "superseded_by")
    (repository / "knowledge").mkdir()
    for line in (SHARED / "records.jsonl").read_text().strip().split("\n"):
        record = {key: value for key, value in json.loads(line).items() if key in keys and value}
        (repository / "knowledge" / f"{record['id']}.yaml").write_text(json.dumps(record))
    subprocess.run(["git", "-C", str(repository), "add", "-A"], check=True)
    subprocess.run(["git", "-C", str(repository), "commit", "-qm", "records"], check=True)
    found = evaluated(repository, SHARED / "questions.yaml", statuses=("all",))
    assert found["counts"]["answerable"] == 40
    assert found["recall@10"] >= 0.5
