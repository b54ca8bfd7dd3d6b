"""Put a snapshot together from what its files were parsed into."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from seed import text
from seed.affected import affected
from seed.base import EMPTY, Base, Numbers, Order, Plan
from seed.facets import FACETS, facet, facets, gather, spread
from seed.git.candidates import Candidate
from seed.heads import revise
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
    todo: Plan,
    known: Mapping[str, Stored],
    policy: Policy,
    glossary: dict[str, tuple[str, ...]],
    fault: str,
    version: str = "",
    base: Base = EMPTY,
) -> tuple[Snapshot, Numbers]:
    """Return (snapshot, lengths of passages and then titles) of what stays of a base and what the store knows.

    ``known`` holds the files of the plan. A candidate whose id the commit has already is dropped.
    """
    heads, stored, take = _placed(todo, known, base)
    made = _standing(_revised(base, heads, stored, take), base, take)
    unreadable = tuple(
        Unreadable(e.path, next(p for p in known[e.blob].problems if p.fatal), e.blob)
        for e, ref in todo.files
        if not ref and known[e.blob].record is None
    )
    snapshot = Snapshot(
        want.key,
        want.commit,
        want.tree,
        want.candidates_digest,
        policy,
        made.heads,
        unreadable,
        made.pids,
        made.owners,
        made.titles,
        glossary,
        fault,
        tuple(sorted({(c.ref, c.commit) for c in want.candidates})),
        made.facets,
        version,
    )
    return snapshot, made.lengths


def _placed(todo: Plan, known: Mapping[str, Stored], base: Base) -> tuple[list[Head], list[Stored], Order]:
    """Return the new heads by themselves, what the store has of them, and the order of all: base first, then new."""
    heads: list[Head] = []
    stored: list[Stored] = []
    at: list[int] = []
    taken: set[str] | None = None
    for (entry, ref), place in zip(todo.files, todo.at, strict=True):
        record = known[entry.blob].record
        if record is None:
            continue
        if ref and taken is None:  # candidates come last
            ids = base.facets["id"]
            codes = np.unique(ids.codes[todo.kept]).tolist()
            taken = {ids.values[code].casefold() for code in codes} | {head.record.id.casefold() for head in heads}
        if ref and record.id.casefold() in (taken or ()):
            continue
        heads.append(Head(record, entry.path, entry.blob, "candidate" if ref else record.status, origin=ref))
        stored.append(known[entry.blob])
        at.append(place)
    return heads, stored, np.insert(todo.kept, at, len(base.heads) + np.arange(len(heads)))


def _revised(base: Base, heads: Sequence[Head], stored: Sequence[Stored], take: Order) -> Base:
    old = len(base.heads)
    fresh = facets(heads)
    counts = np.concatenate([np.bincount(base.owners, minlength=old), [len(s.cuts) for s in stored]]).astype(np.intp)
    places, runs = spread(counts, take)
    n = len(base.pids)
    pids = np.concatenate([base.pids, _numbers(c.pid for s in stored for c in s.cuts)])
    lengths = np.concatenate([base.lengths[:n], _numbers(one for s in stored for one in s.lengths)])
    title_lengths = np.concatenate([base.lengths[n:], _numbers(s.title_length for s in stored)])
    titles = np.concatenate([base.titles, _numbers(s.title_pid for s in stored)])
    return Base(
        revise(base.heads, heads, take),
        {name: gather(base.facets[name], fresh[name], take) for name in FACETS},
        pids[places],
        np.repeat(np.arange(len(take), dtype=np.uint32), runs),
        titles[take],
        np.concatenate([lengths[places], title_lengths[take]]),
    )


def _numbers(values: Iterable[int]) -> Numbers:
    return np.fromiter(values, np.uint32)


def _standing(made: Base, base: Base, take: Order) -> Base:
    """Give the records whose relations may have changed their standing; the others have it from the base."""
    among = affected(made.facets, base.facets, take)
    if not among:
        return made
    heads = [made.heads[n] for n in among]
    origins = frozenset(at for at, head in enumerate(heads) if head.origin)
    found = standings([head.record for head in heads], origins)
    changed = {
        n: replace(head, status=one.status, lineage=one.lineage, conflicts=one.conflicts)
        for n, head, one in zip(among, heads, found, strict=True)
        if (head.status, head.lineage, head.conflicts) != (one.status, one.lineage, one.conflicts)
    }
    if not changed:
        return made
    order = np.arange(len(take))
    order[list(changed)] = len(take) + np.arange(len(changed))
    fresh = list(changed.values())
    status = gather(made.facets["status"], facet([(head.status,) for head in fresh]), order)
    return replace(made, heads=revise(made.heads, fresh, order), facets={**made.facets, "status": status})
