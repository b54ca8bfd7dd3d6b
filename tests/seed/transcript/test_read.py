from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seed.errors import SidecarError
from seed.transcript.archive import Archive
from seed.transcript.manifest import Identity
from seed.transcript.read import Query, read
from seed.transcript.reader import Reader

if TYPE_CHECKING:
    from pathlib import Path


def opened(archive: Archive, data: bytes, form: str) -> Reader:
    stored = archive.store(Identity(f"{form}-s", form), [data], source="", captured="now")
    return Reader(archive, stored.manifest)


def texts(reader: Reader, query: Query) -> list[str]:
    return [part.text for part in read(reader, query).parts]


def test_a_turn_is_read_without_an_extra_layer_of_escaping(archive: Archive, sessions: dict[str, bytes]) -> None:
    """Text is what was meant; arguments that are a string are that string, an object is as the row has it."""
    reader = opened(archive, sessions["claude"], "claude")
    assert texts(reader, Query(turns=(2,))) == ["I will edit seed/db.py"]
    assert texts(reader, Query(turns=(3,))) == ['[call Edit toolu_1]\n{"file_path": "/work/app/seed/db.py"}']
    reader = opened(archive, sessions["eventlog"], "eventlog")
    assert texts(reader, Query(seqs=(2,))) == ['[call write c1]\n{"file_path":"seed/db.py"}']
    reader = opened(archive, sessions["codex"], "codex")
    assert "*** Update File: seed/db.py" in texts(reader, Query(turns=(5,)))[0]
    assert texts(reader, Query(turns=(6,)))[0].startswith('[result call_1 failed]\n{"output":"seed/db.py: broken')


def test_a_row_with_nothing_said_and_a_broken_one_are_shown_as_they_are(archive: Archive) -> None:
    """Rows without blocks, torn rows and bytes that are no text come back as they stand, marked raw."""
    reader = opened(archive, b'{"type":"mode","sessionId":"s"}\n{"torn\n\xff\x00\n', "claude")
    page = read(reader, Query(turns=(0, 1, 2)))
    assert [part.text for part in page.parts] == ['{"type":"mode","sessionId":"s"}', '{"torn', "\\xff\x00"]
    assert all(part.raw for part in page.parts)


def test_raw_gives_the_line_itself(archive: Archive, sessions: dict[str, bytes]) -> None:
    """With raw a turn is its line, byte for byte."""
    reader = opened(archive, sessions["claude"], "claude")
    assert texts(reader, Query(turns=(3,), raw=True)) == [sessions["claude"].split(b"\n")[3].decode()]


def test_a_match_cuts_to_what_stands_around_it(archive: Archive) -> None:
    """Only turns that hold the match come back, cut around it, in any case, neighbours joined."""
    said = "a" * 1000 + " The NEEDLE here " + "b" * 1000
    data = b"".join(
        json.dumps({"role": "user", "content": content}).encode() + b"\n" for content in (said, "nothing", said)
    )
    page = read(opened(archive, data, "generic"), Query(turns=(0, 1, 2), match="needle"))
    assert [(part.turn, part.total) for part in page.parts] == [(0, len(said)), (2, len(said))]
    assert all(" The NEEDLE here " in part.text and len(part.text) < 700 for part in page.parts)
    assert page.matched == 2
    assert read(opened(archive, data, "generic"), Query(match="needle")).matched == 2
    nothing = read(opened(archive, data, "generic"), Query(turns=(1,), match="needle"))
    assert (nothing.parts, nothing.matched) == ((), 0)


CONTENTS = st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=4)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(contents=CONTENTS, size=st.integers(4, 25))
def test_pages_joined_are_the_whole(tmp_path: Path, contents: list[str], size: int) -> None:
    """Reading on from each page's offset gives every turn's text once, cut only between characters."""
    archive = Archive(tmp_path / f"{abs(hash((tuple(contents), size)))}")
    data = b"".join(json.dumps({"role": "user", "content": text}).encode() + b"\n" for text in contents)
    reader = opened(archive, data, "generic")
    turns, offset, found = tuple(range(len(contents))), 0, [""] * len(contents)
    while True:
        page = read(reader, Query(turns=turns, offset=offset, max_bytes=size))
        for part in page.parts:
            found[part.turn] += part.text
        assert sum(len(part.text.encode()) for part in page.parts) <= size
        if page.next_offset is None:
            break
        assert page.next_offset > offset
        offset = page.next_offset
    assert found == contents


def test_an_unknown_number_says_so(archive: Archive, sessions: dict[str, bytes]) -> None:
    """Numbers that mean nothing are named beside what was found; with nothing found it is an error."""
    reader = opened(archive, sessions["eventlog"], "eventlog")
    assert read(reader, Query(turns=(1, 99), seqs=(2, 55))).unknown == ("turn 99", "seq 55")
    with pytest.raises(SidecarError, match="has no seq 55 - its turns are 0 to 7"):
        read(reader, Query(seqs=(55,)))
    with pytest.raises(SidecarError, match="has no turn"):
        read(reader, Query())
    with pytest.raises(SidecarError, match="positive"):
        read(reader, Query(turns=(1,), max_bytes=0))


def test_lone_surrogates_do_not_stop_a_reading(archive: Archive) -> None:
    """Half a surrogate pair in a text is shown by its escape."""
    reader = opened(archive, b'{"role":"user","content":"a\\ud800b"}\n', "generic")
    assert texts(reader, Query(turns=(0,))) == ["a\\ud800b"]
