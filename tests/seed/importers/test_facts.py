from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.errors import SidecarError
from seed.importers import facts
from seed.importers.facts import Present, Wanted, read_notes
from seed.importers.model import Document, ImportReport
from seed.importers.notes import read
from seed.reader import build_record

MEMORY = """# Memory

Short notes.

## Build
- Use `pnpm`, never npm.
- **Tests**: run them with the database up.
  It starts with:

  ```sh
  # no heading
  docker compose up db
  ```
- [ ] Move the CI to Node 24
- [x] Drop Node 18

## Deploy

When deploying:

1. Tag the commit.
2. Wait for the canary (10 minutes).

<!-- a private remark -->
2026-03-04: The staging cluster was moved to Frankfurt. DNS still points to Dublin.

@docs/more.md
"""


def notes(text: str, present: tuple[Present, ...] = (), **wanted: object) -> ImportReport:
    return read_notes(Document("MEMORY.md", text), Wanted(**wanted), present)  # type: ignore[arg-type]


def kept(report: ImportReport) -> tuple[Present, ...]:
    """Return what a report writes as records that are here."""
    built = [(one.target, build_record(dict(one.record)).record) for one in report.records]
    return tuple(Present(target, record) for target, record in built if record is not None)


def test_list_entries_become_facts() -> None:
    """Each entry and paragraph is a fact with its lines and headings; comments, includes and box marks are not text."""
    records = {one.id: one.record for one in notes(MEMORY).records}
    assert {ident: record["source"][0]["lines"] for ident, record in records.items()} == {  # type: ignore[index]
        "memory-short-notes": "3",
        "memory-use-pnpm-never-npm": "6",
        "memory-tests-run-them-with-the-database-up": "7-13",
        "memory-move-the-ci-to-node-24": "14",
        "memory-drop-node-18": "15",
        "memory-tag-the-commit": "21",
        "memory-wait-for-the-canary-10-minutes": "22",
        "memory-the-staging-cluster-was-moved-to-frankfurt": "25",
    }
    assert {(record["status"], record["trust"]) for record in records.values()} == {("unverified", "agent_generated")}
    assert records["memory-move-the-ci-to-node-24"]["tags"] == ["Build", "todo"]
    assert records["memory-tag-the-commit"]["body"] == "When deploying:\n\nTag the commit.\n"
    assert records["memory-the-staging-cluster-was-moved-to-frankfurt"]["date"] == "2026-03-04"
    assert "# no heading\ndocker compose up db" in str(records["memory-tests-run-them-with-the-database-up"]["body"])
    assert not any("private remark" in str(record) or "docs/more" in str(record) for record in records.values())


def test_sections_become_findings() -> None:
    """Split by heading, each heading with text is one record; a heading that only holds others is their tag."""
    text = "# Review\n\n## Parser\n\n### Quadratic\n\nIt is slow.\n\n### Leaks\n\nA file stays open.\n"
    records = [one.record for one in notes(text, kind="finding", split="heading").records]
    assert [(one["title"], one["tags"], one["body"]) for one in records] == [
        ("Quadratic", ["Parser"], "It is slow.\n"),
        ("Leaks", ["Parser"], "A file stays open.\n"),
    ]


@pytest.mark.parametrize(("text", "split"), [(MEMORY, "item"), ("## A\n\nProse.\n\n## B\n\nMore prose.\n", "heading")])
def test_the_file_says_how_it_is_split(text: str, split: str) -> None:
    """Without --split, a file that is mostly lists is split by item, any other by heading, and the report says so."""
    assert notes(text).notes == (f"MEMORY.md split by {split}",)


def test_code_alone_is_an_item() -> None:
    """A block of code with no text above it is not lost: its first line is the title."""
    (note,), _ = read("# Build\n\n```sh\nmake all\nmake test\n```\n", "item")
    assert (note.title, note.body) == ("`make all`", "```sh\nmake all\nmake test\n```\n")
    (whole,), _ = read("```sh\nmake all\n```\n\nBuild it all. Then rest.\n", "heading")
    assert whole.title == "Build it all."


def test_a_second_import_changes_nothing() -> None:
    """The same file gives the same texts for the same files."""
    first = notes(MEMORY)
    again = notes(MEMORY, kept(first))
    assert [(one.target, one.text) for one in again.records] == [(one.target, one.text) for one in first.records]


def test_a_changed_item_keeps_its_id_and_is_reported() -> None:
    """An item whose text was changed is the record it was, and the report says what it said before."""
    first = notes(MEMORY)
    again = notes(MEMORY.replace("10 minutes", "15 minutes"), kept(first))
    (changed,) = [one for one in again.records if any("changed" in said for said in one.decided)]
    assert changed.id == "memory-wait-for-the-canary-10-minutes"
    assert changed.record["title"] == "Wait for the canary (15 minutes)."
    assert {one.id for one in again.records} == {one.id for one in first.records}


