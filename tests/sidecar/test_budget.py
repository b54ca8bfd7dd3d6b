from __future__ import annotations

from collections.abc import Callable

import pytest

from seed.errors import UnfinishedError, UnseededError
from sidecar.cursor import MovedError
from sidecar.provider import Provider
from sidecar.query import Query

from ..conftest import CountingEmbedder  # noqa: TID252 - test folders have no absolute names

Commit = Callable[..., str]
Text = Callable[..., str]


def many(text: Text, count: int, start: int = 0) -> dict[str, str]:
    return {f"knowledge/{n}.yaml": text(f"d-{n}", title=f"Shelf {n} holds tins") for n in range(start, start + count)}


def test_past_the_budget_the_last_good_snapshot_answers(commit: Commit, record_text: Text, provider: Provider) -> None:
    """More new records than the budget allows: the answer is stale, names both commits and what was read so far."""
    old = commit(many(record_text, 3))
    provider.recall(Query("tins"))
    new = commit(many(record_text, 300, start=3))
    found = provider.recall(Query("tins"), budget=0.0)
    assert (found["revision"]["commit"], found["revision"]["head"], found["revision"]["stale"]) == (old, new, True)
    assert found["coverage"]["records"] == 3
    assert found["degraded"].startswith("64 of 300 new files are read (stopped after")
    assert provider.behind
    found = provider.recall(Query("tins"), budget=60.0)
    assert (found["revision"]["commit"], found["coverage"]["records"]) == (new, 303)


def test_with_nothing_seeded_the_error_says_how_far_it_is(
    commit: Commit, record_text: Text, provider: Provider
) -> None:
    """Without any snapshot no answer is made up: the error says how much is read, and that asking again goes on."""
    commit(many(record_text, 300))
    with pytest.raises(UnseededError, match="nothing is seeded here yet: 64 of 300 new files are read") as raised:
        provider.recall(Query("tins"), budget=0.0)
    assert "sidecar seed" in raised.value.fix
    assert provider.behind


def test_another_branch_is_never_half_compared(
    git: Callable[..., str], commit: Commit, record_text: Text, provider: Provider
) -> None:
    """On a feature branch, too much that is new on the default branch ends in an error that says how far it is."""
    commit(many(record_text, 3))
    git("branch", "feature")
    commit(many(record_text, 300, start=3) | {"knowledge/new.yaml": record_text("new", supersedes=["d-1"])})
    git("switch", "-q", "feature")
    with pytest.raises(UnfinishedError, match="the default branch, to compare with: 64 of 301 new files are read"):
        provider.recall(Query("tins"), budget=0.0)
    found = provider.recall(Query("tins"), budget=60.0)
    assert [entry["id"] for entry in found["results"] if entry["on_base"]] == ["d-1"]


def test_a_page_after_more_vectors_is_refused(
    commit: Commit, record_text: Text, provider: Provider, embedder: CountingEmbedder
) -> None:
    """When vectors arrive between two pages the order changes: the second page says so and never skips a record."""
    commit({f"knowledge/{n}.yaml": record_text(f"d-{n}", title=f"Shelf {n} of tins_v2") for n in range(60)})
    first = provider.recall(Query("tins_v2", limit=2), budget=0.0)
    assert 0 < first["coverage"]["embedded"] < 60
    with pytest.raises(MovedError, match="ask again without a cursor"):
        provider.recall(Query("tins_v2", limit=2, cursor=first["next_cursor"]), budget=60.0)
    first = provider.recall(Query("tins_v2", limit=2))
    second = provider.recall(Query("tins_v2", limit=2, cursor=first["next_cursor"]))
    assert len({result["id"] for page in (first, second) for result in page["results"]}) == 4
    assert len(embedder.asked) >= 60
