from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.reader import build_record, parse_record
from seed.record import BACKWARD, FORWARD, KINDS, STATUSES, Parsed, Record, normal_status, parse_day, valid_id

FULL = """\
id: decision-0007
kind: decision
title: Session state lives in SQLite
status: accepted
date: 2026-11-29
body: |
  Because.
tags: [storage, 決定]
paths: [seed/store.py]
trust: user_confirmed
source:
  - path: docs/adr/0025.md
supersedes: [decision-0003]
relates_to: fact-1
superseded_by: []
workspace: station
valid_until: 2027-06-30
proposed_by: {agent: claude-code, session: 5f1c}
colour: red
"""


def read(**keys: Any) -> Parsed:
    data: dict[str, Any] = {"id": "d-1", "kind": "decision", "title": "T", "status": "accepted", "body": "B"}
    data |= keys
    return build_record({k: v for k, v in data.items() if v is not None})


def problems(parsed: Parsed) -> list[tuple[str, str]]:
    return [(problem.level, problem.reason) for problem in parsed.problems]


def record(**keys: Any) -> Record:
    found = read(**keys).record
    assert found is not None
    return found


def test_every_key_of_the_schema_is_read() -> None:
    """A full record comes back field by field, the unknown key kept."""
    parsed = parse_record(FULL.encode())
    assert parsed.record == Record(
        id="decision-0007",
        kind="decision",
        title="Session state lives in SQLite",
        status="accepted",
        status_text="accepted",
        date="2026-11-29",
        body="Because.\n",
        tags=("storage", "決定"),
        paths=("seed/store.py",),
        trust="user_confirmed",
        source=({"path": "docs/adr/0025.md"},),
        relations=(("supersedes", "decision-0003"), ("relates_to", "fact-1")),
        workspace="station",
        valid_until="2027-06-30",
        proposed_by={"agent": "claude-code", "session": "5f1c"},
        extra={"colour": "red"},
    )
    assert [(p.level, p.line) for p in parsed.problems] == [("warning", 19)]


@pytest.mark.parametrize("ending", ["\r\n", "\n"])
def test_line_ends_make_no_other_record(ending: str) -> None:
    """A CRLF checkout reads as the same record."""
    assert parse_record(FULL.replace("\n", ending).encode()).record == parse_record(FULL.encode()).record


@pytest.mark.parametrize("key", ["id", "kind", "title"])
def test_without_id_kind_or_title_there_is_no_record(key: str) -> None:
    """What a record cannot do without is a fatal problem that says what to add."""
    parsed = read(**{key: None})
    assert parsed.record is None
    assert any(problem.fatal and key in problem.reason for problem in parsed.problems)


def test_all_fatal_problems_are_told_at_once() -> None:
    """An empty mapping lacks three things, and all three are named."""
    assert [p.reason for p in parse_record(b"{}").problems] == ["no id", "no kind", "no title"]


@pytest.mark.parametrize("ident", ["a", "A.b_c-9", "0001", "x" * 128, "decision-20261129-0a1b2c"])
def test_ids_that_serve_as_file_and_branch_names_are_allowed(ident: str) -> None:
    """Letters, digits, dot, underscore and hyphen, up to 128."""
    assert valid_id(ident)


@pytest.mark.parametrize(
    "ident", ["", "-a", ".a", "a b", "a/b", "a..b", "a.", "a.lock", "é", "x" * 129, "a\n", "a~b", "../x", "a\u200b"]
)
def test_ids_that_git_or_a_file_system_would_choke_on_are_not(ident: str) -> None:
    """No path part, no git ref syntax, nothing invisible."""
    assert not valid_id(ident)


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_status_its_kind_does_not_have_is_unknown(kind: str, status: str) -> None:
    """Accepted is for decisions, ADRs and findings; verified for facts and findings; rejected for decisions, ADRs."""
    only = {
        "accepted": {"decision", "adr", "finding"},
        "verified": {"fact", "finding"},
        "unverified": {"fact", "finding"},
        "rejected": {"decision", "adr"},
    }
    assert normal_status(status, kind) == (status if kind in only.get(status, set(KINDS)) else "unknown")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("Accepted", "accepted"),
        ("  ACCEPTED ", "accepted"),
        ("draft", "proposed"),
        ("Draft", "proposed"),
        ("", "unknown"),
        ("false, see F-29", "unknown"),
        ("accepted!", "unknown"),
        ("accepted by all", "unknown"),
        ("superseded by d-2", "unknown"),
    ],
)
def test_case_and_outer_spaces_are_ignored_and_nothing_else(typed: str, expected: str) -> None:
    """A status is one known word; everything else is unknown."""
    assert normal_status(typed, "decision") == expected
    assert record(status=typed).status == expected


def test_a_missing_or_unheard_of_status_is_an_error_and_the_word_unknown_a_warning() -> None:
    """The literal unknown says that nobody could tell; the rest is a mistake."""
    assert problems(read(status=None))[0][0] == "error"
    assert problems(read(status="okay"))[0][0] == "error"
    assert problems(read(status="verified"))[0][0] == "error"
    assert problems(read(status="unknown"))[0][0] == "warning"


