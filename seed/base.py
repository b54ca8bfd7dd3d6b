"""An earlier snapshot as the base of a later one: its heads are taken over where their files are the same."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seed.facets import Facet, facets
from seed.git.tree import Entry
from seed.heads import Heads, pack
from seed.snapshot import Snapshot, Unreadable

Numbers = NDArray[np.uint32]
Order = NDArray[np.intp]
File = tuple[Entry, str]
"""A file of the tree, or one of a candidate branch with that branch's ref."""


@dataclass(frozen=True, slots=True)
class Base:
    """An earlier snapshot with the lengths of its documents. It has to be of the same version of parsed files.

    Its heads are those of the commit by (path, blob), and then those of candidate branches. `EMPTY` has nothing to
    take over.
    """

    heads: Heads
    facets: Mapping[str, Facet]
    pids: Numbers
    owners: Numbers
    titles: Numbers
    lengths: Numbers
    tree: str = ""
    unreadable: tuple[Unreadable, ...] = ()

    def settled(self) -> int:
        """Return how many heads are of the commit and of no candidate branch; they come first."""
        return len(self.heads) - int(self.facets["origin"].records(bool).sum())


@dataclass(frozen=True, slots=True)
class Plan:
    """What stays of a base, and what is looked at.

    ``kept`` are the ordinals of the heads that stay, ascending; ``files`` are looked at, those of candidates last, and
    ``at`` says of each how many of the heads that stay come before it.
    """

    kept: Order
    files: tuple[File, ...]
    at: tuple[int, ...]


_NOTHING = np.empty(0, np.uint32)
EMPTY = Base(pack(()), facets(()), _NOTHING, _NOTHING, _NOTHING, _NOTHING)


def base_of(snapshot: Snapshot, lengths: Numbers) -> Base:
    """Return a snapshot as the base of a later one."""
    heads = pack(snapshot.heads)
    held = snapshot.facets or facets(heads)
    return Base(
        heads,
        held,
        snapshot.pids,
        snapshot.owners,
        snapshot.titles,
        lengths,
        snapshot.tree,
        snapshot.unreadable,
    )


def plan(base: Base, gone: Iterable[Entry], new: Iterable[Entry], brought: Sequence[File] = ()) -> Plan:
    """Return what to do when the base's tree lost the record files ``gone`` and got those that are ``new``.

    A file that could not be read is looked at again, since what is missing in a clone may have arrived; so are the
    files that candidate branches have ``brought``, whose place depends on the others.
    """
    paths, blobs, settled = base.heads.paths, base.heads.blobs, base.settled()
    lost = Counter((entry.path, entry.blob) for entry in gone)
    stays = np.arange(len(base.heads)) < settled
    for (path, blob), times in lost.items():
        first = _place(paths, blobs, settled, path, blob)
        held = first
        while held < settled and (paths[held], blobs[held]) == (path, blob):
            held += 1
        stays[first : min(first + times, held)] = False
    kept = np.flatnonzero(stays)
    again = [Entry(file.path, file.blob) for file in base.unreadable if not lost[file.path, file.blob]]
    files = sorted([*new, *again])
    places = [_place(paths, blobs, settled, entry.path, entry.blob) for entry in files]
    at = [*np.searchsorted(kept, places).tolist(), *[len(kept)] * len(brought)]
    return Plan(kept, (*((entry, "") for entry in files), *brought), tuple(at))


def _place(paths: Sequence[str], blobs: Sequence[str], end: int, path: str, blob: str) -> int:
    """Return before which of the first ``end`` heads, sorted by path and then blob, a file belongs."""
    at = bisect_left(paths, path, hi=end)
    while at < end and paths[at] == path and blobs[at] < blob:
        at += 1
    return at
