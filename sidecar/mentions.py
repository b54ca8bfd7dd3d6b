"""Which records speak of a file or folder. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from seed import text
from seed.graph import Edge, Line
from seed.transcript.edges import MENTIONS_PATH
from sidecar.corpus import Corpus
from sidecar.query import same_path


@dataclass(frozen=True, slots=True)
class Mentions:
    """Ordinal -> what a record names: ``itself`` the very path, ``around`` a folder above it or something below it."""

    itself: dict[int, tuple[str, ...]]
    around: dict[int, tuple[str, ...]]

    def __contains__(self, ordinal: int) -> bool:
        return ordinal in self.itself or ordinal in self.around


def mentions(corpus: Corpus, paths: Sequence[str]) -> Mentions:
    """Return the records that speak of any of ``paths``: in their `paths`, or by the path in their text.

    A record that names a folder speaks of everything below it, and one that names a file speaks of its folders.
    """
    itself: dict[int, dict[str, None]] = {}
    around: dict[int, dict[str, None]] = {}
    for path in paths:
        named = corpus.facets["path"]
        for ordinal in np.flatnonzero(named.records(partial(same_path, path))).tolist():
            for held in (p.rstrip("/") for p in named.of(ordinal)):
                if held == path:
                    itself.setdefault(ordinal, {})[held] = None
                elif same_path(path, held):
                    around.setdefault(ordinal, {})[held] = None
        for ordinal in corpus.holding(text.EXACT + text.fold(path)):
            itself.setdefault(int(ordinal), {})[path] = None
        for folder in _folders(path):
            for ordinal in corpus.holding(text.EXACT + text.fold(folder)):
                around.setdefault(int(ordinal), {})[folder] = None
    return Mentions(
        {n: tuple(names) for n, names in itself.items()},
        {n: tuple(names) for n, names in around.items() if n not in itself},
    )


def _folders(path: str) -> list[str]:
    """Return the folders above a path that a text can name unmistakably: those with a slash inside."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:n]) for n in range(len(parts), 1, -1)]


def mask(found: Mentions, records: int) -> np.ndarray:
    """Return which records (m,) speak of the paths at all."""
    kept = np.zeros(records, dtype=bool)
    kept[[*found.itself, *found.around]] = True
    return kept


def in_text(corpus: Corpus, among: Container[str], names: Sequence[str]) -> Iterator[Edge]:
    """Yield an edge from each record ``among`` the nodes to those paths of ``names`` that stand in its text."""
    for name in dict.fromkeys(names):
        path = name.removeprefix("path:")
        holders = corpus.holding(text.EXACT + text.fold(path)) if "/" in path else ()
        for head in (corpus.heads[int(n)] for n in holders):
            if (mine := f"record:{head.record.id}") in among:
                yield Edge(mine, name, MENTIONS_PATH, Line(head.path, head.blob, "body", path))
