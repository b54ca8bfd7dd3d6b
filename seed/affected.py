"""Which records may stand otherwise than in an earlier snapshot: those that relations connect with a change. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seed.facets import Facet

_ROUNDS = 64
"""After so many steps along relations all that is related counts as reached: a chain may be as long as the records."""
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Ties:
    """Which names the m records bear and speak of: ``own`` (m,), ``told`` (k,) by the records ``owners`` (k,)."""

    names: dict[str, int]
    own: NDArray[np.intp]
    told: NDArray[np.intp]
    owners: NDArray[np.int32]

    def tied(self) -> Flags:
        """Return which records (m,) have a relation, are named by one, or share their id with another file."""
        times = np.bincount(self.own, minlength=len(self.names))
        named = times > 1
        named[self.told] = True
        found: Flags = named[self.own]
        found[self.owners] = True
        return found

    def spoken_of(self, records: Flags) -> Flags:
        """Return the names that records bear or speak of."""
        names = np.zeros(len(self.names), np.bool_)
        names[self.own[records]] = True
        names[self.told[records[self.owners]]] = True
        return names

    def speaking_of(self, names: Flags) -> Flags:
        """Return the records that bear or speak of names."""
        found: Flags = names[self.own]
        found[self.owners[names[self.told]]] = True
        return found


def affected(now: Mapping[str, Facet], before: Mapping[str, Facet], take: NDArray[np.intp]) -> list[int]:
    """Return the ordinals of the records whose standing has to be worked out, with all that it follows from.

    ``take`` (m,) says where each record comes from: below the size of ``before`` from there, else it is new. A standing
    follows from relations alone, so that what no relation connects with a change keeps its own.
    """
    ties = _ties(now["id"], now["target"])
    tied = ties.tied()
    size = before["id"].size
    reached = tied & (take >= size)
    gone = np.ones(size, np.bool_)
    gone[take[take < size]] = False
    names = np.zeros(len(ties.names), np.bool_)
    names[[ties.names[name] for name in _spoken_of(before, gone) if name in ties.names]] = True
    reached |= ties.speaking_of(names)
    for _ in range(_ROUNDS):
        further = reached | ties.speaking_of(ties.spoken_of(reached))
        if (further == reached).all():
            return np.flatnonzero(reached).tolist()
        reached = further
    return np.flatnonzero(reached | tied).tolist()


def _ties(ids: Facet, targets: Facet) -> _Ties:
    folded = [*map(str.casefold, ids.values)]
    both = dict.fromkeys([*folded, *targets.values])
    names = dict(zip(both, range(len(both)), strict=True))
    own, told = (np.fromiter(map(names.__getitem__, one), np.intp, len(one)) for one in (folded, targets.values))
    return _Ties(names, own[ids.codes], told[targets.codes], targets.owners)


def _spoken_of(held: Mapping[str, Facet], records: Flags) -> set[str]:
    """Return the folded ids that some records bear and speak of."""
    ids, targets = held["id"], held["target"]
    own = np.unique(ids.codes[records]).tolist()
    told = np.unique(targets.codes[records[targets.owners]]).tolist()
    return {ids.values[code].casefold() for code in own} | {targets.values[code] for code in told}
