from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.errors import SidecarError
from sidecar import context
from sidecar.answer import width
from sidecar.context import SECTIONS, Found, assemble, render, tokens
from sidecar.provider import Provider

from .conftest import TOY, Commit, record

FRAME = {"format": 1, "task": "t", "paths": [], "verdict": "match", "revision": {}, "receipt": {}}


@pytest.fixture
def store(commit: Commit) -> None:
    files = {"knowledge/policy.yaml": TOY}
    files |= record("decision-1", "Orders live in SQLite", "Orders live in SQLite files.", tags=["storage"])
    files |= record("decision-2", "Where orders live must never leave the machine", "Where orders live: here.")
    files |= record("decision-3", "Ledger entries are append only", "Written once.", relates_to=["decision-1"])
    files |= record("decision-4", "Old ledger", "Old.", relates_to=["decision-1"], status="superseded")
    files |= record(
        "decision-5", "Orders live in MongoDB", "Where orders live: MongoDB was weighed.", status="rejected"
    )
    files |= record("decision-6", "Checkout is one page", "A page.", paths=["shop/checkout.py"])
    files |= record("fact-1", "Where orders live is a fast disk", "Orders live there.", kind="fact", status="verified")
    files |= record("finding-1", "Measure the disk", "Yet to do.", kind="finding", tags=["todo", "storage"])
    commit(files)


def ids(pack: dict[str, Any], name: str) -> list[str]:
    return [entry["id"] for entry in pack[name]]


@pytest.mark.usefixtures("store")
def test_sections(provider: Provider) -> None:
    """What binds stands first, then what bears on it by meaning, path and relation; the sides have their own lists."""
    pack = provider.context("where do orders live", ["shop/checkout.py"])
    assert list(SECTIONS) == [key for key in pack if key in SECTIONS]
    assert ids(pack, "constraints") == ["decision-2", "decision-3"]
    assert set(ids(pack, "decisions")) == {"decision-1", "decision-6"}
    assert ids(pack, "findings") == ["fact-1"]
    assert ids(pack, "decided_against") == ["decision-5"]
    assert ids(pack, "open_items") == ["finding-1"]
    assert "decision-4" not in json.dumps(pack)
    assert {e["id"]: e["why"] for e in pack["constraints"]}["decision-3"] == "relates to decision-1"
    text = render(pack)
    assert all(f"{ident} (" in text for name in SECTIONS for ident in ids(pack, name))


@pytest.mark.usefixtures("store")
def test_same_input_same_output(provider: Provider, repository: Path, embedder: Any) -> None:
    """The same task on the same records gives the same pack less its receipt, from a second provider too."""
    other = Provider(repository, embedders=lambda _policy: [embedder], clock=provider.clock)
    one, two = (p.context("where do orders live", ["shop/checkout.py"]) for p in (provider, other))
    other.close()
    assert one.pop("receipt")["stored"]
    assert two.pop("receipt")["stored"]
    assert json.dumps(one) == json.dumps(two)


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("budget", [220, 300, 500, 2000])
def test_budget_holds_and_the_rest_is_named(provider: Provider, budget: int) -> None:
    """A pack never costs more than its budget, and whatever bears on the task is in it, named, or counted."""
    whole = provider.context("where do orders live", budget=10_000)
    pack = provider.context("where do orders live", budget=budget)
    assert tokens(pack) <= pack["tokens"] <= budget
    count = sum(len(pack[name]) for name in SECTIONS)
    assert count + len(pack["left_out"]) + pack["more"] == sum(len(whole[name]) for name in SECTIONS)
    assert budget > 300 or pack["left_out"]


@pytest.mark.usefixtures("store")
def test_receipt_replays(provider: Provider) -> None:
    """The receipt of a pack is one of a recall: it is stored, names the records, and replays."""
    from sidecar.replay import verify

    pack = provider.context("where do orders live")
    kept = provider.receipts.get(pack["receipt"]["id"])[0]
    assert {ident for _, ident, _ in kept["returned"]} >= {"decision-1", "decision-5", "finding-1"}
    assert verify(provider, kept).same


@pytest.mark.parametrize(("task", "budget"), [("  ", 2000), ("orders", 10)])
def test_what_cannot_be_meant(provider: Provider, commit: Commit, task: str, budget: int) -> None:
    """An empty task and a budget that holds nothing are refused with what to do."""
    commit({"knowledge/policy.yaml": TOY})
    with pytest.raises(SidecarError, match=r"task|budget"):
        provider.context(task, budget=budget)


def test_no_record_bears(provider: Provider, commit: Commit) -> None:
    """With no record that bears on it the pack is empty and says so."""
    commit({"knowledge/policy.yaml": TOY})
    pack = provider.context("anything at all")
    assert pack["verdict"] == "none"
    assert "No record bears on it." in render(pack)


@given(
    titles=st.lists(st.text(min_size=1, max_size=200), max_size=30),
    text=st.text(max_size=2000),
    budget=st.integers(200, 5000),
)
def test_any_records_fit(titles: list[str], text: str, budget: int) -> None:
    """Whatever titles and texts records have, the pack stays within its budget and loses none of them."""
    made = [{"id": f"decision-{n}", "kind": "decision", "title": title, "status": "accepted", "date": "", "why": "w",
             "path": "p", "passage": {"text": text}} for n, title in enumerate(titles)]  # fmt: skip
    pack = assemble(Found(made), FRAME, budget)
    assert tokens(pack) <= budget
    count = sum(len(pack[name]) for name in SECTIONS)
    assert count + len(pack["left_out"]) + pack["more"] == len(titles)


def test_a_conflict_is_told_once() -> None:
    """A contradiction found on both of its records is one entry."""
    base = {"kind": "decision", "status": "accepted", "date": "", "path": "p", "title": "T"}
    one = {**base, "id": "a", "conflicts": [{"id": "b", "state": "recorded", "reason": "r"}]}
    two = {**base, "id": "b", "conflicts": [{"id": "a", "state": "recorded", "reason": "r"}]}
    pack = assemble(Found([one, two]), FRAME, 1000)
    assert pack["conflicts"] == [{"ids": ["a", "b"], "state": "recorded", "reason": "r"}]


def test_negative_control(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the rule for what binds, a prohibition would stand among the other decisions."""
    made = [{"id": "a", "kind": "decision", "title": "Never log a secret", "status": "accepted", "path": "p"}]
    assert ids(assemble(Found(made), FRAME, 1000), "constraints") == ["a"]
    monkeypatch.setattr(context, "binds", lambda _result: False)
    assert ids(assemble(Found(made), FRAME, 1000), "decisions") == ["a"]
    assert width("é") > width("e")
