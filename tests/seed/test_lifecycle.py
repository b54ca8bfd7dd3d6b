from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seed.lifecycle import Link, at_day, cycles, standings
from seed.reader import build_record
from seed.record import STATUSES, Record

IN_FORCE = {"accepted", "verified", "unverified"}
ONCE = ["accepted", "verified", "deprecated", "superseded", "refuted", "historical"]
NEVER = ["proposed", "candidate", "rejected", "unknown"]
TODAY = date(2026, 11, 29)


def rec(ident: str, status: str = "accepted", **keys: Any) -> Record:
    """Return a record of a kind that may have this status."""
    kind = "fact" if status in ("verified", "unverified") else "decision"
    data = {"id": ident, "kind": kind, "title": "T", "status": status, "body": "B", **keys}
    found = build_record(data).record
    assert found is not None
    return found


def effective(*records: Record, candidates: frozenset[int] = frozenset()) -> list[str]:
    return [standing.status for standing in standings(records, candidates)]


# --- rule 1: a record once in force retires what it supersedes -------------------------------------------------


@pytest.mark.parametrize("status", ONCE)
@pytest.mark.parametrize("told", ["by the successor", "by the predecessor"])
def test_a_record_once_in_force_retires_what_it_supersedes(status: str, told: str) -> None:
    """Also after it was itself retired, and from whichever end the relation is told."""
    if told == "by the successor":
        records = [rec("old"), rec("new", status, supersedes=["old"])]
    else:
        records = [rec("old", superseded_by=["new"]), rec("new", status)]
    assert effective(*records)[0] == "superseded"


@pytest.mark.parametrize("status", NEVER)
@pytest.mark.parametrize("told", ["by the successor", "by the predecessor"])
def test_a_record_never_in_force_retires_nothing_and_the_chain_is_shown(status: str, told: str) -> None:
    """A proposed, candidate, rejected or unknown successor leaves its predecessor answering, with the link shown."""
    if told == "by the successor":
        records = [rec("old"), rec("new", status, supersedes=["old"])]
    else:
        records = [rec("old", superseded_by=["new"]), rec("new", status)]
    first, second = standings(records)
    assert first.status == "accepted"
    assert first.lineage == (Link("superseded_by", "new", status),)
    assert second.lineage == (Link("supersedes", "old", "accepted"),)


def test_a_chain_retires_all_but_its_last() -> None:
    """Each of a chain retires the one before, whatever became of itself."""
    records = [rec("a"), rec("b", supersedes=["a"]), rec("c", supersedes=["b"])]
    assert effective(*records) == ["superseded", "superseded", "accepted"]


def test_ids_in_relations_compare_without_case() -> None:
    """A relation reaches a record whatever the case of its id."""
    assert effective(rec("D-1"), rec("d-2", supersedes=["d-1"])) == ["superseded", "accepted"]


# --- rule 2: it only retires, never revives --------------------------------------------------------------------


@pytest.mark.parametrize("status", ["superseded", "refuted", "historical", "deprecated"])
@pytest.mark.parametrize("successor", STATUSES)
def test_a_file_that_says_it_is_over_stays_so(status: str, successor: str) -> None:
    """No relation brings a retired record back into force."""
    assert effective(rec("old", status), rec("new", successor, supersedes=["old"]))[0] not in IN_FORCE


def test_what_a_refuted_record_had_superseded_stays_superseded() -> None:
    """To refute the successor does not revive the predecessor."""
    records = [rec("a"), rec("b", supersedes=["a"]), rec("c", "verified", refutes=["b"])]
    assert effective(*records) == ["superseded", "refuted", "verified"]


@pytest.mark.parametrize("length", [1, 2, 3, 7])
def test_in_a_cycle_all_members_are_superseded(length: int) -> None:
    """No record of a circle answers."""
    ids = [f"r{n}" for n in range(length)]
    records = [rec(ident, supersedes=[ids[(n + 1) % length]]) for n, ident in enumerate(ids)]
    assert set(effective(*records)) == {"superseded"}
    assert [sorted(loop) for loop in cycles(records)] == [list(range(length))]


