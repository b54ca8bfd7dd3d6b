"""What every engine has to satisfy: a new one is added to ENGINES in conftest.py and has to pass all of this."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evals.bench.filling import TOY, VERSION, filled, published, sha, unseen
from seed.embed.base import ToyEmbedder
from seed.errors import SidecarError, StoreError
from seed.record import Problem
from seed.store.engine import Chain, Engine

Open = Callable[[], Engine]


def counted(engine: Engine, term: str) -> dict[int, int]:
    pids, counts = engine.postings(term)
    return dict(zip(pids.tolist(), counts.tolist(), strict=True))


def test_a_parsed_file_comes_back_as_it_went_in(open_engine: Open) -> None:
    """Record, problems, passages and lengths of a blob are the same for another process, under its version alone."""
    engine, other = open_engine(), open_engine()
    filled(engine, "a")
    found = other.stored(["a", "b"], VERSION)
    assert list(found) == ["a"]
    record, given = found["a"].record, unseen("a", "x").record
    assert record == given
    assert found["a"].problems == (Problem(1, "odd", "mend", fatal=False),)
    assert [(c.section, c.start, c.end) for c in found["a"].cuts] == [("S", 0, 13), ("S", 1, 10)]
    assert (found["a"].lengths, found["a"].title_length) == ((3, 3), 1)
    assert other.cuts("a", VERSION) == found["a"].cuts
    assert other.stored(["a"], "2") == {}


def test_passages_are_named_by_their_text(open_engine: Open) -> None:
    """Equal texts have one number, whoever adds them, and come back with their digest and where the title ends."""
    engine, other = open_engine(), open_engine()
    filled(engine, "a")
    filled(other, "a", "b")
    with engine.exclusive(5):
        engine.add([unseen("c", "alpha a alpha")], VERSION)
    (a, c) = (engine.cuts(oid, VERSION)[0].pid for oid in "ac")
    assert a == c
    assert engine.texts([a])[a] == (unseen("a", "alpha a alpha").passages[0].sha, "T. alpha a alpha", 3)
    assert engine.texts([]) == engine.texts([999_999]) == {}


def test_odd_characters_come_back(engine: Engine) -> None:
    """A text keeps every character, U+0000 and those beyond the basic plane included."""
    with engine.exclusive(5):
        engine.add([unseen("a", "nul \0 here", "\U00020000 \u202e 語")], VERSION)
    texts = engine.texts(cut.pid for cut in engine.cuts("a", VERSION))
    assert sorted(text for _, text, _ in texts.values()) == ["T. nul \0 here", "T. \U00020000 \u202e 語"]
    assert sum(counted(engine, "\0").values()) == 1


def test_words_are_counted_once_for_each_document(engine: Engine) -> None:
    """Postings name every document of a term with its count, up to 255, and adding a file again adds nothing."""
    filled(engine, "a", "b")
    before = counted(engine, "alpha")
    assert sorted(before.values()) == [2, 2]
    filled(engine, "a", "b")
    assert counted(engine, "alpha") == before
    with engine.exclusive(5):
        engine.add([unseen("many", " ".join(["often"] * 300))], VERSION)
    assert list(counted(engine, "often").values()) == [255]
    assert counted(engine, "never") == {}


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.sampled_from("uvwxyz"), min_size=1, max_size=6), min_size=1, max_size=20))
def test_many_small_seedings_lose_no_word(open_engine: Open, files: list[list[str]]) -> None:
    """However often words are added in small parts, a term's postings are those of all documents."""
    engine, mark = open_engine(), f"m{abs(hash(str(files)))}"
    for number, file in enumerate(files):
        with engine.exclusive(5):
            engine.add([unseen(f"{mark}-{number}", " ".join([*file, f"{mark}{number}", mark]))], VERSION)
    of_this = counted(engine, mark)
    assert len(of_this) == len(files)
    for letter in "uvwxyz":
        assert sum(n for pid, n in counted(engine, letter).items() if pid in of_this) == sum(
            f.count(letter) for f in files
        )
    engine.close()


def test_segments_are_merged_and_nothing_is_lost(engine: Engine) -> None:
    """After more seedings than segments are kept apart, every posting is still there, once."""
    for number in range(70):
        with engine.exclusive(5):
            engine.add([unseen(f"f{number}", f"common word{number}")], VERSION)
    assert list(counted(engine, "common").values()) == [1] * 70
    assert all(len(counted(engine, f"word{number}")) == 1 for number in range(70))


