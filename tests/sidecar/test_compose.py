from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from seed.embed.base import ToyEmbedder
from sidecar.provider import Provider
from sidecar.query import Query


@pytest.mark.parametrize("status", ["Agreed?", "unknown", None])
def test_a_successor_of_unknown_status_makes_the_answer_weak(
    status: str | None, repository: Path, commit: Callable[..., str], record_text: Callable[..., str]
) -> None:
    """What may have been replaced is never a plain match, in either detail."""
    title = "Customer profiles go to one document store"
    first = record_text("a", title=title)
    second = record_text("b", title="Profiles go to tables", status=status, supersedes=["a"])
    other = record_text("c", title="Logs are written as lines of text")
    commit({"knowledge/a.yaml": first, "knowledge/b.yaml": second, "knowledge/c.yaml": other})
    opened = Provider(repository, embedders=lambda _: [ToyEmbedder()])
    for detail in ("brief", "full"):
        answer = opened.recall(Query(title), detail=detail)
        assert (answer["verdict"], answer["results"][0]["id"]) == ("weak", "a")
        (doubt,) = answer["results"][0]["conflicts"]
        assert (doubt["id"], doubt["state"]) == ("b", "hint")
    opened.close()


def test_a_proposed_successor_leaves_the_answer_as_it_is(
    repository: Path, commit: Callable[..., str], record_text: Callable[..., str]
) -> None:
    """A proposal to replace a record is no doubt about it."""
    title = "Customer profiles go to one document store"
    second = record_text("b", title="Profiles go to tables", status="proposed", supersedes=["a"])
    commit({"knowledge/a.yaml": record_text("a", title=title), "knowledge/b.yaml": second})
    opened = Provider(repository, embedders=lambda _: [ToyEmbedder()])
    answer = opened.recall(Query(title))
    assert (answer["verdict"], answer["results"][0].get("conflicts") or []) == ("match", [])
    opened.close()
