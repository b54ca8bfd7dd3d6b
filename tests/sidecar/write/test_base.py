from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sidecar.base import Since
from sidecar.provider import Provider
from sidecar.query import Query
from sidecar.render import render
from sidecar.replay import verify

from .conftest import decision, put, run

Open = Callable[[Path], Provider]
QUESTION = Query("Is the store SQLite?")
SUPERSEDES = "supersedes: [decision-0001]\n"


@pytest.fixture
def lagging(work: Path) -> Path:
    """Return a clone on a feature branch, three commits behind a main that superseded its decision."""
    run(work, "switch", "-q", "-c", "feature")
    put(work, {"code.py": "x = 1\n"})
    run(work, "switch", "-q", "main")
    new = decision("decision-0009", "Records live in PostgreSQL", "A server holds all of it.") + SUPERSEDES
    put(work, {"knowledge/decisions/decision-0009.yaml": new})
    put(work, {"one.txt": "1"})
    put(work, {"two.txt": "2"})
    run(work, "push", "-q", "origin", "main")
    run(work, "switch", "-q", "feature")
    return work


def test_a_lagging_branch_says_that_main_superseded_it(lagging: Path, opened: Open) -> None:
    """The answer is HEAD's, the result says what the default branch did since, and the verdict is at most weak."""
    answer = opened(lagging).recall(QUESTION)
    top = answer["results"][0]
    main = run(lagging, "rev-parse", "origin/main")
    assert (top["id"], top["status"]) == ("decision-0001", "accepted")
    assert top["on_base"] == {
        "ref": "origin/main",
        "commit": main,
        "status": "superseded",
        "reason": "superseded by decision-0009",
    }
    assert answer["verdict"] == "weak"
    assert answer["revision"]["base"] == {"ref": "origin/main", "commit": main}
    assert "on origin/main: superseded (superseded by decision-0009)" in render(answer)
    brief = opened(lagging).recall(QUESTION, detail="brief")
    assert brief["results"][0]["on_base"]["status"] == "superseded"


def test_without_the_rule_the_overturned_decision_is_sold(
    lagging: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative control: not compared with the default branch, the same answer is a plain match."""
    monkeypatch.setattr(Since, "mark", lambda _self, _entries: False)
    answer = opened(lagging).recall(QUESTION)
    assert (answer["verdict"], answer["results"][0]["on_base"]) == ("match", None)


def test_what_only_this_branch_changed_is_no_lag(work: Path, opened: Open) -> None:
    """A record that this branch edits, adds or supersedes itself is the branch's own business."""
    run(work, "switch", "-q", "-c", "feature")
    own = decision("decision-0001", "The store is SQLite in one file", "We keep records in SQLite on disk.")
    put(work, {"knowledge/decisions/decision-0001.yaml": own})
    answer = opened(work).recall(QUESTION)
    assert answer["results"][0]["on_base"] is None
    assert answer["verdict"] == "match"
    assert answer["revision"]["base"]["commit"] == run(work, "rev-parse", "origin/main")


@pytest.mark.parametrize(
    ("change", "status", "reason"),
    [
        ("text", "accepted", "its text was changed there"),
        ("deprecated", "deprecated", "deprecated there, accepted here"),
        ("deleted", "missing", "deleted there"),
    ],
)
def test_every_change_of_the_default_branch_is_told(
    change: str, status: str, reason: str, work: Path, opened: Open
) -> None:
    """An edited text, another status and a deletion on the default branch are each said in words."""
    path = "knowledge/decisions/decision-0001.yaml"
    run(work, "switch", "-q", "-c", "feature")
    run(work, "switch", "-q", "main")
    if change == "deleted":
        run(work, "rm", "-q", path)
        run(work, "commit", "-q", "-m", "drop it")
    else:
        body = "Another text." if change == "text" else "We keep records in SQLite on disk."
        put(work, {path: decision("decision-0001", "The store is SQLite", body,
                                  status="accepted" if change == "text" else change)})  # fmt: skip
    run(work, "push", "-q", "origin", "main")
    run(work, "switch", "-q", "feature")
    told = opened(work).recall(QUESTION)["results"][0]["on_base"]
    assert (told["status"], told["reason"]) == (status, reason)


def test_its_receipt_replays_after_everything_moved(lagging: Path, opened: Open) -> None:
    """The receipt holds the trees that were compared, so it verifies after main moved on and the store was lost."""
    provider = opened(lagging)
    provider.recall(QUESTION)
    receipt = provider.receipts.newest(1)[0]
    assert receipt["base"]["ref"] == "origin/main"
    run(lagging, "switch", "-q", "main")
    text = decision("decision-0001", "The store is SQLite", "Back again.", status="deprecated")
    put(lagging, {"knowledge/decisions/decision-0001.yaml": text})
    run(lagging, "push", "-q", "origin", "main")
    assert verify(opened(lagging), receipt).outcome == "same"
    assert verify(opened(lagging), {**receipt, "base": None}).outcome.startswith("differs")
    lost = {**receipt, "base": {**receipt["base"], "tree": "1" * 40}}
    assert verify(opened(lagging), lost).outcome.startswith("cannot replay: the knowledge tree 111111111111")


def test_there_may_be_no_default_branch(repository: Path, opened: Open) -> None:
    """Without main, master, or a remote's HEAD nothing is compared, and the answer says so."""
    run(repository, "switch", "-q", "-c", "trunk")
    put(repository, {"knowledge/policy.yaml": "embedder: {model: toy, languages: 'off'}\n",
                     "knowledge/a.yaml": decision("decision-0001", "The store is SQLite", "On disk.")})  # fmt: skip
    assert opened(repository).recall(QUESTION)["revision"]["base"] is None


def test_policy_names_the_default_branch(lagging: Path, opened: Open) -> None:
    """A project whose decisions land on another branch says which in its policy."""
    run(lagging, "branch", "develop", "feature")
    policy = "embedder: {model: toy, languages: 'off'}\ndefault_branch: develop\n"
    put(lagging, {"knowledge/policy.yaml": policy})
    answer = opened(lagging).recall(QUESTION)
    assert answer["revision"]["base"]["ref"] == "develop"
    assert answer["results"][0]["on_base"] is None
