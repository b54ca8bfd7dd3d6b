from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import seed
from evals import inputs
from evals.controls import Setup
from evals.gates import load_gates
from evals.questions import load_questions
from evals.run import opened
from seed.embed.base import ToyEmbedder
from sidecar import floors
from sidecar.cli import main

POLICY = "embedder: {model: toy, languages: 'off'}\nretrieval: {passage_chars: 900}\n"


class World:
    """Every file that an evaluation reads, and the key that comes of them."""

    def __init__(self, repository: Path, folder: Path) -> None:
        self.repository = repository
        self.questions, self.gates = folder / "questions.yaml", folder / "gates.yaml"
        self.record = repository / "knowledge" / "d-1.yaml"
        self.policy = repository / "knowledge" / "policy.yaml"
        self.glossary = repository / "knowledge" / "glossary.yaml"
        self.probes = repository / "evals" / "probes.yaml"
        self.setup = Setup()
        self.arguments: dict[str, Any] = {"repeat": 1}
        self.record.parent.mkdir()
        self.probes.parent.mkdir()
        self.questions.write_text("- {id: q, question: Where, expected: [d-1]}\n")
        self.gates.write_text("minimum: {recall@3: 0.5}\n")
        self.record.write_text("id: d-1\nkind: decision\ntitle: Here\nstatus: accepted\nbody: It is here.\n")
        self.policy.write_text(POLICY)
        self.glossary.write_text("terms: {here: [there]}\n")
        self.probes.write_text("probes: [Which moon]\n")

    def found(self) -> dict[str, str]:
        subprocess.run(["git", "-C", str(self.repository), "add", "-A"], check=True)
        subprocess.run(["git", "-C", str(self.repository), "commit", "-qm", "x", "--allow-empty"], check=True)
        digests = {"questions": load_questions(self.questions).digest, "gates": load_gates(self.gates).digest}
        with opened(self.repository, self.setup) as provider:
            return inputs.inputs(provider, self.setup, **digests, arguments=self.arguments)


@pytest.fixture
def world(repository: Path, tmp_path: Path) -> World:
    return World(repository, tmp_path)


def flip(path: Path, old: str, new: str) -> None:
    assert len(old) == len(new)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_nothing_flipped(world: World) -> None:
    """The key is stable: an unchanged world gives the same one at a new commit too."""
    assert inputs.key(world.found()) == inputs.key(world.found())


@pytest.mark.parametrize(
    ("file", "old", "new", "named"),
    [
        ("questions", "Where", "Whore", "questions"),
        ("gates", "0.5", "0.6", "gates"),
        ("policy", "900", "901", "policy"),
        ("glossary", "there", "thera", "glossary"),
        ("probes", "moon", "moot", "probes"),
        ("record", "It is", "It as", "snapshot"),
    ],
)
def test_a_flipped_byte_in_a_file(world: World, file: str, old: str, new: str, named: str) -> None:
    """One flipped byte in any file that is read changes its own input, and so the key."""
    before = world.found()
    flip(getattr(world, file), old, new)
    after = world.found()
    assert before[named] != after[named]
    assert inputs.key(before) != inputs.key(after)


def test_shipped_probes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The probes that set the floor are an input: others give another key."""
    before = world.found()
    monkeypatch.setattr(inputs, "shipped_probes", lambda: {**floors.shipped_probes(), "en": ("Other",)})
    assert before["probes"] != world.found()["probes"]


@pytest.mark.parametrize("part", ["weights", "tokenizer", "question_instruction", "projection"])
def test_identity(world: World, part: str) -> None:
    """Every part of the embedder identity is an input."""
    before = world.found()
    toy = ToyEmbedder(projection="title-section-1/900")
    toy.identity = replace(toy.identity, **{part: "other"})
    world.setup = Setup(embedders=lambda _: [toy])
    assert before["identity"] != world.found()["identity"]


def test_arguments_and_day(world: World) -> None:
    """What was asked for, and the day that ends a record's validity, are inputs too."""
    before = world.found()
    world.arguments = {"repeat": 2}
    after = world.found()
    assert before["arguments"] != after["arguments"]
    assert len(before["day"]) == len("2026-01-01")


def test_code(tmp_path: Path) -> None:
    """A changed byte of the code makes every run real, although the version is the same."""
    root = Path(seed.__file__).parent.parent
    for package in ("seed", "sidecar", "evals"):
        shutil.copytree(root / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    before = inputs.source_digest(tmp_path)
    flip(tmp_path / "sidecar" / "floor.py", "Pure.", "Purr.")
    assert before != inputs.source_digest(tmp_path)


def test_damaged_result_is_not_used(tmp_path: Path) -> None:
    """A cached result that was changed or cut off counts as none."""
    inputs.save(tmp_path, "k", {"recall@3": 0.5})
    assert inputs.load(tmp_path, "k") == {"recall@3": 0.5}
    flip(tmp_path / "k.json", "0.5", "0.9")
    assert inputs.load(tmp_path, "k") is None
    (tmp_path / "k.json").write_text("{")
    assert inputs.load(tmp_path, "k") is None
    assert inputs.load(tmp_path, "other") is None


def test_command_uses_the_cache(
    corpus: Path, question_file: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --cache a second run takes the result of the first; a changed question makes it real again."""

    def run() -> dict[str, Any]:
        arguments = ["--repo", str(corpus), "--cache", str(tmp_path / "cache"), "--json"]
        assert main(["eval", str(path), *arguments]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    path = question_file()
    first, second = run(), run()
    assert (first.get("cached"), second.pop("cached")) == (None, True)
    assert first == second
    flip(path, "swap traffic", "swop traffic")
    assert "cached" not in run()
