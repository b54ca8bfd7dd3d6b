"""Small made-up files for a store of any engine: for its conformance suite and for benchmarks."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from seed.embed.base import ToyEmbedder
from seed.passages import Passage
from seed.policy import Policy
from seed.record import Problem, Record
from seed.snapshot import Head, Snapshot
from seed.store.engine import Engine
from seed.store.parsed import Unseen

VERSION = "1"
TOY = ToyEmbedder(8)


def sha(text: str) -> bytes:
    """Return what stands for the sha256 of a text that is no passage."""
    return zlib.crc32(text.encode()).to_bytes(4, "big") * 8


def unseen(oid: str, *texts: str) -> Unseen:
    """Return a parsed file with a passage for each text, and a problem."""
    record = Record(oid, "decision", f"Title {oid}", "accepted", tags=("a",), relations=(("supersedes", "b"),))
    passages = tuple(Passage(n, n + len(t), "S", f"T. {t}", 3) for n, t in enumerate(texts))
    terms = tuple(Counter(t.split()) for t in texts)
    return Unseen(
        oid, record, (Problem(1, "odd", "mend", fatal=False),), passages, terms, f"title {oid}", Counter([oid])
    )


def snapshot(key: str, engine: Engine, oids: Sequence[str]) -> tuple[Snapshot, Any]:
    """Return a snapshot of files that the store holds, and the lengths of its documents."""
    known = engine.stored(oids, VERSION)
    held = [known[oid] for oid in oids]
    pids = np.array([c.pid for s in held for c in s.cuts], dtype=np.uint32)
    owners = np.repeat(np.arange(len(held), dtype=np.uint32), [len(s.cuts) for s in held])
    titles = np.array([s.title_pid for s in held], dtype=np.uint32)
    heads = tuple(
        Head(s.record, f"knowledge/{o}.yaml", o, "accepted") for o, s in zip(oids, held, strict=True) if s.record
    )
    lengths = np.array([n for s in held for n in s.lengths] + [s.title_length for s in held], dtype=np.uint32)
    made = Snapshot(key, "c" * 40, "t" * 40, "sha256:0", Policy(), heads, (), pids, owners, titles)
    return made, lengths


def filled(engine: Engine, *oids: str) -> None:
    """Add files of two passages each."""
    with engine.exclusive(5):
        engine.add([unseen(oid, f"alpha {oid} alpha", f"beta of {oid}") for oid in oids], VERSION)


def published(engine: Engine, key: str, *oids: str) -> Snapshot:
    """Add files and publish their snapshot with its vectors. Returns the snapshot."""
    filled(engine, *oids)
    with engine.exclusive(5):
        made, lengths = snapshot(key, engine, oids)
        engine.publish(made, lengths)
        engine.register(TOY.identity)
        texts = engine.texts(made.pids.tolist())
        engine.add_vectors(TOY.identity, {s: TOY.question(t) for s, t, _ in texts.values()})
        rows = engine.rows(TOY.identity, [s for s, _, _ in texts.values()])
        engine.save_plane(key, TOY.identity, np.array([rows[texts[p][0]] for p in made.pids.tolist()], np.int32))
    return made
