from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seed.edit import write
from seed.importers.exchange import CLOSE, OPEN, Kept, read_json, read_page, split
from seed.reader import build_record
from seed.yamltext import parse
from sidecar.exporters import document, markdown, okf
from sidecar.exporters.collect import Export, Item, Tie, page_names
from sidecar.exporters.page import page

ODD = [
    "\r\n",
    "\r",
    "\n\n",
    " ",
    "\t",
    "---\n",
    "...\n",
    "# Title\n",
    "## Context\n",
    "## Decision Outcome\n\n",
    "### Consequences\n\n",
    "## Alternatives\n",
    f"{OPEN}\n",
    f"{CLOSE}\n",
    "\n" + OPEN + "\n" + CLOSE,
    "<<<<<<< HEAD\n",
    "```\n",
    "\x00",
    "\x85",
    "\u2028",
    "\ufeff",
    "記録を残す",
    "é̀",
    "😀",
    ": # ' \" [x]",
    "null",
    "0012",
    "sidecar:\n",
]
PIECE = st.one_of(st.sampled_from(ODD), st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
TEXT = st.lists(PIECE, max_size=8).map("".join)
LEAF = st.recursive(
    TEXT, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=6
)


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    """Return the keys of a record file, as odd as they can be."""
    data: dict[str, Any] = {"id": draw(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,20}", fullmatch=True))}
    data["kind"] = draw(st.sampled_from(["decision", "adr", "fact", "finding", "history"]))
    data["title"] = draw(TEXT.filter(str.strip))
    optional = {
        "status": st.one_of(st.sampled_from(["accepted", "Superseded ", "verified", "on hold"]), TEXT),
        "date": st.one_of(st.just("2026-01-02"), TEXT),
        "body": TEXT,
        "context": TEXT,
        "decision": TEXT,
        "consequences": TEXT,
        "tags": LEAF,
        "source": LEAF,
        "supersedes": LEAF,
        "x-owner": LEAF,
        "sidecar": LEAF,
        "type": LEAF,
        "Überschrift": LEAF,
    }
    for key, values in optional.items():
        if draw(st.booleans()):
            data[key] = draw(values)
    order = draw(st.permutations(sorted(data)))
    return {key: data[key] for key in order}


def item(data: dict[str, Any], status: str = "superseded", ties: tuple[Tie, ...] = ()) -> Item:
    record = build_record(data).record
    assert record is not None
    return Item("decisions/a b", "knowledge/decisions/a b.yaml", status, record, data, ties)


TIES = (Tie("superseded_by", "d-2", "accepted", "The [next] *one*\nfor all", "d-2"), Tie("amends", "gone", "missing"))


@settings(max_examples=50)
@given(records(), st.sampled_from(["accepted", "superseded", "unknown"]), st.booleans())
def test_every_record_comes_back_from_a_page(data: dict[str, Any], status: str, tied: bool) -> None:
    """Whatever a record holds, a page of either format reads back to exactly its keys, path and effective status."""
    if parse(write(data).encode()).data != data:
        return  # not even a record file can hold it
    one = item(data, status, TIES if tied else ())
    for look in (markdown.look(one), okf.look(one)):
        kept = read_page(page(one, look), "x.md")
        assert kept is not None
        assert (kept.data, kept.path, kept.effective, kept.doubts) == (data, one.path, status, ())


@settings(max_examples=50)
@given(records())
def test_every_record_comes_back_from_json(data: dict[str, Any]) -> None:
    """JSON and JSON lines keep every key of a record, and so does the record file that an import writes."""
    export = Export("r", "c" * 40, date(2026, 1, 1), (item(data),))
    for text in (document.text(export), document.lines(export)):
        (kept,) = read_json(text, "x")
        assert isinstance(kept, Kept)
        assert kept.data == data
        assert parse(write(kept.data).encode()).data == data


def plain(**keys: Any) -> Item:
    """Return a superseded decision whose file says that it is accepted."""
    return item({"id": "d-1", "kind": "decision", "title": "Use Redis", "status": "accepted", **keys}, ties=TIES)


def test_a_decision_is_madr() -> None:
    """A decision's page has MADR's status, title and headings, and says above the text where to go on."""
    text = page(one := plain(body="## Context\nA.\n\n## Decision\nB.\n"), markdown.look(one))
    assert text.startswith("---\nstatus: superseded by d-2\n")
    assert "\n# Use Redis\n" in text
    assert "\n## Context and Problem Statement\nA.\n\n## Decision Outcome\nB.\n" in text
    assert (
        "> **Superseded: this no longer holds.** Superseded by [d-2: The \\[next\\] \\*one\\* for all](../d-2.md)."
        in text
    )


def test_named_parts_become_sections() -> None:
    """A record in context, decision and consequences is read in MADR's order, and back."""
    one = plain(consequences="C", context="A\n", decision="B\n\n")
    text = page(one, markdown.look(one))
    assert "## Context and Problem Statement\n\nA\n\n## Decision Outcome\n\nB\n\n\n### Consequences\n\nC\n" in text
    assert read_page(text, "x").data == one.data  # type: ignore[union-attr]


def test_crlf_made_by_a_checkout_is_undone() -> None:
    """A page whose every line was converted to CRLF is read as it was exported."""
    one = plain(body="A.\n\nB.\n")
    text = page(one, markdown.look(one)).replace("\n", "\r\n")
    assert read_page(text, "x").data == one.data  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("status", "read"),
    [("deprecated", "deprecated"), ("Withdrawn in March", "rejected"), ("fine", "unknown"), ("accepted", "accepted")],
)
def test_an_edited_status_counts(status: str, read: str) -> None:
    """A status that a person wrote over the one shown is taken and said; what is no status is unknown."""
    one = plain(body="A.\n")
    text = page(one, markdown.look(one)).replace("status: superseded by d-2", f"status: {status}", 1)
    kept = read_page(text, "x")
    assert kept is not None
    assert kept.data["status"] == read
    assert "was edited" in kept.doubts[0]


def test_an_okf_status_never_brings_a_record_back() -> None:
    """OKF's "stable" written over "deprecated" leaves the record's own status, and is said."""
    one = plain(body="A.\n", status="superseded")
    text = page(one, okf.look(one)).replace("\nstatus: deprecated\n", "\nstatus: stable\n", 1)
    kept = read_page(text, "x")
    assert kept is not None
    assert kept.data["status"] == "superseded"
    assert kept.doubts


def test_edited_text_is_taken() -> None:
    """What a person changed in a page's text and title is what an import reads."""
    one = plain(body="A.\n")
    text = page(one, markdown.look(one)).replace("# Use Redis", "# Use Valkey").replace("A.\n", "A, still.\n")
    kept = read_page(text, "x")
    assert kept is not None
    assert (kept.data["title"], kept.data["body"]) == ("Use Valkey", "A, still.\n")


def test_a_page_that_cannot_hold_its_record_keeps_it_whole() -> None:
    """A record with a key that the page needs comes back, and an edit of such a page is said, not lost in silence."""
    one = plain(body="A.\n", sidecar="mine")
    text = page(one, markdown.look(one))
    assert read_page(text, "x").data == one.data  # type: ignore[union-attr]
    kept = read_page(text.replace("A.", "B."), "x")
    assert kept is not None
    assert kept.doubts


def test_names_of_pages_are_safe_and_unique() -> None:
    """A page's name stays inside the folder, is no reserved one, and differs from others on a disk without case."""
    names = page_names(
        ["knowledge/a/B.yaml", "knowledge/a/b.yaml", "knowledge/index.yaml", "knowledge/.x.yaml", "knowledge/a:b%.yaml"]
    )
    assert names == ["a/B", "a/b_", "index_", "_x", "a_b_"]


@settings(max_examples=20)
@given(records(), st.sampled_from(["accepted", "superseded"]))
def test_an_okf_concept_is_conformant(data: dict[str, Any], status: str) -> None:
    """Every concept has front matter that any YAML reader takes, with a type."""
    import yaml

    one = item(data, status, TIES)
    text = page(one, okf.look(one))
    front = yaml.safe_load(split(text)[0])
    assert isinstance(front["type"], str)
    assert front["status"] in ("stable", "draft", "deprecated")
    assert (front["status"] == "stable") == one.in_force
