from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from seed.policy import Policy, from_json
from sidecar.provider import Provider
from sidecar.query import Query
from sidecar.spread import joined

Commit = Callable[..., str]
QUESTION = "where do orders live"


@pytest.fixture
def files(record_text: Callable[..., str]) -> dict[str, str]:
    return {
        "knowledge/policy.yaml": "embedder: {model: toy, languages: 'off'}\n",
        "knowledge/a.yaml": record_text("d-1", title="Orders live in SQLite", body="Orders live in one file."),
        "knowledge/b.yaml": record_text("d-2", title="Orders go", body="Orders.", relates_to=["d-1"]),
        "knowledge/c.yaml": record_text("d-3", title="Orders come", body="Orders."),
        "knowledge/d.yaml": record_text("d-4", title="Walrus tusks", body="Nothing else.", relates_to=["d-1"]),
    }


def answers(repository: Any, **change: Any) -> list[tuple[str, float]]:
    opened = Provider(repository, adjust=lambda policy: replace(policy, **change))
    try:
        return [(one["id"], one["score"]) for one in opened.recall(Query(QUESTION))["results"]]
    finally:
        opened.close()


def test_at_zero_the_baseline_is_reproduced_exactly(repository: Any, commit: Commit, files: dict[str, str]) -> None:
    """With beta 0 every score is the baseline's, and the policy's digest is what it was before there was a beta."""
    commit(files)
    assert answers(repository, beta=0.0) == answers(repository)
    assert "beta" not in Policy().to_json()
    assert from_json(replace(Policy(), beta=0.2).to_json()).beta == 0.2
    assert Policy().digest == replace(Policy(), beta=0.0).digest != replace(Policy(), beta=0.2).digest


def test_a_neighbour_lifts_but_not_over_the_floor(repository: Any, commit: Commit, files: dict[str, str]) -> None:
    """Of two alike the one joined with the best answer comes first; what is below the floor stays away."""
    commit(files)
    plain, lifted = dict(answers(repository)), dict(answers(repository, beta=0.3))
    assert lifted["d-2"] > plain["d-2"]
    assert lifted["d-3"] == plain["d-3"]
    assert lifted["d-2"] > lifted["d-3"]
    assert "d-4" not in plain
    assert "d-4" not in lifted


def test_records_are_joined_by_relations_and_by_paths_that_few_name(
    repository: Any, commit: Commit, record_text: Callable[..., str]
) -> None:
    """A relation joins both ways, a path joins those that name it, and one that many name joins none."""
    many = {f"knowledge/m{n}.yaml": record_text(f"m-{n:02}", paths=["src"]) for n in range(21)}
    files = {
        "knowledge/policy.yaml": "embedder: {model: toy, languages: 'off'}\n",
        "knowledge/a.yaml": record_text("d-1", paths=["x/y.py"]),
        "knowledge/b.yaml": record_text("d-2", paths=["x/y.py"], relates_to=["m-00"]),
    }
    commit({**files, **many})
    opened = Provider(repository)
    corpus = opened.session.view().corpus
    names = [head.record.id for head in corpus.heads]
    assert {tuple(sorted((names[a], names[b]))) for a, b in joined(corpus)} == {("d-1", "d-2"), ("d-2", "m-00")}
    opened.close()