def test_a_snapshot_is_published_whole(open_engine: Open) -> None:
    """Another process sees nothing of a snapshot, or all of it as it was made; the newest comes without a key."""
    engine, other = open_engine(), open_engine()
    assert not other.has("one")
    assert other.load("one") is other.load() is None
    one = published(engine, "one", "a", "b")
    published(engine, "two", "a")
    assert other.has("one")
    loaded = other.load("one")
    assert loaded is not None
    found, lengths = loaded
    assert (found.heads, found.policy, found.key) == (one.heads, one.policy, "one")
    for name in ("pids", "owners", "titles"):
        assert np.array_equal(getattr(found, name), getattr(one, name))
    assert lengths.tolist() == [3, 3, 3, 3, 1, 1]
    newest = other.load()
    assert newest is not None
    assert newest[0].key == "two"
    assert [key for key, _, _ in other.snapshots()] == ["two", "one"]
    published(engine, "one", "a", "b")
    assert [key for key, _, _ in other.snapshots()] == ["one", "two"]


def test_a_transaction_that_fails_leaves_nothing(open_engine: Open) -> None:
    """When a file in a batch cannot be stored, the others of the batch are not stored either."""
    engine = open_engine()

    def batch() -> Any:
        yield unseen("a", "alpha")
        raise SidecarError("the clone is gone")

    with pytest.raises(SidecarError), engine.exclusive(5):
        engine.add(batch(), VERSION)
    assert open_engine().stored(["a"], VERSION) == {}
    assert counted(engine, "alpha") == {}


def test_notes_are_kept_replaced_and_forgotten(open_engine: Open) -> None:
    """A note is there for every process until an empty one replaces it."""
    engine, other = open_engine(), open_engine()
    assert other.noted("n") == ""
    engine.note("n", "one")
    engine.note("n", "two")
    assert other.noted("n") == "two"
    engine.note("n")
    assert other.noted("n") == ""


def test_vectors_come_back_bit_by_bit(open_engine: Open) -> None:
    """Every vector is what was given, for every process, and one that is there already stays as it is."""
    engine, other = open_engine(), open_engine()
    made = {sha(word): TOY.question(word) for word in ("alpha", "beta", "gamma delta", "epsilon zeta eta")}
    engine.register(TOY.identity)
    assert engine.matrix(TOY.identity) is None
    with engine.exclusive(5):
        engine.add_vectors(TOY.identity, dict(list(made.items())[:2]))
        engine.add_vectors(TOY.identity, made)
        engine.add_vectors(TOY.identity, made)
        engine.add_vectors(TOY.identity, {})
        engine.heal(TOY.identity)
    for store in (engine, other):
        rows, matrix = store.rows(TOY.identity, list(made)), store.matrix(TOY.identity)
        assert matrix is not None
        assert sorted(rows.values()) == [0, 1, 2, 3]
        assert store.held(TOY.identity) == 4
        assert all(np.array_equal(matrix[rows[name]], vector) for name, vector in made.items())
        assert matrix.dtype == np.float32
        sound = store.sound(TOY.identity)
        assert all(np.array_equal(sound[name], vector) for name, vector in made.items())


def test_what_was_read_grows_with_what_is_added(open_engine: Open) -> None:
    """A process that has read the vectors sees later ones too, and those it was given stay as they were."""
    engine, other = open_engine(), open_engine()
    engine.register(TOY.identity)
    with engine.exclusive(5):
        engine.add_vectors(TOY.identity, {sha("a"): TOY.question("a")})
    first = other.matrix(TOY.identity)
    assert first is not None
    kept = first.copy()
    with engine.exclusive(5):
        engine.add_vectors(TOY.identity, {sha(f"b{n}"): TOY.question(f"b{n}") for n in range(50)})
    later = other.matrix(TOY.identity)
    assert later is not None
    assert len(later) == 51
    assert np.array_equal(later[0], kept[0])
    assert np.array_equal(first, kept)


def test_identities_never_meet(engine: Engine) -> None:
    """Vectors of two embedder identities have rows and matrices of their own."""
    other = ToyEmbedder(4, projection="other")
    for toy in (TOY, other):
        engine.register(toy.identity)
        with engine.exclusive(5):
            engine.add_vectors(toy.identity, {sha("a"): toy.question("a")})
    shapes = [m.shape for toy in (TOY, other) if (m := engine.matrix(toy.identity)) is not None]
    assert shapes == [(1, 8), (1, 4)]
    assert engine.rows(ToyEmbedder(16).identity, [sha("a")]) == {}
    assert engine.held(ToyEmbedder(16).identity) == 0


