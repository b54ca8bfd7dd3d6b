from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.errors import SidecarError, StoreError
from seed.transcript import segment_index
from seed.transcript.changes import BLOCK
from seed.transcript.manifest import Identity
from seed.transcript.reader import Reader
from seed.transcript.said import Said, said, view
from seed.transcript.segments import LARGE, SCHEMES, SIZED, Segment, check, segments

if TYPE_CHECKING:
    from collections.abc import Callable

    from seed.transcript.archive import Archive

ESCAPE = re.compile(rb"\\(?:u[0-9a-f]{4}|.)")
CALM = "The cat sat on the mat and purred. A cat likes a warm mat. Cats purr when a mat is warm and soft. "
BUSY = "Servers queue requests under load. Latency grows when queues fill. Balancers share requests. "


def row(text: str) -> bytes:
    return json.dumps({"role": "user", "content": text}, ensure_ascii=False).encode("utf-8", "surrogatepass")


def pieces(raw: bytes, scheme: str) -> list[bytes]:
    return [raw[one.start : one.end] for one in segments(0, raw, said(raw, "generic"), scheme)]


@given(
    st.binary(max_size=3000) | st.text(max_size=300).map(lambda text: row(text * 12)),
    st.sampled_from(sorted(SCHEMES)),
    st.sampled_from(["generic", "claude", "unknown"]),
)
def test_every_byte_is_in_exactly_one_segment(raw: bytes, scheme: str, form: str) -> None:
    """Whatever the line, its segments joined are the line, and none is empty."""
    found = segments(7, raw, said(raw, form), scheme)
    assert b"".join(raw[one.start : one.end] for one in found) == raw
    assert all(one.end > one.start and one.turn == 7 for one in found)
    check([Segment(0, one.start, one.end) for one in found], [len(raw)])


@given(
    st.text(st.sampled_from('añ決\n"\\ 😀'), min_size=300, max_size=900),
    st.booleans(),
    st.sampled_from(sorted(SCHEMES)),
)
def test_no_cut_is_inside_a_character_or_an_escape(text: str, ascii_only: bool, scheme: str) -> None:
    """Each piece of a row decodes on its own, and its escapes are whole."""
    raw = json.dumps({"role": "user", "content": text * 4}, ensure_ascii=ascii_only).encode()
    inside = {at for match in ESCAPE.finditer(raw) for at in range(match.start() + 1, match.end())}
    for one in segments(0, raw, said(raw, "generic"), scheme):
        raw[one.start : one.end].decode()
        assert one.start not in inside


def test_structure_is_where_the_text_shows_it() -> None:
    """Paragraphs, headings, lists and fences begin segments; the row's own metadata is apart."""
    parts = ["# One\n" + CALM * 3, "# Two\n" + BUSY * 3, "```\n" + "code = 1\n" * 30 + "```"]
    raw = json.dumps({"uuid": "x" * 80, "role": "user", "content": "\n\n".join(parts)}).encode()
    found = pieces(raw, "structural")
    assert [piece[:7] for piece in found] == [b'{"uuid"', b"# One\\n", b"# Two\\n", b"```\\nco"]


def test_a_change_of_vocabulary_is_a_cut() -> None:
    """The changepoint scheme cuts where one subject ends and another begins, not within a subject."""
    raw = row(CALM * 6 + BUSY * 6)
    change = raw.index(BUSY.encode())
    cuts = [one.start for one in segments(0, raw, said(raw, "generic"), "changepoint")]
    assert min(abs(cut - change) for cut in cuts) <= BLOCK
    assert len(pieces(row(CALM * 12), "changepoint")) < len(cuts)


def test_sizes_are_kept() -> None:
    """Long texts are cut to the scheme's size, between words where there are some."""
    raw = row(CALM * 100)
    assert all(len(piece) <= SIZED + 30 for piece in pieces(raw, "sized-900"))
    assert all(len(piece) <= LARGE + 30 for piece in pieces(raw, "structural"))
    assert all(piece.endswith((b" ", b"}")) for piece in pieces(raw, "sized-900"))
    assert len(pieces(row("x" * 10_000), "sized-900")) > 10
    assert pieces(raw, "whole-turn") == [raw]


