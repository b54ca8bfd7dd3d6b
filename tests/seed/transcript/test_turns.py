from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from seed.transcript import turns


def chunked(data: bytes, step: int) -> list[bytes]:
    return [data[at : at + step] for at in range(0, len(data), step)]


def expected(data: bytes) -> list[bytes]:
    pieces = data.split(b"\n")
    return pieces[:-1] if pieces[-1] == b"" else pieces


RAW = st.lists(st.sampled_from([b"\n", b"\r\n", b"\x00\x00", b"{}", b"\xe2\x80\xa8", b"\xff", b"a"])).map(b"".join)


@given(RAW, st.integers(1, 7))
def test_the_turns_joined_are_the_file(data: bytes, step: int) -> None:
    r"""Every line, cut at "\n" only, is a turn with its offsets and digest, however the file is chunked."""
    found = list(turns.scan(chunked(data, step)))
    assert [data[turn.start : turn.end] for turn in found] == expected(data)
    assert [turn.ordinal for turn in found] == list(range(len(found)))
    digests = [hashlib.sha256(line).hexdigest() for line in expected(data)]
    assert [turn.digest for turn in found] == [f"sha256:{digest}" for digest in digests]


@given(RAW, st.integers(1, 7))
def test_lines_are_the_turns(data: bytes, step: int) -> None:
    """The two ways of walking a file agree on offsets and bytes."""
    found = list(turns.lines(chunked(data, step)))
    assert found == [(turn.start, data[turn.start : turn.end]) for turn in turns.scan([data])]


def test_other_line_separators_do_not_cut() -> None:
    """U+2028, U+0085, VT, FF and a lone CR stay inside their turn."""
    line = "a\u2028b\u0085c\x0bd\x0ce\rf".encode()
    assert [raw for _, raw in turns.lines([line + b"\n" + line])] == [line, line]
