from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sidecar import recall as core
from sidecar.open_items import MAX_OPEN
from sidecar.provider import Provider
from sidecar.query import Query
from sidecar.replay import verify

from .conftest import TOY, Commit, record

QUESTION = "Where are orders kept?"


def todo(ident: str, title: str = "Measure the slow disk", **keys: Any) -> dict[str, str]:
    """Return an open item that says nothing of orders itself."""
    return record(ident, title, f"{title}.", **{"kind": "finding", "tags": ["todo"], **keys})


@pytest.fixture
def orders(commit: Commit) -> dict[str, str]:
    files = {"knowledge/policy.yaml": TOY}
    files |= record("decision-1", "Orders are kept in SQLite", "Orders.", tags=["storage"], paths=["shop/store/a.py"])
    for n in range(2, 10):
        files |= record(f"decision-{n}", f"Colour number {n} of the menu", f"Painted {n}.", tags=["paint"])
    commit(files)
    return files


def ids(answer: dict[str, Any], name: str = "open_items") -> list[str]:
    return [entry["id"] for entry in answer[name]]


def test_shared_tag_or_path_brings_an_open_item(orders: dict[str, str], commit: Commit, provider: Provider) -> None:
    """An open item comes back beside the results when it shares a path or a tag with one, path first, else not."""
    assert orders
    commit(
        todo("finding-1", tags=["todo", "storage"])
        | todo("finding-2", paths=["shop/store/"])
        | todo("finding-3", tags=["todo", "paint"])
        | todo("finding-4", paths=["shop/web/b.py"])
    )
    answer = provider.recall(Query(QUESTION, limit=1))
    assert ids(answer, "results") == ["decision-1"]
    assert ids(answer) == ["finding-2", "finding-1"]
    assert [entry["why"] for entry in answer["open_items"]] == [
        "shares the path shop/store/",
        "shares the tag storage",
    ]


def test_a_tag_that_says_nothing_ties_nothing(orders: dict[str, str], commit: Commit, provider: Provider) -> None:
    """A tag that repeats a kind or a status, or that most records carry, brings no open item."""
    assert orders
    everywhere = {"tags": ["shop", "decision"]}
    files = record("decision-1", "Orders are kept in SQLite", "Orders.", **everywhere)
    for n in range(2, 10):
        files |= record(f"decision-{n}", f"Colour number {n} of the menu", f"Painted {n}.", **everywhere)
    commit(files | todo("finding-1", tags=["todo", "shop", "decision"]))
    assert ids(provider.recall(Query(QUESTION))) == []


def test_never_in_the_ranking_unless_asked_for(orders: dict[str, str], commit: Commit, provider: Provider) -> None:
    """An open item that answers best of all, or is named by its id, still stands beside; the tag todo asks for it."""
    assert orders
    commit(todo("finding-1", "Orders are kept where?"))
    for question in (QUESTION, "finding-1 orders"):
        answer = provider.recall(Query(question))
        assert "finding-1" not in ids(answer, "results")
        assert ids(answer) == ["finding-1"]
    asked = provider.recall(Query(QUESTION, tags=("todo",)))
    assert ids(asked, "results") == ["finding-1"]
    assert asked["open_items"] == []


def test_negative_control(
    orders: dict[str, str], commit: Commit, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the rule an open item would rank among the results."""
    assert orders
    commit(todo("finding-1", "Orders are kept where?"))
    monkeypatch.setattr(core, "set_aside", lambda _corpus, _query, admitted: (admitted, ()))
    assert "finding-1" in ids(provider.recall(Query(QUESTION)), "results")


def test_at_most_five_newest_first(orders: dict[str, str], commit: Commit, provider: Provider) -> None:
    """At most five come back, of equal ties the newest, and the receipt that names them replays."""
    assert orders
    commit({k: v for n in range(1, 8) for k, v in todo(f"finding-{n}", tags=["todo", "storage"],
                                                       date=f"2026-01-0{n}").items()})  # fmt: skip
    answer = provider.recall(Query(QUESTION))
    assert ids(answer) == [f"finding-{n}" for n in range(7, 2, -1)]
    assert len(answer["open_items"]) == MAX_OPEN
    kept = provider.receipts.get(answer["receipt"]["id"])[0]
    assert ["open_items", "finding-7", answer["open_items"][0]["blob"]] in kept["returned"]
    assert verify(provider, kept).same


def test_only_what_is_in_force_is_open(
    orders: dict[str, str], commit: Commit, provider: Provider, shop_list: Any
) -> None:
    """A closed, refuted or superseded item is no open item; a listing has open ones like any other record."""
    assert orders
    commit(
        todo("finding-1", tags=["done", "storage"])
        | todo("finding-2", tags=["todo", "storage"], status="refuted")
        | todo("finding-3", tags=["todo", "storage"])
        | record("finding-4", "The disk was measured", "Yes.", kind="finding", supersedes=["finding-3"])
        | todo("finding-5", tags=["ToDo", "storage"])
    )
    assert ids(provider.recall(Query(QUESTION))) == ["finding-5"]
    assert "finding-5" in shop_list(provider)


@pytest.fixture
def shop_list() -> Any:
    def listed(provider: Provider) -> list[str]:
        return ids(provider.recall(Query(listing=True, kinds=("finding",), limit=20)), "results")

    return listed


def test_workspace_keeps_its_open_items(
    orders: dict[str, str], commit: Commit, repository: Path, embedder: Any
) -> None:
    """An open item of another workspace does not come back."""
    assert orders
    commit(todo("finding-1", tags=["todo", "storage"], workspace="other"))
    opened = Provider(repository, embedders=lambda _policy: [embedder])
    assert ids(opened.recall(Query(QUESTION, workspace="mine"))) == []
    assert ids(opened.recall(Query(QUESTION, workspace="other"))) == ["finding-1"]
    opened.close()
