from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from seed.rewrite import edited, scalar, scalars
from seed.yamltext import YamlFaultError, parse

FILE = b"""\
# the head
id: d-1   # its own
title: 'about d-1'
supersedes:   # why
  - "d-2"  # the first
  -   d-3
relates_to: [d-2, d-4]
source:
  - path: d-2
body: |
  d-2 stays.
"""


def swap(key: str, value: str) -> str:
    return "new" if value == "d-2" and key in ("supersedes", "relates_to") else value


def test_only_the_asked_values_change_and_every_other_byte_stays() -> None:
    """Comments, spaces, quotes and the other values are kept to the byte."""
    expected = FILE.replace(b'"d-2"', b'"new"').replace(b"[d-2,", b"[new,")
    assert edited(FILE, swap) == expected


@pytest.mark.parametrize(
    "change", [lambda data: data.replace(b"\n", b"\r\n"), lambda data: b"\xef\xbb\xbf" + data], ids=["crlf", "bom"]
)
def test_line_ends_and_byte_order_mark_are_kept(change: object) -> None:
    """CRLF files stay CRLF files, and a byte order mark stays in front."""
    data = change(FILE)  # type: ignore[operator]
    assert edited(data, swap) == data.replace(b'"d-2"', b'"new"').replace(b"[d-2,", b"[new,")


def test_wide_characters_do_not_shift_the_place() -> None:
    """Offsets count characters, so text beyond ASCII in front of a value does no harm."""
    data = "title: 決定 \U0001f600\u00e9\nsupersedes: d-2\n".encode()
    assert edited(data, swap) == data.replace(b"d-2", b"new")


def test_a_value_written_with_an_anchor_is_left_alone() -> None:
    """What cannot be replaced without rewriting YAML is not touched; the caller sees that it stayed."""
    data = b"supersedes: [&x d-2, *x]\n"
    assert edited(data, swap) == data


def test_a_file_that_cannot_be_read_is_refused() -> None:
    """A broken file is never edited."""
    with pytest.raises(YamlFaultError):
        edited(b"a: [", swap)


@given(st.text())
def test_any_title_becomes_one_line_that_reads_back(text: str) -> None:
    """A quoted value is one line of YAML and means the same text."""
    written = scalar(text)
    plain = text.encode("utf-8", "replace").decode()
    assert "\n" not in written
    assert yaml.safe_load(f"title: {written}") == {"title": plain}
    assert parse(f"title: {written}\n".encode()).data == {"title": plain}


@given(st.lists(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,8}", fullmatch=True), min_size=1, max_size=5))
def test_every_value_is_found_at_its_place(ids: list[str]) -> None:
    """Each listed value's offsets cut exactly that value out of the text."""
    text = f"supersedes: [{', '.join(ids)}]\n"
    assert [(s.key, text[s.start : s.end]) for s in scalars(text)] == [("supersedes", i) for i in ids]
