from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seed.lifecycle import Link
from seed.reader import build_record
from seed.snapshot import Head
from sidecar.answer import FULL_BYTES, SHORTEST_PASSAGE, Hit, brief, fit, item, side_item, size, why
from sidecar.render import render


def head(*, lineage: tuple[Link, ...] = (), conflicts: tuple[tuple[str, str], ...] = (), **keys: Any) -> Head:
    data = {
        "id": "d-1",
        "kind": "decision",
        "title": "T",
        "status": "accepted",
        "body": "B",
        "date": "2026-01-01",
        **keys,
    }
    record = build_record(data).record
    assert record is not None
    return Head(record, f"knowledge/{record.id}.yaml", "b" * 40, record.status, lineage, conflicts)


def hit(**keys: Any) -> Hit:
    return Hit(**{"ordinal": 0, "status": "accepted", "score": 1.23456, "relevance": 0.5, "cosine": 0.6, **keys})


def result(held: Head | None = None, found: Hit | None = None, text: str = "Words.") -> dict[str, Any]:
    passage = {"text": text, "section": "S", "start": 0, "end": len(text)}
    return item(held or head(), found or hit(), passage, {})


def answer(results: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {
        "format": 1,
        "verdict": "match",
        "retrieval": "hybrid",
        "results": results,
        "decided_against": [],
        "retired": [],
        "open_items": [],
        "withheld": {"superseded": 1, "candidate": 0, "below_floor": 2, "uncommitted": 0},
        "coverage": {"records": 1, "embedded": 1, "searched": 1, "unreadable": 0},
        "revision": {"commit": "c" * 40, "head": "d" * 40, "stale": False, "repository": "r"},
        "total": len(results),
        "has_more": False,
        "next_cursor": "",
        "receipt": {"id": "sha256:" + "e" * 64, "stored": True},
        **more,
    }


def test_a_result_says_what_it_stands_on() -> None:
    """Facts, evidence, passage with offsets, source, lineage with today's statuses, conflicts."""
    held = head(lineage=(Link("supersedes", "D-0", "accepted"),), conflicts=(("x", "twin"),), source=[{"path": "p"}])
    found = item(held, hit(matched=("cat",), lexical=2.5), {"text": "Words.", "start": 3}, {"d-0": "superseded"})
    assert (found["id"], found["status"], found["score"], found["date"]) == ("d-1", "accepted", 1.2346, "2026-01-01")
    assert found["trust"] == "document_extracted"
    assert found["evidence"].items() >= {"cosine": 0.6, "lexical": 2.5, "matched_terms": ["cat"], "exact": []}.items()
    assert found["passage"] == {"text": "Words.", "start": 3}
    assert found["source"] == [{"path": "p"}]
    assert found["lineage"] == [{"relation": "supersedes", "id": "D-0", "status": "superseded"}]
    assert found["conflicts"] == [{"id": "x", "state": "recorded", "reason": "twin"}]
    assert "status_in_file" not in found


def test_the_status_in_the_file_is_shown_when_it_is_another() -> None:
    """`status` is the effective one; what was typed stands beside it only where it differs."""
    assert result(found=hit(status="superseded"))["status_in_file"] == "accepted"
    assert "status_in_file" not in result(head(status=" Accepted "))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (hit(exact=("d-1",), matched=("cat",), cosine=0.9), "exact: d-1; cat; close in meaning"),
        (hit(cosine=0.0), "passes the filters"),
        (hit(cosine=0.1), "nearest in meaning"),
    ],
)
def test_why_is_said_in_words(found: Hit, expected: str) -> None:
    """Exact tokens first, then words, then meaning."""
    assert why(found) == expected


def test_a_retired_record_names_its_successor_and_never_one_that_overturned_nothing() -> None:
    """`replaced_by` holds what took its place; a rejected or proposed successor is none."""
    held = head(lineage=(Link("superseded_by", "d-2", "accepted"), Link("superseded_by", "d-3", "rejected")))
    assert side_item(held, "superseded", "why")["replaced_by"] == ["d-2"]
    assert "replaced_by" not in side_item(head(), "rejected")


def test_passages_shrink_before_results_go() -> None:
    """Ten results with long passages stay ten; all shrink alike, to 120 characters at the least."""
    results = [result(text="word " * 400) for _ in range(10)]
    kept = fit(results)
    assert len(kept) == 10
    assert size(kept) <= FULL_BYTES
    assert len({len(r["passage"]["text"]) for r in kept}) == 1
    assert len(kept[0]["passage"]["text"]) >= SHORTEST_PASSAGE - 20
    many = fit([result(text="word " * 400) for _ in range(50)])
    assert 1 < len(many) < 50
    assert size(many) <= FULL_BYTES


