from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seed.errors import SidecarError
from seed.record import Record
from sidecar import conflicts
from sidecar.cli import main
from sidecar.conflicts import arbitrate
from sidecar.contradictions import listing, record, resolve, scan
from sidecar.draft import Proposer
from sidecar.plane import Plane
from sidecar.provider import Provider
from sidecar.query import Query
from sidecar.scans import SEEN

from .conftest import TOY, Commit
from .conftest import record as file_of

WHO = Proposer("tester")
QUESTION = "How long does checkout wait for the payment service?"


@pytest.fixture
def waits(commit: Commit) -> dict[str, str]:
    """Commit two records that contradict each other and one that does not."""
    files = {"knowledge/policy.yaml": TOY}
    said = "Checkout waits {} seconds for the payment service"
    tags = {"tags": ["checkout"]}
    files |= file_of("decision-1", said.format(30), said.format(30), **tags)
    files |= file_of("decision-2", said.format(60), said.format(60), **tags, date="2026-03-01")
    files |= file_of("decision-3", "Colours come from one palette", "One palette holds every colour.", tags=["design"])
    commit(files)
    return files


def pairs(found: dict[str, Any]) -> list[list[str]]:
    return [pair["ids"] for pair in found["pairs"]]


def shown(provider: Provider, ident: str = "decision-1", **keys: Any) -> list[dict[str, str]]:
    answer = provider.recall(Query(QUESTION, **keys))
    return next(result["conflicts"] for result in answer["results"] if result["id"] == ident)


def test_scan_is_incremental(waits: dict[str, str], commit: Commit, provider: Provider) -> None:
    """A scan compares only what is new or changed since the last one, and keeps what it found before."""
    assert waits
    first = scan(provider)
    assert pairs(first) == [["decision-1", "decision-2"]]
    assert (first["compared"], first["records"]) == (3, 3)
    again = scan(provider)
    assert (again["compared"], pairs(again)) == (0, pairs(first))
    commit(file_of("decision-4", "Checkout waits 90 seconds for the payment service", "It waits.", tags=["checkout"]))
    third = scan(provider)
    assert third["compared"] == 1
    assert ["decision-1", "decision-2"] in pairs(third)
    assert ["decision-1", "decision-4"] in pairs(third)
    assert scan(provider, everything=True)["compared"] == 4


def test_another_embedder_compares_all_anew(waits: dict[str, str], provider: Provider) -> None:
    """When the embedder's identity differs from the last scan's, every record is compared again."""
    assert waits
    scan(provider)
    store = provider.session.store
    store.note(SEEN, json.dumps({**json.loads(store.noted(SEEN)), "identity": "another"}))
    found = scan(provider)
    assert (found["anew"], found["compared"]) == (True, 3)
    store.note(SEEN, "{broken")
    assert scan(provider)["compared"] == 3


def test_what_is_settled_or_overturned_is_no_pair(waits: dict[str, str], commit: Commit, provider: Provider) -> None:
    """A record that supersedes, amends or refutes the other, or is not in force, is no contradiction."""
    assert waits
    commit(file_of("decision-2", "Checkout waits 60 seconds for the payment service", "60.", tags=["checkout"],
                   amends=["decision-1"]))  # fmt: skip
    assert pairs(scan(provider)) == []
    commit(file_of("decision-2", "Checkout waits 60 seconds for the payment service", "60.", tags=["checkout"],
                   status="deprecated"))  # fmt: skip
    assert pairs(scan(provider)) == []


def test_hint_then_recorded_then_resolved(waits: dict[str, str], provider: Provider) -> None:
    """Recall shows a scanned pair as a hint, a judged one as recorded with the rule's winner, a closed one not."""
    assert waits
    assert shown(provider) == []
    scan(provider)
    (hint,) = shown(provider)
    assert (hint["id"], hint["state"]) == ("decision-2", "hint")
    done = record(provider, "decision-2", "decision-1", "contradicts", "30 against 60 seconds", WHO)
    for ident, other in (("decision-1", "decision-2"), ("decision-2", "decision-1")):
        (entry,) = shown(provider, ident)
        assert (entry["id"], entry["state"]) == (other, "recorded")
        assert "30 against 60 seconds" in entry["reason"]
        assert "not reviewed" in entry["reason"]
        assert "decision-2 should win: newer" in entry["reason"]
    assert pairs(scan(provider)) == []
    resolve(provider, done["id"], "Both were meant for another service", WHO)
    assert shown(provider) == []
    assert pairs(scan(provider)) == []
    states = {one["id"]: one["state"] for one in listing(provider)["recorded"]}
    assert states[done["id"]] == "closed"


