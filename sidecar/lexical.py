"""BM25 over whole records and passages, with the statistics of the snapshot asked. Pure.

Formula: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
non-negative idf ln(1 + (N - n + 0.5) / (n + 0.5)).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
B = 0.75
_REMEMBERED = 1 << 20
"""Pairs of a term and a record that holds it: 16 MB."""
Postings = Callable[[str], tuple[NDArray[np.uint32], NDArray[np.uint8]]]
Floats = NDArray[np.float64]
Positions = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Documents:
    """The snapshot as the words index sees it: n passages of m records.

    ``pids`` and ``owners`` (n,), ``titles`` (m,), ``lengths`` (n,) of passages, ``title_lengths`` (m,), all in terms.
    """

    pids: NDArray[np.uint32]
    owners: NDArray[np.uint32]
    titles: NDArray[np.uint32]
    lengths: Floats
    title_lengths: Floats


@dataclass(frozen=True, slots=True)
class Lexical:
    """BM25 of each record (m,), and which records hold each term: ``held`` is (terms, m) bool, as ``terms``."""

    terms: tuple[str, ...]
    records: Floats
    held: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Weighed:
    """One term with its synonyms: the records that hold it, and what it adds to the BM25 of each."""

    records: Positions
    weights: Floats
    idf: float


class Words:
    """The words of one snapshot. What was worked out for a term is kept: a calibration asks many terms again."""

    def __init__(self, documents: Documents, postings: Postings) -> None:
        self.documents, self.postings = documents, postings
        owners, records = documents.owners, len(documents.titles)
        self._lengths = np.bincount(owners, documents.lengths, minlength=records) + documents.title_lengths
        everywhere = np.arange(records, dtype=np.uint32)
        self._owners = _Lookup(np.concatenate([documents.pids, documents.titles]), np.concatenate([owners, everywhere]))
        self._known: dict[tuple[str, ...], _Weighed] = {}
        self._held = 0

    def score(self, groups: Sequence[tuple[str, ...]]) -> Lexical:
        """Score a question's terms over whole records; each group is a term followed by its synonyms."""
        total = np.zeros(len(self._lengths))
        held = np.zeros((len(groups), len(total)), dtype=bool)
        for at, group in enumerate(groups):
            weighed = self._weigh(group)
            total[weighed.records] += weighed.weights
            held[at, weighed.records] = True
        return Lexical(tuple(group[0] for group in groups), total, held)

    def passages(self, groups: Sequence[tuple[str, ...]]) -> Floats:
        """Return the BM25 of each passage (n,), its record's title counted as part of it."""
        documents = self.documents
        lengths = documents.lengths + documents.title_lengths[documents.owners]
        total = np.zeros(len(lengths))
        for group in groups:
            in_passage, in_title = self._counts(group)
            total += self._weigh(group).idf * _saturate(in_passage + in_title[documents.owners], lengths, lengths)
        return total

    def holders(self, term: str) -> Positions:
        """Return the records that have an index term in a passage or in title, id, tags or paths."""
        return np.flatnonzero(self._frequency((term,)))

    def _weigh(self, group: tuple[str, ...]) -> _Weighed:
        if group not in self._known:
            frequency = self._frequency(group)
            records = np.flatnonzero(frequency)
            found, of = len(records), len(frequency)
            idf = float(np.log(1 + (of - found + 0.5) / (found + 0.5)))
            weights = idf * _saturate(frequency[records], self._lengths[records], self._lengths)
            if self._held + found > _REMEMBERED:
                self.forget()
            self._held += found
            self._known[group] = _Weighed(records, weights, idf)
        return self._known[group]

    def forget(self) -> None:
        """Drop what is remembered of terms."""
        self._known.clear()
        self._held = 0

    def _frequency(self, group: tuple[str, ...]) -> Floats:
        """Return how often a term or one of its synonyms stands in each record (m,), its title included."""
        if len(group) > 1:
            in_passage, in_title = self._counts(group)
            held: Floats = np.bincount(self.documents.owners, in_passage, minlength=len(in_title)) + in_title
            return held
        records, times = self._owners.find(*self.postings(group[0]))
        return np.bincount(records, times, minlength=len(self._lengths)).astype(np.float64, copy=False)

    def _counts(self, group: tuple[str, ...]) -> tuple[Floats, Floats]:
        """Return how often a term or one of its synonyms stands in each passage (n,) and each title (m,)."""
        n = len(self.documents.pids)
        counts = np.zeros(n + len(self.documents.titles))
        places = _Lookup(self._owners.numbers, np.arange(len(counts), dtype=np.uint32))
        for term in group:
            positions, each = places.find(*self.postings(term))
            counts[positions] = np.maximum(counts[positions], each)
        return counts[:n], counts[n:]


class _Lookup:
    """Finds what belongs to document numbers, where a number may stand several times: an array by number.

    ``numbers`` (k,) and what they stand for, ``places`` (k,).
    """

    def __init__(self, numbers: NDArray[np.uint32], places: NDArray[np.uint32]) -> None:
        self.numbers = numbers
        at = np.full(int(numbers.max(initial=0)) + 1, -1, dtype=np.int32)
        at[numbers] = np.arange(len(numbers), dtype=np.int32)
        again = at[numbers] != np.arange(len(numbers))
        self._first = np.where(at >= 0, places[at] if len(places) else at, -1).astype(np.int32)
        order = np.argsort(numbers[again], kind="stable")
        self._again, self._more = numbers[again][order], places[again][order]

    def find(self, numbers: NDArray[np.uint32], values: NDArray[np.uint8]) -> tuple[Positions, NDArray[np.uint8]]:
        """Return (places, values) of the numbers that are there, a number's value at each of its places."""
        inside = numbers < len(self._first)
        if not inside.all():
            numbers, values = numbers[inside], values[inside]
        places = self._first[numbers]
        there = places >= 0
        if not there.all():
            numbers, values, places = numbers[there], values[there], places[there]
        if not len(self._again):
            return places.astype(np.intp), values
        left = np.searchsorted(self._again, numbers, "left")
        width = np.searchsorted(self._again, numbers, "right") - left
        starts = np.cumsum(width) - width
        steps = np.arange(int(width.sum())) - np.repeat(starts, width)
        more = self._more[np.repeat(left, width) + steps]
        return np.concatenate([places, more]).astype(np.intp), np.concatenate([values, np.repeat(values, width)])


def _saturate(frequency: Floats, lengths: Floats, all_lengths: Floats) -> Floats:
    mean = max(float(all_lengths.mean()), 1e-9) if len(all_lengths) else 1.0
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * lengths / mean))