ANY = st.text(max_size=40).map(lambda t: t or "x") | st.sampled_from(["\U0001f600" * 3000, "x" * 9000, "決定" * 2000])


@settings(max_examples=150)
@given(
    title=ANY,
    date=ANY,
    tags=st.lists(ANY, max_size=4) | st.just([f"tag{n}" for n in range(3000)]),
    workspace=ANY,
    status=ANY,
    source=st.lists(st.dictionaries(st.sampled_from(["path", "url", "commit", "note"]), ANY, min_size=1), max_size=5),
    related=st.integers(0, 400),
    terms=st.lists(ANY, max_size=30),
    count=st.integers(1, 12),
)
def test_an_answer_stays_within_its_bytes_whatever_its_records_hold(
    title: str,
    date: str,
    tags: list[str],
    workspace: str,
    status: str,
    source: list[dict[str, str]],
    related: int,
    terms: list[str],
    count: int,
) -> None:
    """No field of a record can blow up an answer: at least one result is shown, within 8 kB, as JSON and as text."""
    links = tuple(Link("relates_to", f"{'r' * 100}-{n}", "accepted") for n in range(related))
    conflicts = tuple((f"{'c' * 100}-{n}", "another file has the same id") for n in range(related))
    held = head(
        title=title.strip() or "x",
        date=date,
        tags=tags,
        workspace=workspace,
        status=status,
        source=source,
        lineage=links,
        conflicts=conflicts,
    )
    results = fit([result(held, hit(matched=tuple(terms), exact=tuple(terms)), "text " * 300) for _ in range(count)])
    assert results
    assert size(results) <= FULL_BYTES
    assert len(render(answer(results)).encode()) <= 2 * FULL_BYTES


@given(st.text(max_size=60))
def test_no_field_carries_raw_control_characters(text: str) -> None:
    """Whatever is typed into a record comes out escaped, in every field that is shown."""
    nasty = f"x\x1b[2J\u202e{text}"
    held = head(title=nasty, date=nasty, tags=[nasty], workspace=nasty, status=nasty, source=[{"path": nasty}])
    shown = str(result(held, text="ok"))
    assert not {"\x1b", "\u202e"} & set(shown)


def test_brief_keeps_what_an_agent_acts_on() -> None:
    """Id, kind, title, status, date, score, reason, path and a short passage; empty lists and counters go."""
    short = brief(answer([result(text="word " * 400)], note="n"))
    assert set(short) == {"format", "verdict", "retrieval", "results", "withheld", "revision", "receipt", "note"}
    assert set(short["results"][0]) == {"id", "kind", "title", "status", "date", "score", "why", "path", "passage"}
    assert len(short["results"][0]["passage"]) <= 300
    assert short["withheld"] == {"superseded": 1, "below_floor": 2}
    assert short["revision"] == {"commit": "c" * 12, "stale": False, "repository": "r"}
    assert short["receipt"].startswith("sha256:eeee")


def test_brief_never_hides_a_warning() -> None:
    """Staleness, conflicts, another branch, a status that differs, paging, a reason for less: all stay."""
    warned = {
        **result(found=hit(status="superseded")),
        "on_base": {"reason": "changed"},
        "branch": "refs/x",
        "conflicts": [{"id": "x", "state": "recorded", "reason": "twin"}],
    }
    revision = {"commit": "c" * 40, "head": "d" * 40, "stale": True, "repository": "r"}
    short = brief(
        answer(
            [warned],
            revision=revision,
            has_more=True,
            next_cursor="n",
            total=9,
            degraded="why",
            receipt={"id": "sha256:" + "e" * 64, "stored": False},
        )
    )
    assert {"on_base", "branch", "conflicts", "status_in_file"} <= set(short["results"][0])
    assert short["revision"]["head"] == "d" * 12
    assert (short["total"], short["next_cursor"], short["degraded"]) == (9, "n", "why")
    assert "not stored" in short["receipt"]


def test_text_says_the_same_as_the_object() -> None:
    """Hosts show an agent one or the other, so verdict, ids, statuses, reasons and paths stand in both."""
    for detail in (answer([result()]), brief(answer([result()]))):
        text = render(detail)
        for fact in ("Match", "d-1", "accepted", "2026-01-01", "knowledge/d-1.yaml", "Words.", "superseded"):
            assert fact in text