def test_idempotent(waits: dict[str, str], provider: Provider, git: Any) -> None:
    """The same verdict, whichever record comes first, and the same closing are written once."""
    assert waits
    first = record(provider, "decision-1", "decision-2", "contradicts", "why", WHO)
    again = record(provider, "decision-2", "decision-1", "contradicts", "another reason", WHO)
    assert (again["already"], again["id"]) == (True, first["id"])
    closed = resolve(provider, first["id"], "done", WHO)
    assert resolve(provider, first["id"], "done again", WHO) == {**_told(closed), "already": True}
    assert len(git("branch", "--list", "knowledge/candidate/*").split("\n")) == 2


def _told(done: dict[str, Any]) -> dict[str, Any]:
    return {key: done[key] for key in ("format", "id", "ids", "verdict")}


def test_a_verdict_lapses_when_either_record_changes(waits: dict[str, str], commit: Commit, provider: Provider) -> None:
    """A verdict names both blobs: when one changes it no longer holds, and the pair waits for a judge again."""
    assert waits
    first = record(provider, "decision-1", "decision-2", "contradicts", "30 against 60 seconds", WHO)
    commit(file_of("decision-1", "Checkout waits 45 seconds for the payment service", "45.", tags=["checkout"]))
    assert shown(provider) == []
    assert pairs(scan(provider)) == [["decision-1", "decision-2"]]
    second = record(provider, "decision-1", "decision-2", "contradicts", "30 against 60 seconds", WHO)
    assert (second["already"], second["id"] != first["id"]) == (False, True)


def test_a_merged_contradiction_is_closed_by_a_merged_closing(
    waits: dict[str, str], provider: Provider, repository: Path, git: Any
) -> None:
    """What a reviewer merged stays shown until a closing is merged too, whatever a candidate says."""
    assert waits
    done = record(provider, "decision-1", "decision-2", "contradicts", "30 against 60 seconds", WHO)
    assert main(["promote", done["id"], "--no-push", "--repo", str(repository)]) == 0
    git("merge", "-q", f"knowledge/promote/{done['id']}")
    git("branch", "-D", f"knowledge/candidate/{done['id']}")
    (entry,) = shown(provider)
    assert "not reviewed" not in entry["reason"]
    closing = resolve(provider, done["id"], "decision-1 is for another service", WHO)
    assert [e["state"] for e in shown(provider)] == ["recorded"]
    assert main(["promote", closing["id"], "--no-push", "--repo", str(repository)]) == 0
    git("merge", "-q", f"knowledge/promote/{closing['id']}")
    assert shown(provider) == []
    assert main(["check", "--repo", str(repository)]) == 0