@pytest.mark.parametrize("relation", ["superseded_by", "refuted_by"])
def test_a_dead_successor_revives_nothing(relation: str) -> None:
    """A record that names what overturned it is out of force although that record is nowhere; the link says missing."""
    (standing,) = standings([rec("old", **{relation: ["gone"]})])
    assert standing.status not in IN_FORCE
    assert standing.lineage == (Link(relation, "gone", "missing"),)


# --- rule 3: who may refute, and what the unverified may do ----------------------------------------------------


@pytest.mark.parametrize("status", ["accepted", "verified"])
@pytest.mark.parametrize("told", ["by the refuter", "by the refuted"])
def test_an_accepted_or_verified_record_refutes(status: str, told: str) -> None:
    """A refutation takes effect from a record in force, told from either end."""
    if told == "by the refuter":
        records = [rec("old", "verified"), rec("new", status, refutes=["old"])]
    else:
        records = [rec("old", "verified", refuted_by=["new"]), rec("new", status)]
    assert effective(*records)[0] == "refuted"


def test_a_refutation_from_an_unverified_record_is_a_conflict_on_both() -> None:
    """Nothing is retired; each of the two names the other as in conflict."""
    old, new = standings([rec("old", "verified"), rec("new", "unverified", refutes=["old"])])
    assert (old.status, new.status) == ("verified", "unverified")
    assert [ident for ident, _ in old.conflicts] == ["new"]
    assert [ident for ident, _ in new.conflicts] == ["old"]


@pytest.mark.parametrize("status", NEVER)
def test_a_record_never_in_force_refutes_nothing(status: str) -> None:
    """A proposal to refute leaves what it is about in force."""
    assert effective(rec("old", "verified"), rec("new", status, refutes=["old"]))[0] == "verified"


@pytest.mark.parametrize("target", ["unverified", "verified", "accepted"])
def test_an_unverified_record_supersedes_only_unverified_ones(target: str) -> None:
    """What is not verified does not push out what is."""
    expected = "superseded" if target == "unverified" else target
    assert effective(rec("old", target), rec("new", "unverified", supersedes=["old"]))[0] == expected


# --- rule 4: past valid_until is historical --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("valid_until", "expected"),
    [
        ("", "accepted"),
        ("2026-11-29", "accepted"),
        ("2026-11-30", "accepted"),
        ("2026-11-28", "historical"),
        ("2026-11-28T23:30:00-05:00", "accepted"),
        ("soon", "unknown"),
    ],
)
def test_the_last_day_is_inclusive_and_in_utc(valid_until: str, expected: str) -> None:
    """A record answers through its last day; one whose last day cannot be read never answers."""
    assert at_day("accepted", valid_until, TODAY) == expected


@pytest.mark.parametrize("status", ["refuted", "superseded", "unknown", "candidate", "historical"])
def test_the_clock_never_covers_up_what_comes_first(status: str) -> None:
    """What is refuted, superseded, unknown or a candidate stays so when its time is over."""
    assert at_day(status, "2020-01-01", TODAY) == status


# --- rule 5: precedence ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("unknown", "unknown"),
        ("candidate", "candidate"),
        ("superseded", "refuted"),
        ("historical", "refuted"),
        ("accepted", "refuted"),
    ],
)
def test_precedence_is_unknown_candidate_refuted_superseded(own: str, expected: str) -> None:
    """A record that is refuted and superseded at once is refuted, unless unknown or a candidate."""
    records = [rec("x", own), rec("y", supersedes=["x"]), rec("z", "verified", refutes=["x"])]
    assert effective(*records)[0] == expected


def test_superseded_comes_before_historical() -> None:
    """A historical record that was superseded is superseded."""
    assert effective(rec("x", "historical"), rec("y", supersedes=["x"]))[0] == "superseded"


# --- candidates, twins, wordings -------------------------------------------------------------------------------


def test_a_candidate_from_a_branch_retires_nothing_whatever_it_says() -> None:
    """A record on a candidate branch is a candidate, its relations have no effect, and the link is shown."""
    records = [rec("old"), rec("new", "accepted", supersedes=["old"], refutes=["old"])]
    old, new = standings(records, frozenset({1}))
    assert (old.status, new.status) == ("accepted", "candidate")
    assert Link("superseded_by", "new", "candidate") in old.lineage