def test_an_unknown_scheme_is_named() -> None:
    """A scheme that does not exist is an error that lists those that do."""
    with pytest.raises(SidecarError, match="no scheme nope - choose one of whole-turn, structural"):
        segments(0, b"x", [], "nope")


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([Segment(0, 0, 3), Segment(1, 0, 2)], "turn 0: segments cover 3 of 4"),
        ([Segment(0, 0, 3), Segment(0, 2, 4), Segment(1, 0, 2)], "turn 0: segments cover 3 of 4"),
        ([Segment(0, 0, 4)], "turn 1: segments cover 0 of 2"),
        ([Segment(0, 0, 4), Segment(1, 0, 2), Segment(2, 0, 1)], "outside every turn"),
    ],
)
def test_a_gap_an_overlap_and_a_stray_are_found(found: list[Segment], message: str) -> None:
    """The check fails for each way in which segments could miss or repeat a byte."""
    with pytest.raises(SidecarError, match=message):
        check(found, [4, 2])


def test_a_view_is_what_is_said() -> None:
    """A segment's text to embed has its role, no metadata and no escapes; metadata alone says nothing."""
    raw = json.dumps({"uuid": "x" * 80, "role": "user", "content": 'a\n"b" \ud83d\ude00 é'}).encode()
    parts = said(raw, "generic")
    assert view(raw, parts, 0, len(raw)) == 'user: a\n"b" 😀 é'
    assert view(raw, parts, 0, 60) == ""
    call = {
        "role": "assistant",
        "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": '{"a":"x\\ny"}'}}],
    }
    raw = json.dumps(call).encode()
    assert view(raw, said(raw, "generic"), 0, len(raw)) == 'call f: {"a":"x\ny"}'
    assert said(b"{torn", "generic") == [Said(0, 5, "")]
    assert said(b"\0\0\0", "generic") == []


@pytest.mark.parametrize("scheme", sorted(SCHEMES))
def test_a_family_rests_on_the_archive(archive: Archive, sessions: dict[str, bytes], scheme: str) -> None:
    """An index covers every byte, survives its file, gives exact bytes, and leaves the archive as it was."""
    data = sessions["claude"] + b"\n\n{torn"
    stored = archive.store(Identity("claude-s", "claude"), [data], source="", captured="now")
    reader = Reader(archive, stored.manifest)
    index = segment_index.build(reader, scheme)
    assert segment_index.parse(segment_index.dump(index)) == index
    lines = data.split(b"\n")
    joined = [b""] * len(lines)
    for number in range(len(index)):
        joined[index.segment(number).turn] += index.bytes_of(reader, number)
    assert joined == lines
    assert [number for number, _ in segment_index.views(reader, index)] == list(range(len(index)))
    assert archive.load("claude-s") == stored.manifest
    path = archive.folder / "indexes" / segment_index.file_name("claude-s", stored.manifest.digest, scheme)
    assert segment_index.load(path) is None
    segment_index.save(path, index)
    assert segment_index.load(path) == index


def test_an_index_of_another_state_is_refused(archive: Archive, keep: Callable[..., Reader]) -> None:
    """A turn that is not what was indexed is not answered from, and a damaged index is no index."""
    index = segment_index.build(keep(b'{"role":"user","content":"one"}\n', "a"), "whole-turn")
    other = keep(b'{"role":"user","content":"two"}\n', "b")
    with pytest.raises(StoreError, match="turn 0 of a is not what was indexed"):
        index.bytes_of(other, 0)
    for damaged in (
        b"",
        b"{}\nx",
        segment_index.dump(index)[:-4],
        segment_index.dump(index).replace(b'1, "tr', b'2, "tr'),
    ):
        with pytest.raises(SidecarError, match="damaged"):
            segment_index.parse(damaged)
    assert archive.ids() == ["a", "b"]
