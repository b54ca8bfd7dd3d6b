from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.edit import with_values, write
from seed.errors import SidecarError
from seed.yamltext import parse

LEAF = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=40)
VALUE = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LEAF, inner, max_size=3), max_leaves=6
)
KEY = st.sampled_from(["title", "body", "tags", "source", "superseded_by", "odd key: #", "note"])
FILE = """\
# The header stays.
id: decision-7
kind: decision
title: 'It holds: always'  # quoted for the colon
status: accepted           # since May

# Tags come next.
tags: [a,   b]
source:
  - path: docs/x.md        # where
    note: "y"
body: |
  One line.
  # not a comment

  Another.
# The end.
"""


def lines_changed(before: str, after: str) -> tuple[list[str], list[str]]:
    old, new = before.split("\n"), after.split("\n")
    return [line for line in old if line not in new], [line for line in new if line not in old]


@given(st.dictionaries(KEY, VALUE, max_size=5))
def test_whatever_is_written_reads_back(values: dict[str, Any]) -> None:
    """A mapping with any texts in it comes back from its YAML unchanged."""
    text = write(values)
    assert (parse(text.encode()).data if text else {}) == values


@given(st.dictionaries(KEY, VALUE | st.none(), max_size=3))
def test_whatever_is_set_reads_back_and_nothing_else_changes(changes: dict[str, Any]) -> None:
    """After an edit every key has its new value and every other key its old one, comments and all."""
    expected = {k: v for k, v in {**parse(FILE.encode()).data, **changes}.items() if v is not None}
    after = with_values(FILE.encode(), changes)
    assert parse(after).data == expected
    assert b"# The header stays." in after


@pytest.mark.parametrize(
    ("changes", "gone", "new"),
    [
        (
            {"status": "superseded"},
            "status: accepted           # since May",
            "status: superseded           # since May",
        ),
        (
            {"title": "It held"},
            "title: 'It holds: always'  # quoted for the colon",
            "title: It held  # quoted for the colon",
        ),
        ({"tags": ["c"]}, "tags: [a,   b]", "tags: [c]"),
    ],
)
def test_one_value_changes_one_line(changes: dict[str, Any], gone: str, new: str) -> None:
    """A value on one line is replaced in place: spacing, comment and every other line stay."""
    assert lines_changed(FILE, with_values(FILE.encode(), changes).decode()) == ([gone], [new])


def test_a_block_is_replaced_without_the_comments_around_it() -> None:
    """A literal block goes whole, a line in it that looks like a comment too; the comment that follows stays."""
    after = with_values(FILE.encode(), {"body": "New.\n"}).decode()
    assert after == FILE[: FILE.index("body:")] + "body: |\n  New.\n# The end.\n"
    assert with_values(FILE.encode(), {"body": None}).decode() == FILE[: FILE.index("body:")] + "# The end.\n"


def test_a_new_key_follows_the_named_one() -> None:
    """What overturned a record stands next to its status."""
    after = with_values(FILE.encode(), {"superseded_by": ["decision-8"]}).decode()
    assert after == FILE.replace("# since May\n", "# since May\nsuperseded_by: [decision-8]\n")


def test_line_ends_and_byte_order_mark_stay() -> None:
    """A file of another editor keeps its CRLF, its mark, and its missing final line end."""
    data = b"\xef\xbb\xbfid: x\r\nstatus: accepted\r\ntitle: t"
    after = with_values(data, {"status": "superseded", "note": ["a"]}, after="title")
    assert after == b"\xef\xbb\xbfid: x\r\nstatus: superseded\r\ntitle: t\r\nnote: [a]\r\n"


@pytest.mark.parametrize(
    "text",
    [
        "{id: x, kind: fact, title: t, status: verified}  # one line\n",
        "id: x\nstatus: &s verified  # kept\nother: *s\n",
    ],
)
def test_other_layouts_are_written_anew_with_their_comments(text: str) -> None:
    """A mapping on one line and an anchor cannot be edited in place; what they say and their comments survive."""
    after = with_values(text.encode(), {"status": "refuted", "refuted_by": ["y"]})
    data = parse(after).data
    assert (data["status"], data["refuted_by"]) == ("refuted", ["y"])
    assert b"#" in after
    assert data.get("other", "verified") == "verified"


def test_a_broken_file_is_refused_with_its_line() -> None:
    """A file that cannot be read is not edited."""
    with pytest.raises(SidecarError, match="line 2"):
        with_values(b"id: x\nid: y\n", {"status": "refuted"})


@pytest.mark.parametrize(
    "text",
    [
        "a: &a x\nb: &a x\n",  # an anchor that stands twice
        "id: x\rkind: fact\rstatus: verified\r",  # line ends that only YAML counts
        "id: x\u2028\nstatus: verified\n",
        "id: x\nb\t:c: |\n  y\n",  # what ruamel.yaml does not read
        "id: x\ndate: 2026-99-99\n{status: y}: z\n",
        "status\n: x\n",
        "? status\n: x\n",
    ],
)
def test_any_layout_is_edited_or_refused(text: str) -> None:
    """Whatever the layout: the key is set and all else reads as before, or one line says that it cannot be."""
    try:
        after = parse(with_values(text.encode(), {"status": "refuted"})).data
    except SidecarError:
        return
    assert after == {**parse(text.encode()).data, "status": "refuted"}
