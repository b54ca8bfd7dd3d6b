from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.errors import SidecarError
from seed.facets import facets
from seed.reader import build_record
from seed.record import KINDS, STATUSES
from seed.snapshot import Head
from sidecar.filters import passing
from sidecar.query import MAX_LIMIT, Query, by_default, checked, has_tag, in_period, same_path, status_admits


def head(**keys: Any) -> Head:
    data = {"id": "d-1", "kind": "decision", "title": "T", "status": "accepted", "body": "B", **keys}
    record = build_record(data).record
    assert record is not None
    return Head(record, "knowledge/d-1.yaml", "b", record.status)


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("kind", KINDS)
def test_only_what_is_in_force_answers_by_default(status: str, kind: str) -> None:
    """Accepted, verified and unverified answer; no other status does, and kind history never."""
    expected = status in ("accepted", "verified", "unverified") and kind != "history"
    assert by_default(status, kind) is expected
    assert status_admits(Query("x"), status, kind) is expected


@pytest.mark.parametrize("status", STATUSES)
def test_a_status_that_is_asked_for_is_let_in_and_no_other(status: str) -> None:
    """Naming statuses replaces the default."""
    assert status_admits(Query("x", statuses=(status,)), status, "decision")
    assert not any(status_admits(Query("x", statuses=(status,)), s, "decision") for s in STATUSES if s != status)


def test_all_lets_every_status_in_and_rejected_ones_into_their_own_list() -> None:
    """`all` takes every status; a rejected record stays in decided_against unless named or listed."""
    every = Query("x", statuses=("all",))
    assert {s for s in STATUSES if not status_admits(every, s, "decision")} == {"rejected"}
    assert status_admits(replace(every, listing=True), "rejected", "decision")
    assert status_admits(Query("x", statuses=("rejected",)), "rejected", "decision")


@pytest.mark.parametrize(
    ("query", "keys", "expected"),
    [
        (Query(kinds=("fact",)), {}, False),
        (Query(kinds=("decision", "adr")), {}, True),
        (Query(trust="user_confirmed"), {"trust": "user_confirmed"}, True),
        (Query(trust="document_extracted"), {}, True),
        (Query(trust="agent_generated"), {}, False),
        (Query(path="seed/store"), {"paths": ["seed/store/x.py"]}, True),
        (Query(path="seed/store/x.py"), {"paths": ["seed"]}, True),
        (Query(path="seed/store"), {"paths": ["seed/storehouse.py"]}, False),
        (Query(path="seed"), {}, False),
        (Query(tags=("a", "b")), {"tags": ["a", "b", "c"]}, True),
        (Query(tags=("a", "b")), {"tags": ["a"]}, False),
        (Query(after="2026-01-01"), {"date": "2025-12-31"}, False),
        (Query(after="2026-01-01", before="2026-01-01"), {"date": "2026-01-01T23:59:59Z"}, True),
        (Query(after="2026-01-01"), {}, False),
    ],
)
def test_each_filter_lets_through_what_it_names(query: Query, keys: dict[str, Any], *, expected: bool) -> None:
    """Filters are joined: each has to hold, and a record without the value does not pass."""
    assert passing(query, facets([head(**keys)]), "").tolist() == [expected]


@pytest.mark.parametrize(
    ("workspace", "held", "expected"),
    [("", "station", True), ("station", "", True), ("station", "station", True), ("station", "cabin", False)],
)
def test_a_workspace_sees_its_own_and_the_shared(workspace: str, held: str, *, expected: bool) -> None:
    """A session in a workspace gets its records and those of no workspace, never another's."""
    assert passing(Query("x"), facets([head(workspace=held)]), workspace).tolist() == [expected]


