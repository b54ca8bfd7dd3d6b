import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.errors import SidecarError
from seed.importers import adr
from seed.importers.frontmatter import load_yaml
from seed.importers.model import Document, Imported

One = Callable[..., Imported]
Load = Callable[..., dict[str, Imported]]

NYGARD = """# 7. Moor at the north quay

Date: 2020-01-31

## Status

Accepted

## Context

It is deep.
"""
MADR = """---
# these are optional
status: "accepted"
date: 2020-01-31
tags: [harbour, "north quay"]
decision-makers: [Ada, Bo]
---
# Moor at the north quay

## Context and Problem Statement

Where?
"""
MADR_2 = """# Moor at the north quay

* Status: accepted
* Deciders: Ada, Bo
* Date: 2020-01-31

Technical Story: none

## Context and Problem Statement

Where?
"""
LOG4BRAINS = """# Moor at the north quay

- Status: accepted
- Date: 2020-01-31
- Tags: harbour, north quay

## Context and Problem Statement

Where?
"""
TABLE = """# ADR-007 - Moor at the north quay

| Status | Date | Author |
|--------|------|--------|
| **Accepted** | 2020-01-31 | Ada |

## Context
"""
ROWS = """# 0007 | Moor at the north quay

| | |
|---|---|
| **Status** | Accepted |
| Date | 31/01/2020 |

## Context
"""
ONE_LINE = """# ADR 7: Moor at the north quay

**Status:** Accepted · **Date:** 2020-01-31

## Context
"""
SETEXT = """Moor at the north quay
======================

Status
------

Accepted

Date
----
31.01.2020
"""
AT_THE_END = """# Moor at the north quay

## Decision

Moor.

## Changelog

- 2020-01-31: first

## Status

Accepted
"""
BOLD_ALONE = """# Moor at the north quay

**Status**

Accepted

**Date**

2020-01-31

## Context
"""
TOML = """+++
title = "Moor at the north quay"
status = "accepted"
date = 2020-01-31
+++

## Context
"""
QUOTED = """# Moor at the north quay

> Status: **Accepted**
>
> Date: Jan 31, 2020

## Context
"""
DEFINITIONS = """[a]: https://example.org
[b]: https://example.org/b

# 7. Moor at the north quay

Date 31/01/2020

## Status
Accepted
"""
HEADING_VALUE = """# Moor at the north quay

## Status: Accepted

## Date: 2020-01-31

## Context

Deep.
"""


@pytest.mark.parametrize(
    "text",
    [
        *(NYGARD, MADR, MADR_2, LOG4BRAINS, TABLE, ROWS, ONE_LINE, SETEXT, AT_THE_END, BOLD_ALONE, TOML),
        *(QUOTED, DEFINITIONS, HEADING_VALUE),
    ],
)
def test_forms(one: One, text: str) -> None:
    """Every form of ADR gives the same title, status and date, and its whole text as body."""
    record = one(text).record
    assert (record["title"], record["status"], record["date"]) == (
        "Moor at the north quay",
        "accepted",
        "2020-01-31",
    )
    assert record["body"] == text


def test_tags_are_kept(one: One) -> None:
    """Tags come from front matter or from a header line."""
    assert one(MADR).record["tags"] == ["harbour", "north quay"] == one(LOG4BRAINS).record["tags"]


def test_status_only_in_example_code_or_comment_is_none(one: One) -> None:
    """What stands in a fence or in a comment is not said."""
    fence = "```yaml\nstatus: accepted\ndate: 2020-01-31\n```"
    for hidden in (fence, "<!--\nStatus: accepted\n-->", "~~~~\nStatus: accepted\n```\n~~~~"):
        record = one(f"# 7. This\n\n{hidden}\n\n## Context\n\nText\n").record
        assert (record["status"], record.get("date")) == ("unknown", None)


def test_unknown_stays_unknown_unless_told(one: One) -> None:
    """A missing status is ``unknown`` or what --missing-status says; one not understood stays unknown."""
    assert one("# 7. This\n").record["status"] == "unknown"
    assert one("# 7. This\n", missing_status="accepted").record["status"] == "accepted"
    assert one("# 7. This\n\nStatus: Experimental\n", missing_status="accepted").record["status"] == "unknown"
    template = "# 7. This\n\n## Status\n\nProposed | Accepted | Rejected\n"
    assert one(template).record["status"] == "unknown"


