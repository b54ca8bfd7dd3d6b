from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from seed.embed.choose import main
from seed.policy import Policy
from sidecar.floors import EVIDENCE

RECORDS = """
decision-0001 | decision | accepted | | Sessions live in a Redis cluster | Login state is in Redis for a day.
decision-0002 | decision | accepted | decision-0001 | Sessions live in PostgreSQL | Login state moved to its tables.
decision-0003 | decision | accepted | | Deploy with blue green releases | Two stacks swap traffic at each release.
decision-0004 | decision | rejected | | Adopt GraphQL for the public interface | GraphQL was refused: caching is hard.
fact-0001 | fact | unverified | | Blue green releases swap stacks | Two stacks swap traffic at each release of deploy.
"""
QUESTIONS = """
- id: q-1
  question: Where does login state live, in which tables?
  question_zh: 登录状态存在哪里，PostgreSQL 还是 Redis？
  expected: [decision-0002]
  forbid: [decision-0001]
  kind: paraphrase
- id: q-2
  question: How do two stacks swap traffic at each release?
  expected: [decision-0003]
  above: [[decision-0003, fact-0001]]
  kind: keyword
- id: q-3
  question: Was GraphQL refused because caching is hard?
  expected: [decision-0004]
  kind: status
- id: q-4
  question: Which yoga pose relaxes knees?
  expected: []
  unanswerable: off_topic
"""


def policy(floor: float) -> str:
    """Return a policy with the toy embedder and one floor of its own, so that no tuning moves these tests."""
    identity = main(Policy(model="toy")).identity.digest
    floors = "\n".join(f"- {{embedder: '{identity}', on: {on}, value: {floor}}}" for on in EVIDENCE.values())
    return f"format: 1\nembedder: {{model: toy, languages: 'off'}}\nfloors:\n{floors}\n"


def write_record(folder: Path, line: str) -> None:
    """Write one record given as ``id | kind | status | supersedes | title | body``."""
    ident, kind, status, supersedes, title, body = (part.strip() for part in line.split("|"))
    path = folder / "knowledge" / f"{ident}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    more = f"supersedes: [{supersedes}]\n" if supersedes else ""
    head = f"id: {ident}\nkind: {kind}\ntitle: {title}\nstatus: {status}\ndate: 2026-01-01\n"
    path.write_text(f"{head}{more}body: |\n  {body}\n")


def commit(folder: Path) -> None:
    subprocess.run(["git", "-C", str(folder), "add", "-A"], check=True)
    subprocess.run(["git", "-C", str(folder), "commit", "-qm", "records"], check=True)


@pytest.fixture
def corpus(repository: Path) -> Path:
    """Return a repository with five small records and the toy embedder."""
    for line in RECORDS.strip().split("\n"):
        write_record(repository, line)
    (repository / "knowledge" / "policy.yaml").write_text(policy(0.3))
    commit(repository)
    return repository


@pytest.fixture
def question_file(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that writes a question set."""

    def write(text: str = QUESTIONS) -> Path:
        path = tmp_path / "questions.yaml"
        path.write_text(text)
        return path

    return write
