from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from evals.contract import reading, writing
from evals.contract.clause import Clause, run
from evals.contract.fake import FakeMemory
from evals.contract.memory import Memory
from evals.contract.real import GitMemory

from .conftest import policy

CLAUSES = (*reading.CLAUSES, *writing.CLAUSES)
FLOOR = 0.5
Make = Callable[[], Memory]


@pytest.fixture
def real(tmp_path: Path) -> Make:
    """Return a function that gives a provider on a fresh repository."""
    numbers = iter(range(100))

    def make() -> Memory:
        folder = tmp_path / f"project-{next(numbers)}"
        folder.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)

        def commit(files: Mapping[str, str]) -> None:
            for path, text in files.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text)
            subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
            subprocess.run(["git", "commit", "-qm", "records"], cwd=folder, check=True)

        return GitMemory(folder, commit, policy(FLOOR))

    return make


def test_there_are_enough_clauses() -> None:
    """The contract has at least 20 clauses, each named once and said in one sentence."""
    names = [clause.name for clause in CLAUSES]
    assert len(names) == len(set(names)) >= 20
    assert all(clause.text.endswith(".") for clause in CLAUSES)


def test_the_document_says_every_clause() -> None:
    """docs/memory-contract.md says each clause in the words of the suite."""
    text = (Path(__file__).parents[2] / "docs" / "memory-contract.md").read_text()
    assert [clause.name for clause in CLAUSES if f"| `{clause.name}` | {clause.text} |" not in text] == []


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda clause: clause.name)
def test_the_fake_keeps_it(clause: Clause) -> None:
    """The memory in memory keeps each clause, and is caught when it lies."""
    (outcome,) = run(FakeMemory, [clause])
    assert outcome.kept, outcome.why
    assert outcome.control_caught


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda clause: clause.name)
def test_the_provider_keeps_it(clause: Clause, real: Make) -> None:
    """The real provider keeps each clause, and is caught when it lies."""
    (outcome,) = run(real, [clause])
    assert outcome.kept, outcome.why
    assert outcome.control_caught
