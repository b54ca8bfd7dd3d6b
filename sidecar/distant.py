"""A plane whose vectors stay where they are: candidates from an index of the store, weighed exactly by the same rule.

A record that the index does not name has no nearness, as one without a vector: which records come first is measured
against the exact plane (evals/bench/postgres_size.py). Pure, but for what it is given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from seed import text
from seed.store.engine import Index
from sidecar.lexical import Documents
from sidecar.nearness import Nearness
from sidecar.plane import CENTRE, nothing, plane


class Nearby(Protocol):
    """What says how near a question is to the records: all vectors in memory, or an index of the store."""

    @property
    def identity(self) -> str:
        """Return the digest of the embedder identity."""
        ...

    @property
    def embedded(self) -> NDArray[np.bool_]:
        """Return which records (m,) have all their passages embedded."""
        ...

    def nearness(self, question: NDArray[np.float32]) -> Nearness:
        """Return how near a unit question vector (d,) is to every record."""
        ...


@dataclass(frozen=True, slots=True)
class Distant:
    """Rows (n,) of the passages of a snapshot, -1 where missing, in the store's index.

    ``vectors`` reads those of rows, ``centre`` is as in a plane.
    """

    identity: str
    index: Index
    vectors: Callable[[NDArray[np.int32]], NDArray[np.float32]]
    rows: NDArray[np.int32]
    documents: Documents
    centre: NDArray[np.float32]

    @property
    def embedded(self) -> NDArray[np.bool_]:
        """Return which records (m,) have all their passages embedded."""
        missing = np.bincount(self.documents.owners, self.rows < 0, minlength=len(self.documents.titles))
        whole: NDArray[np.bool_] = missing == 0
        return whole

    def nearness(self, question: NDArray[np.float32], words: str = "") -> Nearness:
        """Return how near a question is to the records that the index names for its vector or its words."""
        chosen = self._records(question, words)
        owners = self.documents.owners
        positions = np.flatnonzero(np.isin(owners, chosen) & (self.rows >= 0))
        found = nothing(len(self.documents.titles))
        if len(positions):
            read = self.vectors(self.rows[positions])
            held, local = np.unique(owners[positions], return_inverse=True)
            numbers = np.arange(len(positions), dtype=np.int32)
            near = plane(self.identity, read, numbers, local.astype(np.uint32), self.centre).nearness(question)
            found.passage[held] = positions[near.passage]
            found.cosine[held], found.near[held] = near.cosine, near.near
        return replace(found, source=found.near.tobytes())  # the index may name others another time

    def _records(self, question: NDArray[np.float32], words: str) -> NDArray[np.intp]:
        # A passage is charged for what it shares with every question, which is linear in it: so the index is asked for
        # what is nearest once that is taken off.
        aim = np.asarray(question - np.float32(CENTRE) * self.centre, dtype=np.float32)
        documents = self.documents
        lengths = np.concatenate([documents.lengths, documents.title_lengths])
        mean = float(lengths.mean()) if len(lengths) else 1.0
        rows, pids = self.index.candidates(aim, list(dict.fromkeys(text.words(words))), len(lengths), mean)
        owners = [documents.owners[np.isin(self.rows, rows)], documents.owners[np.isin(documents.pids, pids)]]
        return np.unique(np.concatenate([*owners, np.flatnonzero(np.isin(documents.titles, pids))])).astype(np.intp)