def test_a_successor_is_a_status_in_other_words(one: One) -> None:
    """A record with no status but with a successor is superseded."""
    assert one("# 7. This\n\nSuperseded by: [2](0002-other-2.md)\n").record["status"] == "superseded"


def test_status_and_successor_that_do_not_go_together_are_doubts(one: One) -> None:
    """Superseded by nobody, and accepted although superseded, are both kept as written and said."""
    alone = one("# 7. This\n\nStatus: Superseded\n")
    assert (alone.record["status"], alone.doubts) == (
        "superseded",
        ("superseded, but by which record is not written",),
    )
    both = one("# 7. This\n\nStatus: Accepted\nSuperseded by: ADR 2\n")
    assert (both.record["status"], both.record["superseded_by"]) == ("accepted", ["x-0002"])
    assert any("yet it is written" in doubt for doubt in both.doubts)


def test_two_statuses_that_differ_are_a_doubt(one: One) -> None:
    """Front matter and section that disagree: what takes the record out of force counts, and both are said."""
    for front, section in (("accepted", "Rejected"), ("rejected", "Accepted")):
        item = one(f"---\nstatus: {front}\n---\n# 7. This\n\n## Status\n\n{section}\n")
        assert item.record["status"] == "rejected"
        assert any("'rejected'" in doubt and "'accepted'" in doubt for doubt in item.doubts)


def test_a_status_line_about_something_else_is_not_read(one: One) -> None:
    """``Status: 200 OK`` in the body says nothing of the record."""
    assert one("# 7. This\n\n## Context\n\nStatus: 200 OK\n").record["status"] == "unknown"


def test_ambiguous_dates_are_settled_by_the_folder_or_left_out(load: Load) -> None:
    """10/04/18 is left out with a doubt; a 26/03/2018 beside it settles that days come first."""
    alone = load({"1-a.md": "# A\n\nDate: 10/04/18\n"})["x-1"]
    assert "date" not in alone.record
    assert any("2018-04-10 or 2018-10-04" in doubt for doubt in alone.doubts)
    settled = load({"1-a.md": "# A\n\nDate: 10/04/18\n", "2-b.md": "# B\n\nDate: 26/03/2018\n"})["x-1"]
    assert settled.record["date"] == "2018-04-10"
    assert any("as in the other dates" in line for line in settled.decided)


def test_date_in_the_file_name_is_the_last_resort(load: Load) -> None:
    """log4brains puts the date in the name; a date in the text comes first."""
    records = load({"20200924-a.md": "# A\n\nStatus: accepted\n", "20200925-b.md": "# B\n\nDate: 2021-01-01\n"})
    assert records["x-20200924"].record["date"] == "2020-09-24"
    assert records["x-20200925"].record["date"] == "2021-01-01"


def test_a_date_in_prose_or_in_a_url_is_not_the_records(one: One) -> None:
    """A date that no field names is not invented into one."""
    text = "# 7. This\n\n## Context\n\n924 stars as of 2018-06-14, see https://example.org/2011/11/15/adr\n"
    assert "date" not in one(text).record


def test_what_is_skipped_is_listed_with_its_reason() -> None:
    """READMEs, indexes and templates, numbered ones too, and pages with no sign of a decision are skipped."""
    files = {
        "0001-use-template-engine.md": "# Use a template engine\n",
        "README.md": "# Decisions\n",
        "index.md": "# Index\n\n## Status\n\n## Context\n\n## Decision\n",
        "000-template.md": "# [Title]\n",
        "ADRXXX-architecture-decision-record-template.md": "# Title\n",
        "0000-adr.md": "# [short title]\n\nStatus: proposed | accepted\n",
        "templates/0002-x.md": "# X\n\nStatus: Accepted\n",
        "notes.md": "# Notes of a walk\n\nIt rained.\n",
        "unnumbered-choice.md": "# Choice\n\n## Status\n\nAccepted\n",
        "0004-folder/README.md": "# In a folder\n\n## Status\n\nAccepted\n",
    }
    report = adr.read_documents([Document(path, text) for path, text in files.items()], prefix="x")
    assert [item.id for item in report.records] == ["x-0001", "x-0004", "x-unnumbered-choice"]
    assert {item.path for item in report.skipped} == set(files) - {item.source for item in report.records}
    assert all(item.reason for item in report.skipped)


