from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seed.embed.base import ToyEmbedder
from sidecar.provider import Provider
from sidecar.query import Query
from sidecar.receipt import parse_receipt, shareable
from sidecar.replay import verify

Commit = Callable[..., str]
Text = Callable[..., str]


@pytest.fixture
def asked(commit: Commit, record_text: Text, provider: Provider) -> dict[str, Any]:
    """Return the receipt of one recall over two records."""
    commit({f"knowledge/{n}.yaml": record_text(f"d-{n}", title="zebra quilt", body="Zebra quilt.") for n in (1, 2)})
    provider.recall(Query("zebra quilt"))
    (receipt,) = provider.receipts.newest(1)
    return receipt


@pytest.fixture
def another(repository: Path) -> Iterator[Callable[..., Provider]]:
    """Return a function that opens the repository anew, with another embedder if asked."""
    opened: list[Provider] = []

    def make(projection: str = "toy") -> Provider:
        opened.append(Provider(repository, embedders=lambda _policy: [ToyEmbedder(projection=projection)]))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def test_a_receipt_replays(asked: dict[str, Any], provider: Provider) -> None:
    """Asked again on what it stood on, the answer is the same."""
    assert verify(provider, asked).outcome == "same"


def test_a_receipt_from_before_a_changed_record_replays_at_its_own_commit(
    asked: dict[str, Any], provider: Provider, commit: Commit, record_text: Text
) -> None:
    """The knowledge tree of the receipt is asked, not that of HEAD."""
    commit({"knowledge/1.yaml": record_text("d-1", title="another thing", status="deprecated")})
    provider.recall(Query("zebra quilt"))
    assert verify(provider, asked).outcome == "same"


def test_a_receipt_replays_after_the_store_was_deleted(
    asked: dict[str, Any], provider: Provider, private_home: Path, another: Callable[..., Provider]
) -> None:
    """The store costs time and never knowledge; receipts lie elsewhere."""
    provider.close()
    shutil.rmtree(private_home / "store")
    fresh = another()
    assert [r["id"] for r in fresh.receipts.newest(1)] == [asked["id"]]
    assert verify(fresh, asked).outcome == "same"


def test_another_commit_with_the_same_knowledge_serves(
    asked: dict[str, Any], provider: Provider, commit: Commit, git: Callable[..., str]
) -> None:
    """A receipt does not need its commit, as long as its knowledge tree is there."""
    git("commit", "-q", "--amend", "-m", "said otherwise")
    commit({"src/x.py": "1"})
    assert verify(provider, asked).outcome == "same"


def test_a_file_from_another_machine_replays(asked: dict[str, Any], another: Callable[..., Provider]) -> None:
    """A receipt read from JSON is as good as one that is kept here."""
    assert verify(another(), parse_receipt(json.dumps(asked), "receipt.json")).outcome == "same"


def test_another_model_is_named_as_the_difference(asked: dict[str, Any], another: Callable[..., Provider]) -> None:
    """When the answer differs, the input that changed is named."""
    told = replace_returned(asked)
    assert verify(another("another cut"), told).outcome == "differs: model"


def test_a_difference_without_a_cause_is_one_of_records(asked: dict[str, Any], provider: Provider) -> None:
    """A receipt that claims another answer from the same inputs does not replay."""
    outcome = verify(provider, replace_returned(asked))
    assert outcome.outcome == "differs: records"
    assert not outcome.same


def test_what_is_missing_is_named(asked: dict[str, Any], provider: Provider) -> None:
    """A tree that this clone lacks, a candidate that is gone, a question that is hidden: each cannot be replayed."""
    gone = {**asked, "knowledge_tree": "1" * 40}
    assert verify(provider, gone).outcome.startswith("cannot replay: the knowledge tree 1111")
    lost = {**asked, "candidates": [["refs/heads/knowledge/candidate/x", "2" * 40]]}
    assert "candidate" in verify(provider, lost).outcome
    assert verify(provider, shareable(asked)).outcome.startswith("cannot replay: the question")


def replace_returned(receipt: dict[str, Any]) -> dict[str, Any]:
    return {**receipt, "returned": [["results", "d-9", "0" * 40]]}


def test_the_clock_of_a_replay_is_that_of_the_receipt(
    commit: Commit, record_text: Text, provider: Provider, another: Callable[..., Provider]
) -> None:
    """A record that has expired since still answers when a receipt from before is replayed."""
    commit({"knowledge/1.yaml": record_text("d-1", title="zebra quilt", valid_until="2026-11-29")})
    answer = provider.recall(replace(Query("zebra quilt"), limit=3))
    assert [result["id"] for result in answer["results"]] == ["d-1"]
    later = another()
    assert verify(later, provider.receipts.newest(1)[0]).outcome == "same"
