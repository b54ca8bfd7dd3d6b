"""Records pass a share of their evidence to those that the graph joins them with (policy: `beta`, 0 by default). Pure.

Joined are records with a relation between them, and those that name the same path. Only the order of what is above the
floor by itself can change: nothing passes the floor by its neighbours.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sidecar.corpus import Corpus
from sidecar.rank import Evidence

COMMON = 20
"""A path that more records name than this joins none of them."""
Pairs = NDArray[np.intp]


def joined(corpus: Corpus) -> Pairs:
    """Return the pairs (k, 2) of ordinals that a relation or a path joins, both ways, each once."""
    places: dict[str, list[int]] = defaultdict(list)
    for n, head in enumerate(corpus.heads):
        places[head.record.id.casefold()].append(n)
    found: set[tuple[int, int]] = set()
    named: dict[str, list[int]] = defaultdict(list)
    for n, head in enumerate(corpus.heads):
        for path in dict.fromkeys(one.rstrip("/") for one in head.record.paths):
            named[path].append(n)
        for _, target in head.record.relations:
            found |= {(n, m) for m in places.get(target.casefold(), ()) if m != n}
    for holders in named.values():
        found |= set(combinations(holders, 2)) if len(holders) <= COMMON else set()
    both = sorted({*found, *((m, n) for n, m in found)})
    return np.array(both, np.intp).reshape(-1, 2)


def spread(found: Evidence, pairs: Pairs, among: Pairs, beta: float) -> Evidence:
    """Return the evidence in which each record above the floor has ``beta`` x the best of its neighbours ``among``."""
    admitted = np.zeros(len(found.margin), bool)
    admitted[among] = True
    passing = np.where(admitted, np.clip(found.margin, 0, 1), 0.0)
    given = np.zeros(len(found.margin))
    np.maximum.at(given, pairs[:, 0], passing[pairs[:, 1]])
    return replace(found, margin=np.where(found.margin > 0, found.margin + beta * given, found.margin))
