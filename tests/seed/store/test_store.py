from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seed.embed.base import ToyEmbedder
from seed.facets import facet
from seed.lifecycle import Link
from seed.passages import cut
from seed.policy import Floor, Policy
from seed.reader import build_record, parse_record
from seed.record import Parsed, Problem
from seed.snapshot import Head, Snapshot, Unreadable
from seed.store.parsed import Unseen
from seed.store.snapshots import decode, encode
from seed.store.store import KEEP_SNAPSHOTS, Store
from seed.text import terms

Text = Callable[..., str]
V = "1"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "store")
    yield opened
    opened.close()


def unseen(oid: str, parsed: Parsed) -> Unseen:
    record = parsed.record
    if record is None:
        return Unseen(oid, None, parsed.problems, (), (), "", Counter())
    passages = tuple(cut(record.title, record.body))
    return Unseen(
        oid,
        record,
        parsed.problems,
        passages,
        tuple(terms(p.text) for p in passages),
        record.title,
        terms(record.title),
    )


def snapshot(store: Store, key: str = "k", **changes: object) -> tuple[Snapshot, np.ndarray]:
    record = build_record(
        {
            "id": "d-1",
            "kind": "decision",
            "title": "T",
            "status": "Accepted",
            "tags": ["a"],
            "body": "One body.",
            "source": [{"path": "p"}],
            "supersedes": ["d-0"],
            "proposed_by": {"agent": "x"},
            "colour": "red",
        }
    )
    store.add([unseen("b1", record)], V)
    stored = store.stored(["b1"], V)["b1"]
    assert stored.record is not None
    head = Head(
        stored.record,
        "knowledge/d-1.yaml",
        "b1",
        "accepted",
        (Link("supersedes", "d-0", "missing"),),
        (("x", "y"),),
        "refs/x",
    )
    values: dict[str, object] = {
        "key": key,
        "commit": "c",
        "tree": "t",
        "candidates": "sha256:0",
        "policy": Policy(fusion="cosine", floors=(Floor("sha256:a", 0.25),), workspaces={"w": "apps/w"}),
        "heads": (head,),
        "unreadable": (Unreadable("knowledge/bad.yaml", Problem(3, "why", "do", fatal=True), "b2"),),
        "pids": np.array([c.pid for c in stored.cuts], dtype=np.uint32),
        "owners": np.array([0], dtype=np.uint32),
        "titles": np.array([stored.title_pid], dtype=np.uint32),
        "glossary": {"cat": ("feline",)},
        "policy_fault": "line 3",
    }
    lengths = np.array([*stored.lengths, stored.title_length], dtype=np.uint32)
    return Snapshot(**{**values, **changes}), lengths  # type: ignore[arg-type]


def test_a_snapshot_comes_back_as_it_was_published(store: Store) -> None:
    """Every field survives the store, by key and as the newest one."""
    made, lengths = snapshot(store)
    store.publish(made, lengths)
    other = Store(store.folder)
    for loaded in (other.load("k"), other.load(), store.load("k")):
        assert loaded is not None
        found, found_lengths = loaded
        for name in (
            "key",
            "commit",
            "tree",
            "candidates",
            "policy",
            "heads",
            "unreadable",
            "glossary",
            "policy_fault",
        ):
            assert getattr(found, name) == getattr(made, name)
        for name in ("pids", "owners", "titles"):
            assert getattr(found, name).tolist() == getattr(made, name).tolist()
        assert found_lengths.tolist() == lengths.tolist()
    other.close()


def test_a_snapshot_that_another_process_published_anew_is_read_anew(store: Store) -> None:
    """A snapshot is remembered as it was published that time, not under its key for good."""
    store.publish(*snapshot(store))
    other = Store(store.folder)
    before = other.load("k")
    assert other.load("k") is before
    store.publish(*snapshot(store, policy_fault="line 4"))
    found = other.load("k")
    assert found is not None
    assert found[0].policy_fault == "line 4"
    other.close()


