from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sidecar import library, sentence_rows
from sidecar.address import Addresser, Asking
from sidecar.provider import Provider

from .conftest import TOY, Commit
from .test_address import ASKED, SAID, keep, session


@pytest.fixture
def asker(repository: Path, commit: Commit, tmp_path: Path) -> Iterator[Addresser]:
    commit({"knowledge/policy.yaml": TOY}, "Policy")
    provider = Provider(repository)
    made = Addresser(provider)
    keep(made.history, session(tmp_path, "one", SAID))
    made.answer(Asking(ASKED))
    yield made
    provider.close()


def looked_up(asker: Addresser, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Open the library as a new process does, and say whether all rows were looked up in the store."""
    calls: list[int] = []
    plain = sentence_rows.rows
    monkeypatch.setattr(sentence_rows, "rows", lambda *given: calls.append(1) or plain(*given))
    told = Addresser(asker.provider).answer(Asking(ASKED))
    monkeypatch.setattr(sentence_rows, "rows", plain)
    assert told["verdict"] == "match"
    assert told["coverage"]["embedded"] == told["coverage"]["said"]
    return bool(calls)


def kept_file(asker: Addresser) -> Path:
    (path,) = asker.history.indexes.glob("*.rows")
    return path


def test_rows_are_looked_up_once(asker: Addresser, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was looked up is kept for this user alone, and the next one to open the library reads it."""
    assert stat.S_IMODE(kept_file(asker).stat().st_mode) == 0o600
    assert not looked_up(asker, monkeypatch)


@pytest.mark.parametrize("damage", [b"", b"1234", b"flip"])
def test_a_damaged_file_is_made_again(asker: Addresser, monkeypatch: pytest.MonkeyPatch, damage: bytes) -> None:
    """A file that is cut off, foreign or changed is not believed, and the next look-up replaces it."""
    path = kept_file(asker)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]) if damage == b"flip" else damage)
    assert looked_up(asker, monkeypatch)
    assert path.read_bytes() == whole


def test_rows_that_the_store_gave_to_other_texts_are_not_believed(
    asker: Addresser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A whole file whose rows are not the store's any more is compared with the store and made again."""
    path = kept_file(asker)
    held = np.frombuffer(path.read_bytes(), "<i4", offset=4)
    sentence_rows.keep(path, held[::-1].copy())
    assert looked_up(asker, monkeypatch)


def test_another_library_model_or_generation_has_rows_of_its_own(
    asker: Addresser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """More sessions, another model, and a store that was compacted each lead to another file."""
    keep(asker.history, session(tmp_path, "two", [("user", "The walrus migration needs a tusk column.")]))
    assert looked_up(asker, monkeypatch)
    assert not looked_up(asker, monkeypatch)
    store, opened = asker.provider.session.store, library.open_library(asker.history, "structural")
    mine = asker._ready.popitem()[1].embedder
    assert mine is not None
    outer = library.Projected(mine, "whole-turn")
    names = {sentence_rows._place(tmp_path, store, opened, one.identity) for one in (mine, outer)}
    monkeypatch.setattr(type(store), "generation", lambda _: 7)
    assert len(names | {sentence_rows._place(tmp_path, store, opened, mine.identity)}) == 3


def test_the_name_of_a_sentence_is_found_across_sessions(asker: Addresser, tmp_path: Path) -> None:
    """Sentence by sentence, a library names the same texts as all at once."""
    keep(asker.history, session(tmp_path, "two", [("user", "The walrus migration needs a tusk column.")]))
    opened = library.open_library(asker.history, "structural")
    assert [opened.sha(n) for n in range(len(opened.shas()))] == opened.shas()


def test_rows_with_gaps_are_not_kept(asker: Addresser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """While sentences wait for their vectors nothing is kept: the next question embeds on."""
    keep(asker.history, session(tmp_path, "two", [("user", "The walrus migration needs a tusk column.")]))
    before = set(asker.history.indexes.glob("*.rows"))
    monkeypatch.setattr(sentence_rows, "embed", lambda *_: "1 sentences are not embedded yet")
    assert Addresser(asker.provider).answer(Asking(ASKED))["degraded"]
    assert set(asker.history.indexes.glob("*.rows")) == before
