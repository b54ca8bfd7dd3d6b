from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.embed.identity import Identity
from seed.store.engine import Engine
from seed.transcript import files
from seed.transcript.reader import Reader
from seed.transcript.segments import DEFAULT
from sidecar import address, library, sentence_rows
from sidecar.address import Addresser
from sidecar.asking import Asking
from sidecar.collect import collect
from sidecar.provider import Provider

from .conftest import TOY, Commit
from .test_address import ASKED, SAID, keep, session

ENDS = st.binary(min_size=2, max_size=2)


@pytest.fixture
def asker(repository: Path, commit: Commit, tmp_path: Path) -> Iterator[Addresser]:
    commit({"knowledge/policy.yaml": TOY}, "Policy")
    provider = Provider(repository)
    made = Addresser(provider)
    keep(made.history, session(tmp_path, "one", SAID))
    made.answer(Asking(ASKED))
    yield made
    provider.close()


def looked_up(asker: Addresser, monkeypatch: pytest.MonkeyPatch) -> int:
    """Open the library as a new process does, and say how many sentences were looked up in the store."""
    calls: list[int] = []
    plain = sentence_rows.looked_up

    def counted(store: Engine, identity: Identity, names: list[bytes]) -> sentence_rows.Known:
        calls.append(len(names))
        return plain(store, identity, names)

    monkeypatch.setattr(sentence_rows, "looked_up", counted)
    told = Addresser(asker.provider).answer(Asking(ASKED))
    monkeypatch.setattr(sentence_rows, "looked_up", plain)
    assert told["verdict"] == "match"
    assert told["coverage"]["embedded"] == told["coverage"]["said"]
    return sum(calls)


def kept_file(asker: Addresser, suffix: str = ".rows") -> Path:
    (path,) = asker.history.indexes.glob(f"*{suffix}")
    return path


def test_rows_are_looked_up_once(asker: Addresser, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was looked up is kept for this user alone, and the next one to open the library reads it."""
    for suffix in (".held", ".rows"):
        assert stat.S_IMODE(kept_file(asker, suffix).stat().st_mode) == 0o600
        assert looked_up(asker, monkeypatch) == 0
        kept_file(asker, ".held").unlink()  # by name nothing is asked of the store either
    assert looked_up(asker, monkeypatch) == 0


def test_a_collection_leaves_the_sentences_vectors(asker: Addresser, repository: Path) -> None:
    """No commit names a session's sentences, and embedding them anew takes minutes: they stay."""
    store = asker.provider.session.store
    mine = asker._ready.popitem()[1]
    assert mine.embedder is not None
    before = store.held(mine.embedder.identity)
    assert before > len(SAID)  # and the probes
    collect(repository)
    assert store.held(mine.embedder.identity) == before


@pytest.mark.parametrize("damage", [b"", b"1234", b"flip"])
@pytest.mark.parametrize(("suffix", "asked"), [(".held", 0), (".rows", len(SAID))])
def test_a_damaged_file_is_made_again(
    asker: Addresser, monkeypatch: pytest.MonkeyPatch, suffix: str, asked: int, damage: bytes
) -> None:
    """A file that is cut off, foreign or changed is not believed, and is replaced: by name, or from the store."""
    path = kept_file(asker, suffix)
    whole = path.read_bytes()
    if suffix == ".rows":
        kept_file(asker, ".held").unlink()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]) if damage == b"flip" else damage)
    assert looked_up(asker, monkeypatch) == asked
    assert path.read_bytes() == whole