@pytest.mark.parametrize("kind", KINDS)
def test_only_a_fact_may_do_without_a_body(kind: str) -> None:
    """A fact's title can say it all; every other kind needs a body."""
    status = {"fact": "verified", "history": "historical"}.get(kind, "accepted")
    assert (problems(read(kind=kind, status=status, body=None)) == []) == (kind == "fact")


def test_context_decision_and_consequences_are_joined_under_headings() -> None:
    """The three parts make a body in that order, each under its name."""
    found = record(body=None, consequences="C.\n", context="A.", decision="B.")
    assert found.body == "## Context\n\nA.\n\n## Decision\n\nB.\n\n## Consequences\n\nC.\n"


@pytest.mark.parametrize("key", ["tags", "paths", *FORWARD, *BACKWARD])
def test_a_list_may_be_one_text_and_repeats_are_dropped(key: str) -> None:
    """One text counts as a list of one; spaces around entries and double entries do not count."""
    for value in ("x-1", ["x-1"], [" x-1 ", "x-1", ""]):
        found = record(**{key: value})
        held = getattr(found, key) if key in ("tags", "paths") else found.related(key)
        assert held == ("x-1",)


@pytest.mark.parametrize("key", ["tags", *FORWARD, *BACKWARD])
def test_a_list_of_anything_else_is_an_error(key: str) -> None:
    """Mappings inside a list are named, and the texts beside them are kept."""
    parsed = read(**{key: [{"a": "b"}, "x-1"]})
    assert parsed.record is not None
    assert any(key in reason for _, reason in problems(parsed))


def test_a_relation_to_what_cannot_be_an_id_is_an_error() -> None:
    """A relation names an id, not a sentence; what was written is kept, so that an answer can say so."""
    parsed = read(supersedes=["the old one"])
    assert parsed.record is not None
    assert parsed.record.relations == (("supersedes", "the old one"),)
    assert "cannot be an id" in problems(parsed)[0][1]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-11-29", date(2026, 11, 29)),
        ("2026-11-29T23:30:00", date(2026, 11, 29)),
        ("2026-11-29T23:30:00-05:00", date(2026, 11, 30)),
        ("2026-11-29T23:30:00Z", date(2026, 11, 29)),
        ("2026-13-01", None),
        ("0001-01-01T00:00:00+23:59", None),  # a day of the year 0 in UTC
        ("9999-12-31T23:59:59-23:59", None),
        ("29.11.2026", None),
        ("next week", None),
        ("", None),
    ],
)
def test_a_day_is_iso_8601_in_utc(text: str, day: date | None) -> None:
    """A moment with a zone belongs to its UTC day."""
    assert parse_day(text) == day


@pytest.mark.parametrize("key", ["date", "valid_until"])
def test_a_date_is_kept_as_text_and_an_unreadable_one_is_an_error(key: str) -> None:
    """What was typed comes back, also where it is no date."""
    parsed = read(**{key: "sometime"})
    assert getattr(parsed.record, key) == "sometime"
    assert key in problems(parsed)[0][1]


def test_an_unknown_trust_is_an_error_and_counts_as_none() -> None:
    """A misspelt trust raises nothing."""
    parsed = read(trust="user-confirmed")
    assert parsed.record is not None
    assert parsed.record.trust == ""
    assert problems(parsed)[0][0] == "error"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("docs/a.md", ({"path": "docs/a.md"},)),
        (["https://x.y/z"], ({"url": "https://x.y/z"},)),
        ({"commit": "abc"}, ({"commit": "abc"},)),
        ([{"transcript": "t", "path": "p"}], ({"transcript": "t", "path": "p"},)),
    ],
)
def test_a_source_may_be_a_text_a_mapping_or_a_list(source: object, expected: object) -> None:
    """A text is a path, or a URL where it looks like one."""
    assert record(source=source).source == expected


def test_a_source_that_names_nothing_is_an_error() -> None:
    """A source needs one of path, url, commit or transcript."""
    assert "source" in problems(read(source=[{"book": "x"}]))[0][1]


def test_paths_are_compared_in_one_unicode_form() -> None:
    """A path typed in decomposed form is the composed one."""
    assert record(paths=["cafe\u0301.py"]).paths == ("caf\u00e9.py",)


def test_another_format_is_fatal() -> None:
    """A record of a later format is not guessed at."""
    assert read(format="1").record is not None
    assert read(format="2").record is None


@given(
    st.recursive(
        st.text(max_size=6) | st.none() | st.booleans() | st.integers(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from(
        [
            "id",
            "kind",
            "title",
            "status",
            "date",
            "body",
            "context",
            "tags",
            "paths",
            "source",
            "supersedes",
            "superseded_by",
            "proposed_by",
            "trust",
            "workspace",
            "valid_until",
            "format",
            "x",
        ]
    ),
)
def test_no_value_of_any_key_raises(value: object, key: str) -> None:
    """Whatever stands under a key, reading a record ends in a record or in problems with a reason and a fix."""
    parsed = read(**{key: value})
    assert parsed.record is not None or any(problem.fatal for problem in parsed.problems)
    assert all(problem.reason and problem.fix for problem in parsed.problems)


@given(st.binary(max_size=120))
def test_no_bytes_raise(data: bytes) -> None:
    """Random bytes are a problem, never an exception."""
    parsed = parse_record(data)
    assert parsed.record is not None or parsed.problems
