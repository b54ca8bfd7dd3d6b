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
_REMEMBERED = 8192
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
        self._by_pid, self._by_title = _Lookup(documents.pids), _Lookup(documents.titles)
        self._known: dict[tuple[str, ...], _Weighed] = {}

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
        in_passage, in_title = self._counts((term,))
        return np.flatnonzero(self._in_records(in_passage, in_title))

    def _weigh(self, group: tuple[str, ...]) -> _Weighed:
        if group not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            frequency = self._in_records(*self._counts(group))
            records = np.flatnonzero(frequency)
            found, of = len(records), len(frequency)
            idf = float(np.log(1 + (of - found + 0.5) / (found + 0.5)))
            weights = idf * _saturate(frequency[records], self._lengths[records], self._lengths)
            self._known[group] = _Weighed(records, weights, idf)
        return self._known[group]

    def _counts(self, group: tuple[str, ...]) -> tuple[Floats, Floats]:
        """Return how often a term or one of its synonyms stands in each passage (n,) and each title (m,)."""
        in_passage, in_title = np.zeros(len(self.documents.pids)), np.zeros(len(self.documents.titles))
        for term in group:
            numbers, times = self.postings(term)
            for counts, lookup in ((in_passage, self._by_pid), (in_title, self._by_title)):
                positions, each = lookup.find(numbers, times)
                counts[positions] = np.maximum(counts[positions], each)
        return in_passage, in_title

    def _in_records(self, in_passage: Floats, in_title: Floats) -> Floats:
        counts: Floats = np.bincount(self.documents.owners, in_passage, minlength=len(in_title)) + in_title
        return counts


class _Lookup:
    """Finds where document numbers stand in an array that may hold one of them several times."""

    def __init__(self, numbers: NDArray[np.uint32]) -> None:
        self._order = np.argsort(numbers, kind="stable")
        self._sorted = numbers[self._order]

    def find(self, numbers: NDArray[np.uint32], values: NDArray[np.uint8]) -> tuple[Positions, NDArray[np.uint8]]:
        """Return (positions, values) of the numbers that are there, a number's value at each of its positions."""
        left = np.searchsorted(self._sorted, numbers, "left")
        width = np.searchsorted(self._sorted, numbers, "right") - left
        starts = np.cumsum(width) - width
        steps = np.arange(int(width.sum())) - np.repeat(starts, width)
        return self._order[np.repeat(left, width) + steps], np.repeat(values, width)


def _saturate(frequency: Floats, lengths: Floats, all_lengths: Floats) -> Floats:
    mean = max(float(all_lengths.mean()), 1e-9) if len(all_lengths) else 1.0
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * lengths / mean))