def test_rows_that_the_store_gave_to_other_texts_are_not_believed(
    asker: Addresser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole files whose rows are not the store's any more are compared with the store and made again."""
    path, store = kept_file(asker), asker.provider.session.store
    ready_file = kept_file(asker, ".held")
    whole = path.read_bytes(), ready_file.read_bytes()
    (ready,) = asker._ready.values()
    assert ready.embedder is not None
    known = sentence_rows.kept(path, store, ready.embedder.identity)
    assert len(known.rows) == len(SAID)
    sentence_rows.keep(path, sentence_rows.Known(known.names, known.rows[::-1].copy()))
    sentence_rows._write(ready_file, np.frombuffer(whole[1][4:], "<i4")[::-1].tobytes())
    assert looked_up(asker, monkeypatch) == len(SAID)
    assert (path.read_bytes(), ready_file.read_bytes()) == whole


def test_another_model_or_generation_has_rows_of_its_own(
    asker: Addresser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Another model, a store that was compacted, and another library each lead to another file."""
    store = asker.provider.session.store
    mine = asker._ready.popitem()[1].embedder
    assert mine is not None
    outer = library.Projected(mine, "whole-turn")
    names = {sentence_rows._place(tmp_path, store, one.identity) for one in (mine, outer)}
    names.add(sentence_rows._place(tmp_path, store, mine.identity, "library"))
    monkeypatch.setattr(type(store), "generation", lambda _: 7)
    assert len(names | {sentence_rows._place(tmp_path, store, mine.identity)}) == 4


def test_of_a_session_that_grew_only_what_is_new_is_looked_up(
    asker: Addresser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """More sessions, and more of one, use the same file: the store is asked for their new sentences alone."""
    grown = [*SAID, ("user", "The walrus migration needs a tusk column."), ("user", "The otter keeps its stone.")]
    keep(asker.history, session(tmp_path, "one", grown))
    assert looked_up(asker, monkeypatch) == 2 * 2  # before they are embedded, and after
    keep(asker.history, session(tmp_path, "two", [("user", "The walrus migration needs a tusk column.")]))
    assert looked_up(asker, monkeypatch) == 0


@given(st.lists(ENDS, max_size=40), st.lists(ENDS, max_size=9))
def test_a_text_is_found_by_its_whole_name(held: list[bytes], asked: list[bytes]) -> None:
    """A text is known by its whole name or not at all, also where names begin alike; the others are told as -1."""

    def names(ends: list[bytes]) -> library.Names:
        whole = b"".join(bytes([end[0] % 3]) * 8 + bytes(22) + end for end in ends)
        return np.frombuffer(whole, np.uint8).reshape(-1, 32)

    once = list(dict.fromkeys(held))
    known = sentence_rows.NONE.with_more(names(once), np.arange(len(once), dtype=np.int32))
    for end, row in zip(asked, known.of(names(asked)).tolist(), strict=True):
        assert row == -1 or once[row] == end
    alone = [end for end in once if sum(one[0] % 3 == end[0] % 3 for one in once) == 1]
    assert known.of(names(alone)).tolist() == [once.index(end) for end in alone]


def test_what_is_embedded_already_is_not_read_again(
    asker: Addresser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of a session that grew, the turns before the first new sentence are not read to embed it."""
    keep(asker.history, session(tmp_path, "one", [*SAID, ("user", "The walrus migration needs a tusk column.")]))
    opened, read = library.open_library(asker.history, "structural"), list[int]()
    plain = Reader.lines

    def lines(self: Reader, first: int = 0) -> Iterator[tuple[int, int, bytes]]:
        for line in plain(self, first):
            read.append(line[0])
            yield line

    monkeypatch.setattr(Reader, "lines", lines)
    mine = asker._ready.popitem()[1].embedder
    assert mine is not None
    store = asker.provider.session.store
    held, left = sentence_rows.seeded(asker.history.indexes, store, opened, mine, 60.0)
    assert (bool((held >= 0).all()), left, read) == (True, "", [len(SAID)])


def test_one_process_embeds_at_a_time(asker: Addresser, tmp_path: Path) -> None:
    """While another process embeds, an answer says so and what it covers, and embeds nothing; after it, the rest."""
    keep(asker.history, session(tmp_path, "two", [("user", "The walrus migration needs a tusk column.")]))
    with files.alone(asker.history.indexes / ".embedding") as mine:
        assert mine
        told = asker.answer(Asking(ASKED))
        assert told["degraded"] == "1 sentences are not embedded yet: another process is embedding them"
        assert told["coverage"]["searched"] == told["coverage"]["said"] - 1
    assert "degraded" not in asker.answer(Asking(ASKED))


def test_while_vectors_are_missing_the_library_is_opened_once(
    asker: Addresser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Question after question goes on embedding; segments and words, which stay the same, are not read again."""
    keep(asker.history, session(tmp_path, "two", [("user", "The walrus migration needs a tusk column.")]))
    opened: list[int] = []
    plain = library.open_library
    monkeypatch.setattr(library, "open_library", lambda *given: opened.append(1) or plain(*given))
    first = [asker.answer(Asking(ASKED, budget=-1.0)) for _ in range(3)]
    assert all("1 sentences are not embedded yet" in one["degraded"] for one in first)
    assert "degraded" not in asker.answer(Asking(ASKED))
    assert len(opened) == 1


def identity_of(asker: Addresser) -> Identity:
    (ready,) = asker._ready.values()
    assert ready.embedder is not None
    return ready.embedder.identity


@pytest.mark.parametrize("left", [0, 1, -1])
def test_vectors_that_a_file_lost_are_made_again(asker: Addresser, left: int) -> None:
    """Sentences and probes whose vectors were cut off are embedded again, and not counted as missing for ever."""
    store = asker.provider.session.store
    (path,) = (file for file in store.folder.glob("*.f32") if vectors_of(asker) in file.name)
    os.truncate(path, (left * 4 * 64) % path.stat().st_size)
    told = Addresser(asker.provider).answer(Asking(ASKED))
    assert told["coverage"]["embedded"] == told["coverage"]["said"]
    assert told["verdict"] == "match"


def vectors_of(asker: Addresser) -> str:
    return identity_of(asker).digest.removeprefix("sha256:")[:24]


def test_a_collection_while_sentences_are_embedded_loses_no_later_vector(
    asker: Addresser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An embedder that a collection dropped is known again with its next vectors, so that the one after keeps count."""
    store, embedder = asker.provider.session.store, identity_of(asker)
    folder = asker.provider.session.folder
    keep(asker.history, session(tmp_path, "two", [("user", "The walrus migration needs a tusk column.")]))
    plain, moments = library._batches, iter([1])

    def interrupted(*arguments: Any) -> Iterator[dict[bytes, str]]:
        for batch in plain(*arguments):
            if next(moments, 0):
                collect(folder)
            yield batch

    monkeypatch.setattr(library, "_batches", interrupted)
    assert not asker.embed(DEFAULT, (), 9.0)
    assert store.held(embedder)
    collect(folder)
    told = Addresser(asker.provider).answer(Asking(ASKED))
    assert told["coverage"]["embedded"] == told["coverage"]["said"]


def test_a_collection_between_rows_and_vectors_mixes_up_none(asker: Addresser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows and vectors of an answer are of one generation, whenever a collection comes between."""
    before, plain, moments = asker.answer(Asking(ASKED)), address.probe_vectors, iter([1])

    def interrupted(*arguments: Any) -> Any:
        if next(moments, 0):
            collect(asker.provider.session.folder)
        return plain(*arguments)

    monkeypatch.setattr(address, "probe_vectors", interrupted)
    assert Addresser(asker.provider).answer(Asking(ASKED)) == before
