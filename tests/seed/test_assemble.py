from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seed import affected as module
from seed.assemble import Wanted, assemble
from seed.base import EMPTY, Base, base_of, plan
from seed.facets import FACETS
from seed.git.tree import Entry
from seed.policy import Policy
from seed.record import Problem, Record
from seed.snapshot import Cut, Snapshot
from seed.store.parsed import Stored

WANT = Wanted("c", "t", ())
Files = dict[str, tuple[str, str]]
"""Path -> (blob, ref)."""


def stored(blob: str) -> Stored:
    """Return a record that follows from its blob: about half of them name another one in a relation."""
    chance = random.Random(blob)  # noqa: S311 - made-up records
    if chance.random() < 0.1:
        return Stored(None, (Problem(1, "no record", "mend it", fatal=True),))
    relation = chance.choice(["supersedes", "refutes", "superseded_by", "relates_to"])
    relations = ((relation, f"r{chance.randrange(12)}"),) if chance.random() < 0.5 else ()
    record = Record(f"r{chance.randrange(12)}", "decision", f"T {blob}", chance.choice(["accepted", "superseded"]),
                    tags=tuple(chance.sample(["a", "b", "c"], chance.randrange(3))), relations=relations)  # fmt: skip
    cuts = tuple(Cut(chance.randrange(1000), "", 0, 1) for _ in range(chance.randrange(1, 4)))
    return Stored(record, (), cuts, tuple(range(len(cuts))), chance.randrange(1000), 3)


def made(files: Files, base: Base = EMPTY) -> tuple[Snapshot, Any]:
    settled = zip(base.heads.paths[: base.settled()], base.heads.blobs, strict=False)
    before = {Entry(*file) for file in settled} | {Entry(file.path, file.blob) for file in base.unreadable}
    now = {Entry(path, blob) for path, (blob, ref) in files.items() if not ref}
    brought = [(Entry(path, blob), ref) for path, (blob, ref) in sorted(files.items()) if ref]
    known = {blob: stored(blob) for blob, _ in files.values()}
    return assemble(WANT, plan(base, before - now, now - before, brought), known, Policy(), {}, "", "1", base)


def told(snapshot: Snapshot, lengths: Any) -> dict[str, Any]:
    held = {name: [snapshot.facets[name].of(n) for n in range(len(snapshot.heads))] for name in FACETS}
    arrays = {name: getattr(snapshot, name).tolist() for name in ("pids", "owners", "titles")}
    values = {name: set(snapshot.facets[name].values) for name in FACETS}
    told = {"heads": list(snapshot.heads), "facets": held, "values": values, "lengths": lengths.tolist()}
    return {**told, "unreadable": snapshot.unreadable, "blocks": list(snapshot.heads.blocks), **arrays}


files = st.dictionaries(
    st.integers(0, 30).map(lambda n: f"knowledge/{n}.yaml"),
    st.tuples(st.integers(0, 60).map(lambda n: f"b{n:02}"), st.sampled_from(["", "", "", "refs/x"])),
    max_size=20,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(files, min_size=2, max_size=4), st.sampled_from([0, 1, 64]))
def test_a_snapshot_is_the_same_whatever_it_was_built_from(walk: list[Files], rounds: int) -> None:
    """Taking over heads of earlier snapshots changes nothing of the last one, however far relations are followed."""
    base = EMPTY
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ROUNDS", rounds)
        for one in walk:
            last = made(one, base)
            base = base_of(*last)
    assert told(*last) == told(*made(walk[-1]))


def test_facets_say_what_the_heads_say() -> None:
    """What filters ask is what each record has."""
    snapshot, _ = made({f"knowledge/{n}.yaml": (f"b{n:02}", "") for n in range(20)})
    for name, of in FACETS.items():
        told = [snapshot.facets[name].of(n) for n in range(len(snapshot.heads))]
        assert told == [list(of(head)) for head in snapshot.heads]


def test_standing_is_looked_at_again_where_a_relation_went(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without looking at what was touched before, a record would stay superseded by a file that is gone."""
    newer = next(b for n in range(999) if (s := stored(b := f"b{n:02}").record) and s.status == "accepted"
                 and s.relations and s.relations[0][0] == "supersedes" and s.relations[0][1] != s.id)  # fmt: skip
    target = stored(newer).record.relations[0][1]  # type: ignore[union-attr]
    older = next(b for n in range(999) if (s := stored(b := f"b{n:02}").record) and s.id == target
                 and s.status == "accepted" and not s.relations)  # fmt: skip
    both: Files = {"knowledge/1.yaml": (newer, ""), "knowledge/2.yaml": (older, "")}
    base, alone = base_of(*made(both)), {"knowledge/2.yaml": (older, "")}
    assert [head.status for head in made(both)[0].heads][1] == "superseded"
    assert [head.status for head in made(alone, base)[0].heads] == ["accepted"]
    monkeypatch.setattr(module, "_spoken_of", lambda *_: set())
    assert [head.status for head in made(alone, base)[0].heads] == ["superseded"]