def test_a_record_cannot_retire_by_naming_a_candidate_as_its_predecessor() -> None:
    """What a candidate's file says of others counts for nothing, also told backwards."""
    records = [rec("old"), rec("new", superseded_by=["old"])]
    assert effective(*records, candidates=frozenset({1})) == ["accepted", "candidate"]


def test_two_files_with_one_id_both_answer_and_are_marked() -> None:
    """Twins keep their status, each in conflict with the other; a relation to the id reaches both."""
    one, two = standings([rec("a"), rec("A")])
    assert (one.status, two.status) == ("accepted", "accepted")
    assert one.conflicts == (("a", "another file has the same id"),)
    assert two.conflicts == (("A", "another file has the same id"),)
    assert effective(rec("a"), rec("A"), rec("b", supersedes=["a"])) == ["superseded", "superseded", "accepted"]


@pytest.mark.parametrize(
    "wording",
    [
        {"status": "refuted"},
        {"status": " Refuted "},
        {"status": "false, see F-29"},
        {"status": "disproved"},
        {"status": "verified (refuted)"},
        {"status": "verified", "refuted_by": ["f-29"]},
        {"status": "verified", "refuted_by": ["gone"]},
        {"status": "wrong"},
        {"status": ""},
    ],
    ids=str,
)
def test_a_refuted_fact_is_never_in_force_however_that_is_worded(wording: dict[str, Any]) -> None:
    """Every way of saying that a fact is refuted keeps it out of force, also those that no one knows."""
    fact = rec("f-1", **{"kind": "fact", **wording})
    assert effective(fact, rec("f-29", "verified"))[0] not in IN_FORCE


# --- any set of records ----------------------------------------------------------------------------------------

LINKS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=16)


def linked(pairs: list[tuple[int, int]], relation: str = "supersedes") -> list[Record]:
    return [rec(f"r{n}", **{relation: [f"r{b}" for a, b in pairs if a == n]}) for n in range(8)]


@example([(0, 3), (0, 1), (1, 2), (2, 0), (3, 1)])  # a member of a circle that a depth-first search meets too late
@given(LINKS)
def test_every_record_that_leads_back_to_itself_is_in_a_reported_cycle(pairs: list[tuple[int, int]]) -> None:
    """check names every member of every circle, and no record that is in none."""
    reach = {n: {b for a, b in pairs if a == n} for n in range(8)}
    for _ in range(8):
        reach = {n: found.union(*(reach[m] for m in found)) for n, found in reach.items()}
    expected = {n for n in reach if n in reach[n]}
    loops = cycles(linked(pairs))
    assert {n for loop in loops for n in loop} == expected
    edges = set(pairs)
    assert all((a, b) in edges for loop in loops for a, b in zip(loop, [*loop[1:], loop[0]], strict=True))


@given(LINKS, st.permutations(range(8)))
def test_the_order_of_the_files_does_not_matter(pairs: list[tuple[int, int]], order: list[int]) -> None:
    """Effective statuses are those of the set of records, in whatever order they are read."""
    records = linked(pairs)
    straight = effective(*records)
    shuffled = effective(*(records[n] for n in order))
    assert [straight[n] for n in order] == shuffled


@given(LINKS, st.lists(st.sampled_from(STATUSES), min_size=8, max_size=8))
def test_one_more_relation_never_brings_a_record_into_force(pairs: list[tuple[int, int]], statuses: list[str]) -> None:
    """Supersession is monotone: records only ever leave force."""
    records = [rec(f"r{n}", status) for n, status in enumerate(statuses)]
    before = effective(*records)
    related = [rec(f"r{n}", s, supersedes=[f"r{b}" for a, b in pairs if a == n]) for n, s in enumerate(statuses)]
    after = effective(*related)
    assert all(now == was or now not in IN_FORCE for was, now in zip(before, after, strict=True))


def test_a_chain_of_ten_thousand_needs_no_recursion() -> None:
    """Input decides how long a chain is, so nothing recurses along it."""
    records = [rec("r0"), *(rec(f"r{n}", supersedes=[f"r{n - 1}"]) for n in range(1, 10_000))]
    assert cycles(records) == []
    assert effective(*records)[-2:] == ["superseded", "accepted"]