def test_what_has_no_vector_is_taken_up_later(
    waits: dict[str, str], provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record that is not embedded yet is not compared and not taken for scanned; the next scan takes it up."""
    assert waits
    with monkeypatch.context() as patched:
        patched.setattr(Plane, "embedded", property(lambda plane: np.arange(len(plane.starts)) != 1))
        assert (scan(provider)["compared"], pairs(scan(provider))) == (2, [])
    again = scan(provider)
    assert (again["compared"], pairs(again)) == (1, [["decision-1", "decision-2"]])


@pytest.mark.parametrize(
    "said",
    [
        "maybe",
        {"relation": "contradicts"},
        {"relation": "odd", "between": [1, 2]},
        {"relation": "contradicts", "between": [{"id": "decision-1"}, {"id": "decision-2"}]},
    ],
)
def test_a_conflict_that_is_no_verdict_is_told(
    waits: dict[str, str], commit: Commit, provider: Provider, repository: Path, said: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """A `conflict` written by hand that is no verdict is shown nowhere, and `check` warns of it."""
    assert waits
    commit(file_of("finding-1", "They contradict each other", "So it seems.", kind="finding", conflict=said))
    assert shown(provider) == []
    assert main(["check", "--repo", str(repository)]) == 0
    assert "finding-1.yaml:7: warning: conflict is no verdict" in capsys.readouterr().out


def test_show_tells_contradictions(waits: dict[str, str], provider: Provider) -> None:
    """Reading one record tells the contradictions that recall tells."""
    assert waits
    record(provider, "decision-1", "decision-2", "contradicts", "30 against 60 seconds", WHO)
    assert provider.show("decision-1")["record"]["conflicts"] == shown(provider)


@pytest.mark.parametrize(
    ("one", "other", "sign"),
    [
        ("Retries wait 30 seconds", "Retries wait 60 seconds", "30 against 60"),
        ("Orders live in SQLite", "Orders live in Redis", "sqlite against redi"),
        ("Log every request", "Never log a request body", "one of them negates"),
        ("Orders live in SQLite", "Orders live in SQLite", ""),
        ("Freshness is checked on every question", "A fetch fires no hook", ""),
        ("The store lies outside the checkout", "Vectors are float32", ""),
    ],
)
def test_signs_of_different_claims(one: str, other: str, sign: str) -> None:
    """Other numbers, a negation in one, or the same words but for one are signs; equal or unlike titles are none."""
    assert conflicts.differing(one, other) == sign


@pytest.mark.parametrize(
    ("one", "other", "winner"),
    [
        (("a", "user_confirmed", "2020-01-01"), ("b", "agent_generated", "2026-01-01"), "a"),
        (("a", "", "2020-01-01"), ("b", "agent_generated", "2026-01-01"), "a"),
        (("a", "", "2020-01-01"), ("b", "document_extracted", "2026-01-01"), "b"),
        (("a", "", "2026-01-01"), ("b", "", "2026-01-01"), ""),
        (("a", "", ""), ("b", "", "2026-01-01"), ""),
    ],
)
def test_arbitration(one: tuple[str, str, str], other: tuple[str, str, str], winner: str) -> None:
    """Trust decides before event time, a draw is said to be one, and the order of the two does not matter."""
    records = [Record(i, "decision", "T", "accepted", date=day, trust=trust) for i, trust, day in (one, other)]
    assert arbitrate(*records)[0] == winner
    assert arbitrate(*records[::-1])[0] == winner
    assert arbitrate(*records)[1]


@pytest.mark.parametrize(
    ("one", "other", "verdict", "told"),
    [
        ("decision-1", "decision-1", "contradicts", "two records"),
        ("decision-1", "decision-9", "contradicts", "sidecar list"),
        ("decision-1", "decision-2", "maybe", "use contradicts"),
    ],
)
def test_what_cannot_be_judged(
    waits: dict[str, str], provider: Provider, one: str, other: str, verdict: str, told: str
) -> None:
    """An unknown record or verdict, and a pair of one record, are refused with what to do."""
    assert waits
    with pytest.raises(SidecarError, match=told):
        record(provider, one, other, verdict, "why", WHO)
    with pytest.raises(SidecarError, match="conflicts list"):
        resolve(provider, "finding-1", "why", WHO)


def test_another_verdict_on_the_same_blobs_is_refused(waits: dict[str, str], provider: Provider) -> None:
    """Two verdicts on one state of a pair would contradict each other; a compatible pair is no hint any more."""
    assert waits
    scan(provider)
    record(provider, "decision-1", "decision-2", "compatible", "two services", WHO)
    assert shown(provider) == []
    with pytest.raises(SidecarError, match="judged this pair already"):
        record(provider, "decision-1", "decision-2", "contradicts", "why", WHO)


def test_negative_controls(waits: dict[str, str], commit: Commit, provider: Provider, monkeypatch: Any) -> None:
    """Without the rules of the shared subject and of lapsing, strangers would pair and an old verdict would stand."""
    assert waits
    monkeypatch.setattr(conflicts, "CLOSE", -1.0)
    assert pairs(scan(provider)) == [["decision-1", "decision-2"]]
    monkeypatch.setattr(conflicts, "subject", lambda *_: "anything")
    assert len(pairs(scan(provider, everything=True))) == 3
    record(provider, "decision-1", "decision-2", "contradicts", "why", WHO)
    commit(file_of("decision-1", "Checkout waits 45 seconds for the payment service", "45.", tags=["checkout"]))
    monkeypatch.setattr(conflicts, "holding", lambda verdicts, _blobs: list(verdicts))
    assert [entry["state"] for entry in shown(provider) if entry["id"] == "decision-2"] == ["recorded"]


def test_command_line(waits: dict[str, str], repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The commands scan, record, list and resolve, in text and as JSON."""
    assert waits
    where = ["--repo", str(repository)]
    assert main(["conflicts", "scan", *where]) == 0
    assert "- decision-1 / decision-2: same tag checkout" in capsys.readouterr().out
    verdict = ["decision-1", "decision-2", "contradicts", "--reason", "30 against 60"]
    assert main(["conflicts", "record", *verdict, "--json", *where]) == 0
    done = json.loads(capsys.readouterr().out)
    assert main(["conflicts", "list", *where]) == 0
    assert f"{done['id']} (open, not reviewed) decision-1 / decision-2: contradicts" in capsys.readouterr().out
    assert main(["conflicts", "resolve", done["id"], "--reason", "settled", *where]) == 0
    assert "resolved, as finding-" in capsys.readouterr().out
