"""Properties of the records of a snapshot, by their distinct values: a filter asks each value once. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seed.record import is_verdict
from seed.text import is_cjk

if TYPE_CHECKING:
    from seed.snapshot import Head

Codes = NDArray[np.int32]
_FEW = 8
"""So many values are looked for one after the other: to index all the others would take longer."""


@dataclass(frozen=True, slots=True)
class Facet:
    """One property of m records: ``codes`` (k,) point into ``values``, ``owners`` (k,) are their records, ascending."""

    values: tuple[str, ...]
    codes: Codes
    owners: Codes
    size: int

    def records(self, wanted: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Return which records (m,) have a value that is wanted."""
        hit = np.fromiter(map(wanted, self.values), np.bool_, len(self.values))
        found = np.zeros(self.size, np.bool_)
        found[self.owners[hit[self.codes]]] = True
        return found

    def of(self, ordinal: int) -> list[str]:
        """Return the values of one record, in its order."""
        first, last = np.searchsorted(self.owners, (ordinal, ordinal + 1)).tolist()
        return [self.values[code] for code in self.codes[first:last].tolist()]

    def one(self, ordinal: int) -> str:
        """Return the value of a record in a property that every record has once."""
        return self.values[int(self.codes[ordinal])]

    def single(self) -> bool:
        """Tell whether every record has exactly one value."""
        return len(self.owners) == self.size and bool((self.owners == np.arange(self.size)).all())

    def counts(self) -> Codes:
        """Return how many values each record (m,) has."""
        return np.bincount(self.owners, minlength=self.size).astype(np.int32)


class Kept(Mapping[str, Facet]):
    """Facets as they were stored; one that is not asked for is not read."""

    def __init__(self, read: Mapping[str, Callable[[], Facet]]) -> None:
        """Take how to ``read`` each one."""
        self._read, self._held = read, dict[str, Facet]()

    def __getitem__(self, name: str) -> Facet:
        if name not in self._held:
            self._held[name] = self._read[name]()
        return self._held[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read)

    def __len__(self) -> int:
        return len(self._read)


def _judged(head: Head) -> Iterable[str]:
    said = head.record.extra.get("conflict") if head.record.kind == "finding" else None
    return [str(side["id"]).casefold() for side in said["between"]] if said and is_verdict(said) else ()  # type: ignore[index]


FACETS: Mapping[str, Callable[[Head], Iterable[str]]] = {
    "id": lambda head: (head.record.id,),
    "kind": lambda head: (head.record.kind,),
    "own": lambda head: ("candidate" if head.origin else head.record.status,),
    "status": lambda head: (head.status,),
    "trust": lambda head: (head.record.trust,),
    "workspace": lambda head: (head.record.workspace,),
    "date": lambda head: (head.record.date,),
    "valid_until": lambda head: (head.record.valid_until,),
    "origin": lambda head: (head.origin,),
    "script": lambda head: ("cjk" if is_cjk(head.record.title) else "",),
    "tag": lambda head: head.record.tags,
    "path": lambda head: head.record.paths,
    "target": lambda head: [target.casefold() for _, target in head.record.relations],
    "judged": _judged,
}
"""What a snapshot keeps of every record beside its JSON. ``own`` is the status before relations are looked at,
``target`` the folded ids that its relations name, ``judged`` those that a verdict speaks of."""


def facet(rows: Sequence[Iterable[str]]) -> Facet:
    """Return the facet of the values of each record."""
    known: dict[str, int] = {}
    codes: list[int] = []
    owners: list[int] = []
    for ordinal, values in enumerate(rows):
        for value in values:
            codes.append(known.setdefault(value, len(known)))
            owners.append(ordinal)
    return Facet(tuple(known), np.array(codes, np.int32), np.array(owners, np.int32), len(rows))


def facets(heads: Sequence[Head]) -> dict[str, Facet]:
    """Return every facet of some heads."""
    return {name: facet([of(head) for head in heads]) for name, of in FACETS.items()}


def gather(old: Facet, new: Facet, take: NDArray[np.intp]) -> Facet:
    """Return the facet of the records ``take`` (m,): below ``old.size`` they are old ones, from there on new ones."""
    values, moved = _joined(old.values, new.values)
    codes = np.concatenate([old.codes, moved[new.codes]])
    if old.single() and new.single():
        codes, owners = codes[take], np.arange(len(take), dtype=np.int32)
    else:
        places, runs = spread(np.concatenate([old.counts(), new.counts()]), take)
        codes, owners = codes[places], np.repeat(np.arange(len(take), dtype=np.int32), runs)
    used = np.bincount(codes, minlength=len(values)) > 0
    if not used.all():  # values that no record has any more are dropped
        values = tuple(compress(values, used.tolist()))
        codes = (np.cumsum(used) - 1)[codes]
    return Facet(values, codes.astype(np.int32), owners, len(take))


def _joined(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """Return all values, the old ones first, and the code of each of the new ones among them."""
    if len(new) <= _FEW:
        fresh = tuple(value for value in new if value not in old)
        values = old + fresh if fresh else old
        return values, np.array([values.index(value) for value in new], np.intp)
    known = dict(zip(old, range(len(old)), strict=True))
    moved = np.array([known.setdefault(value, len(known)) for value in new], np.intp)
    return tuple(known), moved


def spread(counts: NDArray[np.integer], take: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.integer]]:
    """Return (positions of all elements of the runs ``take``, length of each run), for runs of ``counts`` in a row."""
    starts = np.cumsum(counts) - counts
    runs = counts[take]
    first = np.cumsum(runs) - runs
    places = np.arange(int(runs.sum())) + np.repeat(starts[take] - first, runs)
    return places.astype(np.intp), runs