def test_an_unedited_stub_keeps_its_place(load: Load) -> None:
    """A numbered file with the template's text is imported under its file name's title, with doubts."""
    stub = "# [short title]\n\n## Status\n\n[proposed | accepted]\n\n## Context\n"
    item = load({"0009-buy-a-crane.md": stub})["x-0009"]
    assert (item.record["title"], item.record["status"]) == ("Buy a crane", "unknown")
    assert len(item.doubts) == 2


def test_the_file_name_wins_over_the_heading(load: Load) -> None:
    """A heading with another number is a doubt; the id is the path's."""
    item = load({"0033-a.md": "# 3. A\n\nStatus: Accepted\n"})["x-0033"]
    assert (item.id, item.record["title"]) == ("x-0033", "A")
    assert any("heading says number 3" in doubt for doubt in item.doubts)


def test_bare_numbers_in_headings_need_a_custom(load: Load) -> None:
    """A leading number belongs to the title, unless the folder's headings begin with their files' numbers."""
    assert load({"0012-tiers.md": "# 3 tiers for all\n"})["x-0012"].record["title"] == "3 tiers for all"
    files = {f"0{n}-a.md": f"# {n} Word {n}\n" for n in (21, 22, 23)} | {"030-d.md": "# 29 Word 29\n"}
    assert load(files)["x-030"].record["title"] == "Word 29"


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("7. Moor", "Moor"),
        ("ADR-0007: Moor", "Moor"),
        ("ADR 7 — Moor", "Moor"),
        ("[ADR-7] Moor", "Moor"),
        ("0007 | Moor", "Moor"),
        ("0007 Moor", "Moor"),
        ("0007-Moor", "Moor"),
        ("ADR: Moor", "Moor"),
        ("**Moor**", "Moor"),
        ("Moor `now()` in C#", "Moor `now()` in C#"),
        ("Moor ##", "Moor"),
        ("12-factor ships", "12-factor ships"),
        ("3 tiers", "3 tiers"),
        ("1.2 is out", "1.2 is out"),
        ("[Moor](https://example.org)", "Moor"),
    ],
)
def test_titles(one: One, heading: str, title: str) -> None:
    """The title is the heading without numbering; numbers and marks that belong to it stay."""
    assert one(f"# {heading}\n").record["title"] == title


def test_other_languages(one: One) -> None:
    """Statuses and the names of fields are read in a few other languages."""
    assert one("# 7. T\n\n## Statut\n\nAcceptée\n").record["status"] == "accepted"
    record = one("# 7. T\n\n- 状态: 已接受\n- 日期: 2020年1月31日\n").record
    assert (record["status"], record["date"]) == ("accepted", "2020-01-31")


def test_read_folder_writes_paths_of_the_repository(tmp_path: Path) -> None:
    """The source is the path from the repository's root; outside a repository, from the folder."""
    folder = tmp_path / "docs" / "adr"
    folder.mkdir(parents=True)
    (folder / "0001-a.MD").write_bytes(b"\xef\xbb\xbf# 1. A\r\n\r\nStatus: Accepted\r\n")
    (item,) = adr.read_folder(folder).records
    assert item.record["source"] == [{"path": "0001-a.MD"}]
    assert item.record["body"] == "# 1. A\n\nStatus: Accepted\n"
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (item,) = adr.read_folder(folder).records
    assert item.record["source"] == [{"path": "docs/adr/0001-a.MD"}]
    assert (item.id, item.target) == ("adr-0001", "knowledge/adr/adr-0001.yaml")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"missing_status": "good"}, "is no status"),
        ({"into": "../elsewhere"}, "leaves the repository"),
        ({"into": "/elsewhere"}, "leaves the repository"),
        ({"prefix": "a/b"}, "cannot begin an id"),
        ({"prefix": "-x"}, "cannot begin an id"),
    ],
)
def test_options_that_cannot_be(tmp_path: Path, options: dict[str, str], message: str) -> None:
    """A wrong option is one clear line with what to do."""
    (tmp_path / "0001-a.md").write_text("# A\n")
    with pytest.raises(SidecarError, match=message) as caught:
        adr.read_folder(tmp_path, **options)
    assert caught.value.fix


