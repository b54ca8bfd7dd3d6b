"""Put a snapshot together from what its files were parsed into."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seed import text
from seed.git.candidates import Candidate
from seed.git.tree import Entry
from seed.lifecycle import standings
from seed.passages import PROJECTION
from seed.policy import Policy
from seed.record import SCHEMA_VERSION, Record
from seed.snapshot import Head, Snapshot, Unreadable
from seed.store.parsed import Stored
from seed.store.paths import STORE_FORMAT


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a snapshot of one state of the repository consists of, before anything is parsed."""

    commit: str
    tree: str
    candidates: tuple[Candidate, ...]

    @property
    def candidates_digest(self) -> str:
        """Return the sha256 over (ref, commit) of the candidates' branches."""
        lines = "\n".join(f"{c.ref} {c.commit}" for c in self.candidates)
        return "sha256:" + hashlib.sha256(lines.encode()).hexdigest()

    @property
    def key(self) -> str:
        """Return the name of the snapshot: the same knowledge has the same key on any commit."""
        parts = f"{self.tree}\n{self.candidates_digest}\n{SCHEMA_VERSION}\n{PROJECTION}\n{STORE_FORMAT}"
        return hashlib.sha256(parts.encode()).hexdigest()


def title_terms(record: Record) -> Counter[str]:
    """Return the terms of a record's words-only document: title and tags as words; id, tags and paths as exact tokens.

    The words of an id or a path would make every record of an importer alike, so they count only as a whole.
    """
    counts = text.terms(record.title)
    for tag in record.tags:
        counts.update(text.words(tag))
    for label in (record.id, *record.tags, *record.paths):
        counts.update({term: 1 for term in text.terms(label) if term.startswith(text.EXACT)})
        counts[text.EXACT + text.fold(label)] = 1
    return counts


def assemble(
    want: Wanted,
    files: Sequence[tuple[Entry, str]],
    known: dict[str, Stored],
    policy: Policy,
    glossary: dict[str, tuple[str, ...]],
    fault: str,
) -> tuple[Snapshot, NDArray[np.uint32]]:
    """Return (snapshot, lengths of passages and then titles) of the listed files and what the store knows of them.

    ``files`` are (entry, candidate ref or ""). A candidate whose id the commit has already is dropped.
    """
    readable = [(e, ref, known[e.blob], record) for e, ref in files if (record := known[e.blob].record) is not None]
    accepted = {record.id.casefold() for _, ref, _, record in readable if not ref}
    readable = [item for item in readable if not item[1] or item[3].id.casefold() not in accepted]
    records = [item[3] for item in readable]
    standing = standings(records, frozenset(n for n, item in enumerate(readable) if item[1]))
    heads = tuple(
        Head(record, entry.path, entry.blob, s.status, s.lineage, s.conflicts, ref)
        for (entry, ref, _, record), s in zip(readable, standing, strict=True)
    )
    unreadable = tuple(
        Unreadable(e.path, next(p for p in known[e.blob].problems if p.fatal))
        for e, ref in files
        if known[e.blob].record is None and not ref
    )
    stored = [item[2] for item in readable]
    pids = np.array([c.pid for s in stored for c in s.cuts], dtype=np.uint32)
    owners = np.repeat(np.arange(len(stored), dtype=np.uint32), [len(s.cuts) for s in stored])
    titles = np.array([s.title_pid for s in stored], dtype=np.uint32)
    lengths = np.array([n for s in stored for n in s.lengths] + [s.title_length for s in stored], dtype=np.uint32)
    snapshot = Snapshot(
        want.key,
        want.commit,
        want.tree,
        want.candidates_digest,
        policy,
        heads,
        unreadable,
        pids,
        owners,
        titles,
        glossary,
        fault,
        tuple(sorted({(c.ref, c.commit) for c in want.candidates})),
    )
    return snapshot, lengths
