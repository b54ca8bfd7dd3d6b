"""Put a snapshot together from what its files were parsed into."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from seed import text
from seed.facets import FACETS, Facet, facet, facets, gather, spread
from seed.git.candidates import Candidate
from seed.git.tree import Entry
from seed.heads import Heads, pack, revise
from seed.lifecycle import standings
from seed.passages import PROJECTION
from seed.policy import Policy
from seed.record import SCHEMA_VERSION, Record
from seed.snapshot import Head, Snapshot, Unreadable
from seed.store.parsed import Stored
from seed.store.paths import STORE_FORMAT

Numbers = NDArray[np.uint32]
Order = NDArray[np.intp]
File = tuple[Entry, str]
"""A file of the tree, or one of a candidate branch with that branch's ref."""


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


@dataclass(frozen=True, slots=True)
class Base:
    """An earlier snapshot, with the lengths of its documents, whose heads are taken over where their file is the same.

    It has to be of the same version of parsed files. `EMPTY` has nothing to take over.
    """

    heads: Heads
    facets: Mapping[str, Facet]
    pids: Numbers
    owners: Numbers
    titles: Numbers
    lengths: Numbers

    def places(self, files: Sequence[File]) -> list[int]:
        """Return for each file which head it already has here, -1 for none. Candidates are always looked at anew."""
        names = list(zip(self.heads.paths, self.heads.blobs, strict=True))
        found = {name: n for n, name in enumerate(names)}
        for n in np.flatnonzero(self.facets["origin"].records(bool)).tolist():
            found.pop(names[n], None)
        return [-1 if ref else found.get((entry.path, entry.blob), -1) for entry, ref in files]


_NOTHING = np.empty(0, np.uint32)
EMPTY = Base(pack(()), facets(()), _NOTHING, _NOTHING, _NOTHING, _NOTHING)


def base_of(snapshot: Snapshot, lengths: Numbers) -> Base:
    """Return a snapshot as the base of a later one."""
    heads = pack(snapshot.heads)
    held = snapshot.facets or facets(heads)
    return Base(heads, held, snapshot.pids, snapshot.owners, snapshot.titles, lengths)


def assemble(
    want: Wanted,
    files: Sequence[File],
    known: Mapping[str, Stored],
    policy: Policy,
    glossary: dict[str, tuple[str, ...]],
    fault: str,
    version: str = "",
    base: Base = EMPTY,
    places: Sequence[int] | None = None,
) -> tuple[Snapshot, Numbers]:
    """Return (snapshot, lengths of passages and then titles) of the listed files and what the store knows of them.

    ``files`` are (entry, candidate ref or ""); ``known`` holds those that ``base`` has not. A candidate whose id the
    commit has already is dropped. ``places`` are those that the base gives the files, where they are known.
    """
    places = base.places(files) if places is None else places
    heads, stored, take = _placed(files, known, places, base)
    made = _standing(_revised(base, heads, stored, take), base, take)
    unreadable = tuple(
        Unreadable(e.path, next(p for p in known[e.blob].problems if p.fatal))
        for (e, ref), place in zip(files, places, strict=True)
        if place < 0 and not ref and known[e.blob].record is None
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


def _placed(
    files: Sequence[File], known: Mapping[str, Stored], places: Sequence[int], base: Base
) -> tuple[list[Head], list[Stored], Order]:
    """Return the new heads by themselves, what the store has of them, and the order of all: base first, then new."""
    heads: list[Head] = []
    stored: list[Stored] = []
    take: list[int] = []
    taken: set[str] | None = None
    for (entry, ref), place in zip(files, places, strict=True):
        record = known[entry.blob].record if place < 0 else None
        if place < 0 and record is None:
            continue
        if ref and taken is None:  # candidates come last
            ids = base.facets["id"]
            taken = {ids.one(n).casefold() for n in take if n < ids.size} | {
                head.record.id.casefold() for head in heads
            }
        if ref and record is not None and record.id.casefold() in (taken or ()):
            continue
        if record is not None:
            place = len(base.heads) + len(heads)  # noqa: PLW2901 - behind those of the base
            heads.append(Head(record, entry.path, entry.blob, "candidate" if ref else record.status, origin=ref))
            stored.append(known[entry.blob])
        take.append(place)
    return heads, stored, np.array(take, np.intp)


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
    """Give the records that a relation or another file of the same id touches their standing; the others have it.

    A record that was touched in the base and is no more is looked at too.
    """
    touched = _touched(base.facets)
    before, now = np.concatenate([touched, np.zeros(len(take), np.bool_)])[take], _touched(made.facets)
    if (before == now).all() and before.sum() == touched.sum():
        return made  # the same records stand in relations as in the base
    among = np.flatnonzero(now | before).tolist()
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


def _touched(held: Mapping[str, Facet]) -> NDArray[np.bool_]:
    """Return which records have a relation, are named by one, or share their id with another file."""
    ids, targets = held["id"], held["target"]
    folded = [value.casefold() for value in ids.values]
    wanted = set(targets.values)
    if len(set(folded)) < ids.size:  # two files have one id
        wanted |= {value for value, count in Counter(folded[code] for code in ids.codes.tolist()).items() if count > 1}
    found = np.fromiter((value in wanted for value in folded), np.bool_, len(folded))[ids.codes]
    found[targets.owners] = True
    return found
