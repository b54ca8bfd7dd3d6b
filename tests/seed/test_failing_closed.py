from __future__ import annotations

import pytest

from seed.lifecycle import standings
from seed.reader import build_record, parse_record
from seed.record import Record

HEAD = "id: d-1\nkind: decision\ntitle: One\nstatus: accepted\nbody: Text.\n"


def record(line: str, head: str = HEAD) -> Record:
    found = parse_record((head + line + "\n").encode()).record
    assert found is not None
    return found


@pytest.mark.parametrize(
    "line",
    [
        'superseded_by: "decision 12"',
        "superseded_by: docs/adr/0012-new.md",
        'superseded_by: "#12"',
        "superseded_by: [{id: decision-0012}]",
        "superseded_by: [entscheidung-ü]",
        "superseded_by: decision-0012",
        "Superseded_by: [decision-0012]",
        "superseded-by: [decision-0012]",
    ],
)
def test_a_file_that_says_it_is_overturned_never_answers(line: str) -> None:
    """However badly the successor is named, the record itself said that it no longer holds."""
    assert standings([record(line)])[0].status == "superseded"


def test_a_badly_named_refuter_refutes() -> None:
    """The same holds for a fact that names its refuter."""
    fact = record('refuted_by: ["F 29"]', HEAD.replace("decision", "fact").replace("accepted", "verified"))
    assert standings([fact])[0].status == "refuted"


@pytest.mark.parametrize("successor", ["proposed", "rejected"])
def test_a_successor_that_never_held_leaves_its_predecessor(successor: str) -> None:
    """Only what is nowhere, or was in force, retires: a proposal and a rejected record do not."""
    other = build_record({"id": "d-2", "kind": "decision", "title": "Two", "status": successor, "body": "x"}).record
    assert other is not None
    assert standings([record("superseded_by: d-2"), other])[0].status == "accepted"


def test_a_candidate_brings_nothing_back() -> None:
    """A branch with the id of a missing successor leaves the record as overturned as it was."""
    other = build_record({"id": "d-2", "kind": "decision", "title": "Two", "status": "accepted", "body": "x"}).record
    assert other is not None
    found = standings([record("superseded_by: d-2"), other], frozenset({1}))
    assert [standing.status for standing in found] == ["superseded", "candidate"]


def test_one_missing_successor_is_enough() -> None:
    """A second relation that leads somewhere does not cover for one that leads nowhere."""
    fact = {"id": "f-1", "kind": "fact", "title": "Doubt", "status": "unverified"}
    doubt = build_record(fact).record
    assert doubt is not None
    assert standings([record("superseded_by: d-99\nrefuted_by: f-1"), doubt])[0].status == "superseded"


@pytest.mark.parametrize("line", ['supersedes: "the old one"', "supersedes: [{id: d-0}]", "refutes: a/b.yaml"])
def test_what_retires_something_unreadable_is_marked(line: str) -> None:
    """Where nobody can tell what a record replaces, the record says so on every answer."""
    assert standings([record(line)])[0].conflicts


def test_ids_in_one_text_are_several() -> None:
    """A text with commas between ids names each of them."""
    assert record('supersedes: "d-7, d-9"').related("supersedes") == ("d-7", "d-9")


def test_a_near_miss_of_a_relation_is_an_error() -> None:
    """A misspelt relation would let what it overturns answer, so check fails."""
    problems = parse_record((HEAD + "superseeds: [d-0]\n").encode()).problems
    assert any(p.level == "error" and "supersedes" in p.fix for p in problems)


def test_retiring_a_confirmed_record_unconfirmed_is_told() -> None:
    """An answer warns where a record of less trust retired one that a user confirmed."""
    old = record("trust: user_confirmed")
    keys = {"id": "d-2", "kind": "decision", "title": "Two", "status": "accepted", "body": "x", "supersedes": ["d-1"]}
    new = build_record({**keys, "trust": "agent_generated"}).record
    assert new is not None
    assert standings([old, new])[1].conflicts[0][0] == "d-1"