def test_a_plane_and_its_floors_are_kept(open_engine: Open) -> None:
    """The rows of a snapshot come back, floors are added one by one, and new rows put an end to old floors."""
    engine, other = open_engine(), open_engine()
    assert engine.plane("one", TOY.identity) is None
    engine.save_floor("one", TOY.identity, "fused", {"value": 0.5})
    published(engine, "one", "a", "b")
    engine.save_floor("one", TOY.identity, "fused", {"value": 0.25, "probe": "q"})
    engine.save_floor("one", TOY.identity, "cosine", {"value": 0.5})
    plane = other.plane("one", TOY.identity)
    assert plane is not None
    assert sorted(plane[0].tolist()) == [0, 1, 2, 3]
    assert plane[1] == {"fused": {"value": 0.25, "probe": "q"}, "cosine": {"value": 0.5}}
    engine.save_plane("one", TOY.identity, np.array([3, -1, 0, 1], np.int32))
    plane = other.plane("one", TOY.identity)
    assert plane is not None
    assert (plane[0].tolist(), plane[1]) == ([3, -1, 0, 1], {})


def test_a_block_of_one_state_does_not_see_what_comes_meanwhile(open_engine: Open) -> None:
    """Plane and vectors read in one block belong together, whoever writes between the two reads."""
    engine, other = open_engine(), open_engine()
    published(engine, "one", "a")
    with other.one_state():
        before = other.plane("one", TOY.identity)
        turned = [int(row) for row in before[0][::-1]] if before else []
        engine.save_plane("one", TOY.identity, np.array(turned, np.int32))
        after = other.plane("one", TOY.identity)
    assert before is not None
    assert after is not None
    assert before[0].tolist() == after[0].tolist() != turned
    later = other.plane("one", TOY.identity)
    assert later is not None
    assert later[0].tolist() == turned


def test_one_process_seeds_at_a_time(open_engine: Open) -> None:
    """The lock is held by one, whoever waits in vain is told so, and a block that fails gives it back."""
    engine, other = open_engine(), open_engine()
    with engine.exclusive(1), pytest.raises(StoreError, match="is seeding"), other.exclusive(0.05):
        pass
    with pytest.raises(ZeroDivisionError), engine.exclusive(1):
        _ = 1 / 0
    with other.exclusive(0.05):
        pass


def test_whoever_waits_gets_the_lock_when_it_is_free(open_engine: Open) -> None:
    """Waiting ends with the lock, not with the time."""
    engine, other = open_engine(), open_engine()
    taken, release = threading.Event(), threading.Event()

    def hold() -> None:
        with engine.exclusive(5):
            taken.set()
            release.wait(5)

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait(5)
    threading.Timer(0.1, release.set).start()
    with other.exclusive(10):
        assert release.is_set()
    thread.join()


def test_readers_never_wait_for_a_writer(open_engine: Open) -> None:
    """While one process holds the lock, another reads all that was published."""
    engine, other = open_engine(), open_engine()
    published(engine, "one", "a")
    with engine.exclusive(1):
        assert other.load("one") is not None
        assert other.matrix(TOY.identity) is not None
        assert other.plane("one", TOY.identity) is not None


def test_a_collection_keeps_all_vectors_of_an_embedder_that_is_named(open_engine: Open) -> None:
    """Sentences of sessions are in no snapshot: without their embedder's name they go, with it every one stays."""
    engine, kept = open_engine(), replace(TOY.identity, projection="sentences")
    published(engine, "one", "a")
    with engine.exclusive(5):
        engine.register(kept)
        engine.add_vectors(kept, {sha(text): TOY.question(text) for text in ("said", "asked")})
        assert engine.collect(["one"], beside=[kept.digest]).vectors == 0
        assert len(engine.rows(kept, [sha("said"), sha("asked")])) == 2
        assert engine.collect(["one"]).vectors == 2