def test_an_item_that_is_gone_is_said_and_retired_only_when_asked() -> None:
    """A record whose item is gone still answers, which is said; --retire-missing makes it historical."""
    first = kept(notes(MEMORY))
    shorter = MEMORY.replace("- [x] Drop Node 18\n", "")
    assert "no longer in MEMORY.md: memory-drop-node-18" in notes(shorter, first).notes[1]
    retired = notes(shorter, first, retire=True).records[-1]
    assert (retired.id, retired.record["status"]) == ("memory-drop-node-18", "historical")


def test_a_secret_is_left_out_by_its_line() -> None:
    """An item with what looks like a secret is no record; the report names line and rule, never the value."""
    token = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    report = notes(f"- Use tabs.\n- Token: {token}\n")
    assert [one.id for one in report.records] == ["memory-use-tabs"]
    assert [(one.path, "github-token" in one.reason, token in one.reason) for one in report.skipped] == [
        ("MEMORY.md:2", True, False)
    ]


def test_items_of_the_same_words_get_ids_of_their_own() -> None:
    """Two items with one text are two records, in order, also when they are imported again."""
    text = "## A\n- Same.\n## B\n- Same.\n"
    first = notes(text, split="item")
    assert [one.id for one in first.records] == ["memory-same", "memory-same-2"]
    assert [one.id for one in notes(text, kept(first), split="item").records] == ["memory-same", "memory-same-2"]


def test_records_of_another_file_are_not_touched() -> None:
    """Only a record that was imported from this very file can be the item."""
    others = tuple(Present(one.path, one.record) for one in kept(notes("- Same.\n")))
    report = read_notes(Document("docs/MEMORY.md", "- Same.\n"), Wanted(), others)
    assert [one.id for one in report.records] == ["memory-same-2"]
    assert report.notes == ("docs/MEMORY.md split by item",)


@pytest.mark.parametrize("text", ["", "# Only a title\n", "<!-- nothing -->\n"])
def test_a_file_without_items_is_an_error(text: str) -> None:
    """A file in which nothing was found is said, with what it needs."""
    with pytest.raises(SidecarError, match="no item found"):
        notes(text)


def test_closeness_is_what_keeps_an_id(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: without the comparison of texts a changed item would be a new record."""
    first = kept(notes(MEMORY))
    monkeypatch.setattr(facts, "CLOSE", 1.1)
    again = notes(MEMORY.replace("10 minutes", "15 minutes"), first)
    assert "memory-wait-for-the-canary-15-minutes" in {one.id for one in again.records}


@given(
    st.lists(
        st.sampled_from(["- a\n", "  - b\n", "\n", "text\n", "# H\n", "```\n", "<!--\n", "-->\n", "1. x:\n", "---\n"])
    )
)
def test_any_notes_are_read(lines: list[str]) -> None:
    """Whatever a file holds, reading it ends, and lines of items are in order and inside the file."""
    text = "".join(lines)
    for split in ("heading", "item"):
        found, _ = read(text, split)
        assert all(1 <= note.first <= note.last <= len(lines) for note in found)
        assert [note.first for note in found] == sorted(note.first for note in found)


LINES = [
    "- w%d\n",
    "  - w%d\n",
    "w%d\n",
    "    w%d\n",
    "1. w%d:\n",
    "w%d:\n",
    "| w%d | x |\n",
    "> w%d\n",
    "\n",
    "# H\n",
    "## H\n",
    "```\n",
    "- ```\n",
    "~~~\n",
]


@given(st.lists(st.sampled_from(LINES), max_size=10))
def test_no_word_is_lost(forms: list[str]) -> None:
    """Every word below a heading or above the first one is in a note, however the file is split."""
    lines = [form % n if "%d" in form else form for n, form in enumerate(forms)]
    text = "Start.\n\n" + "".join(lines)
    for split in ("heading", "item"):
        found, _ = read(text, split)
        said = " ".join(f"{note.title} {note.body}" for note in found)
        words = re.findall(r"w\d+", text)
        assert {word for word in words if not re.search(rf"\b{word}\b", said)} == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- ~~Use the old quay.~~\n", "historical"),
        ("- <del>Use the old quay.</del>\n", "historical"),
        ("- Use the old quay (obsolete)\n", "historical"),
        ("- Deprecated: use the old quay\n", "historical"),
        ("# N\n\n## Old rules (no longer valid)\n\n- Be late.\n", "historical"),
        ("# N\n\n## Deprecated\n\n- Be late.\n", "historical"),
        ("---\nstatus: superseded\n---\n# Quay\n\n- Be late.\n", "historical"),
        ("- Be on time.\n", "unverified"),
        ("- Replaced the pump in May.\n", "unverified"),
    ],
)
def test_what_a_file_marks_as_ended_is_historical(text: str, expected: str) -> None:
    """An item struck out, marked, under such a heading or in such a page comes in as history, with the reason."""
    (one,) = notes(text, split="item").records
    assert one.record["status"] == expected
    assert any("historical:" in said for said in one.decided) == (expected == "historical")