@pytest.mark.parametrize(
    ("tags", "asked", "expected"),
    [
        (("storage",), "Storage", True),
        (("data storage",), "storage", True),
        (("storage-engine",), "storage", False),
        (("restore",), "store", False),
        (("v1.2",), "1.2", True),
        (("資料庫",), "資料", True),
        (("資料庫",), "料", False),
        (("a/b",), "b a", True),
        (("a",), "", False),
    ],
)
def test_a_tag_is_held_as_a_label_or_whole_tokens(tags: tuple[str, ...], asked: str, *, expected: bool) -> None:
    """A part of a word is no tag, but for CJK the beginning or end of one is."""
    assert has_tag(tags, asked) is expected


@pytest.mark.parametrize(
    ("text", "after", "before", "expected"),
    [
        ("2026-01-01", "2026-01-01", "2026-01-01", True),
        ("2026-01-01T10:00:00+00:00", "", "2026-01-01", True),
        ("2026-01-01T23:00:00-02:00", "2026-01-02", "", True),
        ("2025-12-31", "2026-01-01", "", False),
        ("soon", "2026-01-01", "", False),
        ("", "", "2026-01-01", False),
        ("anything", "", "", True),
    ],
)
def test_a_period_includes_its_days_whole_and_in_utc(text: str, after: str, before: str, *, expected: bool) -> None:
    """Both ends count, a day means all of it, and what has no date is in no period."""
    assert in_period(text, after, before) is expected


def test_same_path_is_reflexive_and_never_cuts_a_name() -> None:
    """A folder holds what is below it, told either way round; a common beginning of names does not count."""
    assert same_path("a/b", "a/b/")
    assert same_path("a", "a/b")
    assert same_path("a/b", "a")
    assert not same_path("a/b", "a/bc")


@pytest.mark.parametrize(
    ("query", "word"),
    [
        (Query(" "), "nothing is asked"),
        (Query("x", limit=0), "limit"),
        (Query("x", limit=MAX_LIMIT + 1), "limit"),
        (Query("x" * 4001), "characters"),
        (Query("x", also=("y" * 4001,)), "characters"),
        (Query("x", kinds=("note",)), "kind"),
        (Query("x", statuses=("good",)), "status"),
        (Query("x", trust="much"), "trust"),
        (Query("x", after="yesterday"), "after"),
        (Query("x", before="2026-13-01"), "before"),
    ],
)
def test_an_argument_that_cannot_be_meant_is_refused_by_name(query: Query, word: str) -> None:
    """One line says which argument, and what to use instead."""
    with pytest.raises(SidecarError, match=word) as caught:
        checked(query)
    assert caught.value.fix


def test_arguments_come_into_one_form() -> None:
    """Case, commas, spaces, backslashes and `draft` mean what they obviously mean."""
    asked = checked(
        Query("  x ", kinds=("Decision, adr",), statuses=("Draft",), path=".\\seed\\store/", trust=" User_Confirmed")
    )
    assert (asked.question, asked.kinds, asked.statuses) == ("x", ("decision", "adr"), ("proposed",))
    assert asked.trust == "user_confirmed"
    assert asked.path == "seed/store"


LONE = st.text(st.characters(categories=("Cs", "Lu")), min_size=1, max_size=5)


@given(
    st.text(max_size=60),
    st.lists(st.text(max_size=20), max_size=3),
    st.fixed_dictionaries({}, optional=dict.fromkeys(("path", "workspace", "cursor", "since"), LONE)),
    st.lists(LONE, max_size=2),
)
def test_any_question_can_be_hashed_and_stored(
    question: str, also: list[str], texts: dict[str, str], listed: list[str]
) -> None:
    """Lone surrogates, which come of bytes that are no UTF-8, go out of every argument; nothing else raises."""
    asked = checked(Query(question, tuple(also), kinds=("fact",), tags=tuple(listed), paths=tuple(listed), **texts))
    assert all(text.encode() for text in asked.phrasings)
    assert repr(asked).encode()
    assert len(set(asked.phrasings)) == len(asked.phrasings)
    assert checked(asked) == asked


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"])
def test_a_moment_outside_time_is_refused(at: str) -> None:
    """A moment that has no UTC day is refused like any text that is no date."""
    with pytest.raises(SidecarError, match="not an ISO 8601 date"):
        checked(Query("x", after=at))
