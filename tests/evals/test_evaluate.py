from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from evals import evaluate
from evals.controls import Setup
from evals.models import megabytes, named
from evals.questions import load_questions
from evals.run import isolated
from seed.embed.base import ToyEmbedder
from seed.policy import Policy
from sidecar.cli import main


class Drifting:
    """A toy that gives another vector each time, as a model with dropout would."""

    def __init__(self) -> None:
        self.inner = ToyEmbedder()
        self.identity = self.inner.identity
        self.asked = 0

    def passages(self, texts: Sequence[str]) -> Iterator[Any]:
        return self.inner.passages(texts)

    def question(self, text: str) -> Any:
        self.asked += 1
        return self.inner.question(f"{text} noise{self.asked}" if self.asked % 2 else f"other{self.asked}")


def test_repeat_is_equal(corpus: Path, question_file: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Asked three times through new providers, every question comes out the same."""
    assert main(["eval", str(question_file()), "--repo", str(corpus), "--repeat", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["repeat"] == {"times": 3, "equal": True, "differs": []}


def test_repeat_notices_a_difference(corpus: Path, question_file: Callable[..., Path]) -> None:
    """A model that answers differently each time is found out, with the questions that moved, and fails."""
    drifting = Drifting()
    options = evaluate.Options(corpus, question_file(), repeat=2)
    setup = Setup(embedders=lambda _: [drifting])
    job = evaluate._Job(options, load_questions(question_file()), None, None, setup, None)
    with isolated():
        found = evaluate._evaluated(job)
    assert not found["repeat"]["equal"]
    assert found["repeat"]["differs"]
    assert evaluate.failed(found)


def test_models_are_compared(
    corpus: Path, question_file: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each model has one line with its figures, its own floor, its size and its speed."""
    models = ["--embedder", "toy", "--embedder", "toy"]
    assert main(["eval", str(question_file()), "--repo", str(corpus), *models, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["embedders"]
    assert [row["embedder"] for row in rows] == ["toy", "toy"]
    assert {"recall@3", "mrr", "noise", "floors", "megabytes", "milliseconds", "passages_per_second"} <= rows[0].keys()
    assert rows[0]["passages_per_second"] > 0


def test_model_for_other_languages_can_stand_alone() -> None:
    """The second model can be measured as the only one, under its own identity and size."""
    found = named("use-multilingual-v3", Policy())
    assert found.identity.model == "use-multilingual-v3"
    assert (megabytes("use-multilingual-v3") or 0) > 10
    assert megabytes("toy") is None


def test_unknown_model(corpus: Path, question_file: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    """A model that no one knows ends with one line, exit 2."""
    assert main(["eval", str(question_file()), "--repo", str(corpus), "--embedder", "no-such-model"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("name", ["questions", "gates"])
def test_schema(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`--schema` prints a JSON Schema and needs no question set."""
    assert main(["eval", "--schema", name]) == 0
    assert json.loads(capsys.readouterr().out)["$schema"].startswith("https://json-schema.org/")


def test_no_question_set(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a question set the command says what is missing, exit 2."""
    assert main(["eval"]) == 2
    assert "QUESTIONS" in capsys.readouterr().err


def test_empty_question_set(
    corpus: Path, question_file: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty set measures nothing, which is an error and no success: a gate over it would always be green."""
    assert main(["eval", str(question_file("# none yet\n")), "--repo", str(corpus)]) == 2
    assert "no question" in capsys.readouterr().err


def test_repository_without_records(
    repository: Path, question_file: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Without records every answer is none, and each expected record is a label to review."""
    assert main(["eval", str(question_file()), "--repo", str(repository), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {q["verdict"] for q in found["questions"]} == {"none"}
    assert {review["status"] for review in found["reviews"]} == {"gone"}