ROWS = st.one_of(
    st.lists(st.lists(st.text(max_size=3), max_size=3), max_size=6),
    st.integers(250, 260).map(lambda size: [[str(n)] for n in range(size)]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS)
def test_a_property_of_records_survives_the_store(store: Store, rows: list[list[str]]) -> None:
    """Any values, a NUL or nothing in them included, none, one or several a record, of few records and of many."""
    one = snapshot(store)[0].heads[0]
    made, lengths = snapshot(store, heads=(one,) * len(rows), facets={"tag": facet(rows)})
    found = decode(encode(made, lengths))[0].facets["tag"]
    assert [found.of(n) for n in range(len(rows))] == rows
    assert (found.size, found.values) == (len(rows), facet(rows).values)


def test_a_snapshot_that_was_never_published_is_not_there(store: Store) -> None:
    """An unknown key is None, and not the newest snapshot in its place."""
    assert store.load() is None
    store.publish(*snapshot(store))
    assert store.load("other") is None
    assert (store.has("k"), store.has("other")) == (True, False)


def test_another_connection_sees_a_snapshot_whole_or_not_at_all(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Publishing that fails half way leaves the last snapshot as the newest."""
    store.publish(*snapshot(store, "first"))
    made, lengths = snapshot(store, "second")
    monkeypatch.setattr("seed.store.store.KEEP_SNAPSHOTS", "not a number")
    with pytest.raises(sqlite3.Error):
        store.publish(made, lengths)
    other = Store(store.folder)
    loaded = other.load()
    assert loaded is not None
    assert loaded[0].key == "first"
    other.close()


def test_old_snapshots_are_dropped_with_their_planes(store: Store) -> None:
    """The store keeps the newest ones; Git gives the others back."""
    toy = ToyEmbedder()
    for n in range(KEEP_SNAPSHOTS + 3):
        made, lengths = snapshot(store, f"k{n}")
        store.publish(made, lengths)
        store.save_plane(f"k{n}", toy.identity, np.array([0], dtype=np.int32))
    assert [store.has(f"k{n}") for n in (0, 2, 3, KEEP_SNAPSHOTS + 2)] == [False, False, True, True]
    assert store.plane("k0", toy.identity) is None
    assert store.plane("k3", toy.identity) is not None


def test_publishing_again_makes_a_snapshot_the_newest(store: Store) -> None:
    """Going back to an earlier state counts as new, so that it is the last to be dropped."""
    for key in ("a", "b", "a"):
        store.publish(*snapshot(store, key))
    loaded = store.load()
    assert loaded is not None
    assert loaded[0].key == "a"


def test_a_parsed_blob_comes_back_under_its_version_only(store: Store, record_text: Text) -> None:
    """Records, problems and cuts are kept by (blob, version); the body stays in Git."""
    parsed = parse_record(record_text("d-1", colour="red").encode())
    broken = parse_record(b"id: [")
    store.add([unseen("b1", parsed), unseen("b2", broken)], V)
    found = store.stored(["b1", "b2", "b3"], V)
    assert set(found) == {"b1", "b2"}
    record = found["b1"].record
    assert record is not None
    assert parsed.record is not None
    assert (record.id, record.extra, record.body) == (parsed.record.id, {"colour": "red"}, "")
    assert found["b1"].problems == parsed.problems
    assert (found["b2"].record, found["b2"].problems) == (None, broken.problems)
    assert store.stored(["b1"], "2") == {}


def test_texts_are_shared_and_found_by_their_number(store: Store, record_text: Text) -> None:
    """Two blobs with the same passage share one document, and its text comes back with its key."""
    one, two = (parse_record(record_text("d-1", tags=[tag]).encode()) for tag in "ab")
    store.add([unseen("b1", one), unseen("b2", two)], V)
    found = store.stored(["b1", "b2"], V)
    assert found["b1"].cuts == found["b2"].cuts == store.cuts("b1", V)
    ((sha, text, skip),) = store.texts([found["b1"].cuts[0].pid]).values()
    (passage,) = cut("Title of d-1", "Body of d-1.")
    assert (sha, text, skip) == (passage.sha, passage.text, passage.skip)


def test_many_blobs_are_asked_for_in_one_call(store: Store, record_text: Text) -> None:
    """More blobs than SQLite takes parameters are no fault."""
    parsed = parse_record(record_text("d-1").encode())
    store.add((unseen(f"b{n}", parsed) for n in range(1200)), V)
    assert len(store.stored([f"b{n}" for n in range(1200)], V)) == 1200


def test_a_plane_and_its_floors_belong_to_a_snapshot_and_an_identity(store: Store) -> None:
    """Rows and floors are kept together; new rows make old floors void."""
    toy, other = ToyEmbedder(), ToyEmbedder(projection="other")
    store.publish(*snapshot(store))
    store.save_floor("k", toy.identity, "fused", {"value": 0.5})
    assert store.plane("k", toy.identity) is None
    store.save_plane("k", toy.identity, np.array([-1], dtype=np.int32))
    store.save_floor("k", toy.identity, "fused", {"value": 0.5})
    store.save_floor("k", toy.identity, "cosine", {"value": 0.25})
    plane = store.plane("k", toy.identity)
    assert plane is not None
    assert (plane[0].tolist(), plane[1]) == ([-1], {"fused": {"value": 0.5}, "cosine": {"value": 0.25}})
    assert store.plane("k", other.identity) is None
    store.save_plane("k", toy.identity, np.array([0], dtype=np.int32))
    again = store.plane("k", toy.identity)
    assert again is not None
    assert (again[0].tolist(), again[1]) == ([0], {})