def test_no_folder_and_no_records(tmp_path: Path) -> None:
    """A missing folder, a file and an empty folder are told apart."""
    for path, message in ((tmp_path / "no", "does not exist"), (tmp_path, "no records found")):
        with pytest.raises(SidecarError, match=message):
            adr.read_folder(path)
    (tmp_path / "a").write_text("x")
    with pytest.raises(SidecarError, match="is a file"):
        adr.read_folder(tmp_path / "a")


WORDS = st.sampled_from(
    [
        *(
            "# 7. T",
            "## Status",
            "Accepted",
            "Superseded by",
            "[2](0002-b.md)",
            "ADR 2",
            "and",
            "Date:",
            "10/04/18",
        ),
        *(
            "---",
            "```",
            "<!--",
            "-->",
            "| Status |",
            "|---|---|",
            "status: x",
            "\t",
            "  ",
            "+++",
            "> ",
            "- ",
            "\u2028",
        ),
        *("This ADR supersedes", "\x07", "{", "[", "](", "*"),
    ]
)
TEXTS = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=400),
    st.lists(st.one_of(WORDS, st.text(alphabet="ab#*:[]()!{}&%@`'\" \n", max_size=12)), max_size=30).map("\n".join),
    st.lists(WORDS, max_size=30).map(" ".join),
)


@given(st.dictionaries(st.sampled_from(["0001-a.md", "0002-b.md", "sub/0002-c.md", "notes.md"]), TEXTS))
def test_any_text_imports_and_reads_back(files: dict[str, str]) -> None:
    """No text makes the import raise, and every record's YAML gives back its text to the byte."""
    report = adr.read_documents([Document(path, text) for path, text in files.items()], prefix="x")
    for item in report.records:
        assert item.record["body"] == files[item.source]
        assert load_yaml(item.text) == item.record
    assert len({item.id.lower() for item in report.records}) == len(report.records)
    assert {item.source for item in report.records} | {item.path for item in report.skipped} == set(files)


@given(TEXTS)
def test_import_is_deterministic(text: str) -> None:
    """The same text gives the same record, to the byte."""
    first, second = (adr.read_documents([Document("0001-a.md", text)], prefix="x") for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "](",
        "_",
        " ",
        "x",
        "a-",
        "Superseded: [a](",
        "This ADR supersedes ",
        "2020-01-",
        "## Status\n",
        "<!---->",
    ],
)
def test_no_text_makes_reading_endless(piece: str) -> None:
    """A long line of anything, such as an embedded picture, takes time in proportion to its length."""
    text = "# T\n\n## Status\n\nAccepted\n\n## Context\n\n" + piece * (100_000 // len(piece))
    started = time.perf_counter()
    adr.read_documents([Document("0001-a.md", text)], prefix="x")
    assert time.perf_counter() - started < 10  # quadratic, it takes minutes; this leaves room for a busy machine


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# 7. This\n\n| Status | Accepted |\n|---|---|\n| Date | 2020-01-31 |\n", "accepted"),
        ("# 7. This\n\n| Status | Rejected |\n|---|---|\n| Date | 2020-01-31 |\n", "rejected"),
        ("# 7. This\n\n## Status\n\nSuperseded by ADR 99\n", "superseded"),
        ("---\nstatus: accepted\nsuperseded-by: https://example.org/9\n---\n# 7. This\n", "superseded"),
        ("---\nsuperseded-by: ADR-99\n---\n# 7. This\n", "superseded"),
        ("---\nstatus: accepted\n---\n# 7. This\n\n## Status\n\nAccepted if it works\n", "unknown"),
        ("# 7. This\n\n## Status of the migration\n\nDone\n", "unknown"),
        ("# 7. This\n\n## API\n\nStatus: accepted is returned by the API\n", "unknown"),
    ],
)
def test_nothing_is_in_force_by_a_misread_place(one: One, text: str, expected: str) -> None:
    """A pair in a header row is read; a successor that is not here retires; a heading about other work says nothing."""
    assert one(text).record["status"] == expected


def test_no_mark_of_a_link_is_shown(one: One) -> None:
    """What the report quotes has links by their text."""
    found = one("# 7. This\n\n## 状态\n\n被 [2](0002-other-2.md) 取代\n")
    assert "\ue000" not in " ".join((*found.decided, *found.doubts))
    assert "\ue001" not in " ".join((*found.decided, *found.doubts))
