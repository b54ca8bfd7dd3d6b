from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evals.controls import RULES, Setup, without
from evals.questions import load_questions
from evals.result import comparable, result
from evals.run import isolated, run
from seed.embed.base import ToyEmbedder
from seed.errors import SidecarError
from sidecar.cli import main

Measure = Callable[..., dict[str, Any]]


class Instructed:
    """A toy that puts an instruction in front of questions."""

    def __init__(self) -> None:
        self.inner = ToyEmbedder()
        self.identity = replace(self.inner.identity, question_instruction="retrieve a passage: ")

    def passages(self, texts: Sequence[str]) -> Iterator[Any]:
        return self.inner.passages(texts)

    def question(self, text: str) -> Any:
        return self.inner.question(self.identity.question_instruction + text)


@pytest.fixture
def measure(corpus: Path, question_file: Callable[..., Path]) -> Measure:
    def measured(rule: str = "", text: str = "", setup: Setup | None = None) -> dict[str, Any]:
        loaded = load_questions(question_file(text) if text else question_file())
        chosen = setup or Setup()
        with isolated():
            return result(run(corpus, loaded.questions, without(rule, chosen) if rule else chosen), loaded.digest)

    return measured


def test_floor(measure: Measure) -> None:
    """Without the floor an unanswerable question is answered."""
    assert (measure()["false_answers"], measure("floor")["false_answers"]) == (0.0, 1.0)


def test_weights(measure: Measure) -> None:
    """Without the weights an unverified fact that says the same ranks above the decision."""
    assert (measure()["pairwise"], measure("weights")["pairwise"]) == (1.0, 0.0)


def test_status(measure: Measure) -> None:
    """Without the status filter a superseded record comes back although it is forbidden."""
    assert (measure()["forbid_hits"], measure("status")["forbid_hits"]) == (0.0, 1.0)


def test_lexical(measure: Measure) -> None:
    """Without words the evidence is the cosine alone."""
    plain, ablated = measure(), measure("lexical")
    assert plain["questions"][0]["confidence"] != ablated["questions"][0]["confidence"]
    assert ablated["questions"][0]["confidence"] == pytest.approx(ablated["questions"][0]["cosine"], abs=1e-4)


def test_dense(measure: Measure) -> None:
    """Without vectors words alone answer, and no cosine is reported."""
    assert measure()["questions"][0]["cosine"] > 0
    assert measure("dense")["questions"][0]["cosine"] <= 0


def test_floor_of_words_alone(measure: Measure) -> None:
    """Words alone have a floor of their own, and the evidence below it is measured too."""
    asked = measure("dense", "- {id: a, question: Which pancakes swap plates, expected: []}\n")
    question = asked["questions"][0]
    assert 0 < question["confidence"] <= question["floor"]


def test_instruction(measure: Measure) -> None:
    """Without the instruction a question is embedded like a passage, under an identity that says so."""
    instructed, bare = Setup(embedders=lambda _: [Instructed()]), Setup(embedders=lambda _: [ToyEmbedder()])
    plain, ablated, toy = measure(setup=instructed), measure("instruction", setup=instructed), measure(setup=bare)
    cosines = [[q["cosine"] for q in found["questions"]] for found in (plain, ablated, toy)]
    assert cosines[1] == cosines[2] != cosines[0]
    assert plain["stamp"]["embedder"] != ablated["stamp"]["embedder"]


def test_instruction_where_there_is_none(measure: Measure) -> None:
    """Removing an instruction that the model does not have changes nothing."""
    assert comparable(measure()) == comparable(measure("instruction"))


def test_unknown_rule(corpus: Path, question_file: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    """A rule that no one knows is told in one line that names the known ones."""
    with pytest.raises(SidecarError, match="floor, weights, instruction, status, lexical, dense"):
        without("ceiling", Setup())
    assert main(["eval", str(question_file()), "--repo", str(corpus), "--without", "ceiling"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_one_table(corpus: Path, question_file: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    """`--controls` shows the cost of each rule in one table, `--without` beside the plain figures."""
    assert main(["eval", str(question_file()), "--repo", str(corpus), "--controls"]) == 0
    told = capsys.readouterr().out
    assert all(f"without {rule}" in told for rule in RULES)
    assert main(["eval", str(question_file()), "--repo", str(corpus), "--without", "floor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["without"], found["false_answers"], found["plain"]["false_answers"]) == (["floor"], 1.0, 0.0)