def test_a_collection_keeps_what_is_referred_to(open_engine: Open) -> None:
    """What no kept snapshot names goes; what stays has its text, its words and its very own vector as before."""
    engine, other = open_engine(), open_engine()
    published(engine, "old", "a", "b", "c")
    published(engine, "new", "b")
    spare = sha("probe")
    with engine.exclusive(5):
        engine.add_vectors(TOY.identity, {spare: TOY.question("probe")})
    generation = other.generation()
    assert other.matrix(TOY.identity) is not None
    told = engine.collect(["new"], [spare], dry_run=True)
    assert engine.has("old")
    with engine.exclusive(5):
        done = engine.collect(["new"], [spare])
    assert (done.snapshots, done.files, done.passages, done.vectors) == (1, 2, 6, 4)
    assert (told.snapshots, told.files, told.passages, told.vectors) == (1, 2, 6, 4)
    assert done.before > 0
    for store in (engine, other):
        assert store.generation() != generation
        loaded, plane, matrix = store.load("new"), store.plane("new", TOY.identity), store.matrix(TOY.identity)
        assert loaded is not None
        assert plane is not None
        assert matrix is not None
        assert matrix.shape == (3, 8)
        texts = store.texts(loaded[0].pids.tolist())
        for pid, row in zip(loaded[0].pids.tolist(), plane[0].tolist(), strict=True):
            assert np.array_equal(matrix[row], TOY.question(texts[pid][1]))
        assert np.array_equal(matrix[store.rows(TOY.identity, [spare])[spare]], TOY.question("probe"))
        assert len(counted(store, "alpha")) == 1
        assert store.stored(["a", "b"], VERSION).keys() == {"b"}
    with engine.exclusive(5):
        assert engine.collect(["new"], [spare]).vectors == 0
    published(engine, "old", "a", "b", "c")
    assert other.load("old") is not None
    assert len(counted(other, "alpha")) == 3


def test_a_store_that_was_made_anew_is_filled_again(open_engine: Open) -> None:
    """Starting anew leaves a store that takes everything again and mixes nothing with what was there."""
    engine = open_engine()
    published(engine, "one", "a", "b")
    before = engine.generation()
    (engine.folder / "store.db").write_bytes(b"garbage " * 1000) if engine.name == "sqlite" else None
    engine.start_anew()
    assert engine.generation() != before
    made = published(engine, "one", "b")
    matrix, plane = engine.matrix(TOY.identity), engine.plane("one", TOY.identity)
    assert matrix is not None
    assert plane is not None
    texts = engine.texts(made.pids.tolist())
    for pid, row in zip(made.pids.tolist(), plane[0].tolist(), strict=True):
        assert np.array_equal(matrix[row], TOY.question(texts[pid][1]))
    assert len(counted(engine, "alpha")) == 1


# --- receipts ---------------------------------------------------------------------------------------------------


def sealed(text: str) -> Callable[[str], dict[str, Any]]:
    return lambda previous: {
        "id": f"sha256:{zlib.crc32((text + previous).encode()):08x}",
        "time": "2026-01-01T00:00:00.000+00:00",
        "question": text,
        "previous": previous,
    }


def test_receipts_are_one_chain_for_every_process(open_chain: Callable[[], Chain]) -> None:
    """Each receipt names the one before it, whoever appended that one."""
    one, two = open_chain(), open_chain()
    for number in range(6):
        receipt, stored = (one, two)[number % 2].append(sealed(f"q{number} \0"))
        assert stored
    chain = two.chain()
    assert [r["previous"] for r in chain] == ["", *(r["id"] for r in chain[:-1])]
    assert one.newest(2) == chain[:-3:-1]
    assert one.newest(2, 3) == [chain[2], chain[1]]
    assert one.count() == 6
    assert one.get(receipt["id"]) == one.get(receipt["id"].removeprefix("sha256:")) == [receipt]
    assert one.get("sha256:zz") == []
    assert len(one.get("%")) == 2


def test_threads_append_to_one_chain(open_chain: Callable[[], Chain]) -> None:
    """Receipts that are given at once still make one chain, and each that was called stored is in it."""
    given: list[str] = []

    def work(name: str) -> None:
        mine = open_chain()
        for number in range(10):
            receipt, stored = mine.append(sealed(f"{name}-{number}"))
            if stored:
                given.append(receipt["id"])

    threads = [threading.Thread(target=work, args=(f"t{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    chain = open_chain().chain()
    assert [r["previous"] for r in chain] == ["", *(r["id"] for r in chain[:-1])]
    assert sorted(given) == sorted(r["id"] for r in chain)


def test_a_restored_chain_is_added_once(open_chain: Callable[[], Chain], tmp_path: Path) -> None:
    """What is here already stays, what is not is added in its order, and a second time adds nothing."""
    one = open_chain()
    one.append(sealed("here"))
    chain: list[dict[str, Any]] = []
    for number in range(3):
        chain.append(sealed(f"there{number}")(chain[-1]["id"] if chain else ""))
    assert one.restore(chain) == 3
    assert one.restore(chain) == 0
    assert [r["question"] for r in one.chain()] == ["here", "there0", "there1", "there2"]
    receipt, _ = one.append(sealed("later"))
    assert receipt["previous"] == chain[-1]["id"]
    assert tmp_path.exists()
