"""BM25 over passages and over whole records, with the statistics of the snapshot asked. Pure.

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
Postings = Callable[[str], tuple[NDArray[np.uint32], NDArray[np.uint8]]]
Floats = NDArray[np.float64]


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

    @property
    def top(self) -> int:
        """Return one more than the largest document number."""
        return int(max(self.pids.max(initial=0), self.titles.max(initial=0))) + 1


@dataclass(frozen=True, slots=True)
class Lexical:
    """BM25 of each passage (n,) and record (m,), and which records hold each term.

    ``held`` is (terms, m) bool in the order of ``terms``.
    """

    terms: tuple[str, ...]
    passages: Floats
    records: Floats
    held: NDArray[np.bool_]


def counts(documents: Documents, postings: Postings, alternatives: Sequence[str]) -> tuple[Floats, Floats]:
    """Return how often a term or its synonyms stand in each passage (n,) and each title (m,)."""
    dense = np.zeros(documents.top, dtype=np.float64)
    for term in alternatives:
        numbers, times = postings(term)
        inside = numbers < documents.top
        np.maximum.at(dense, numbers[inside], times[inside].astype(np.float64))
    return dense[documents.pids], dense[documents.titles]


def score(documents: Documents, postings: Postings, groups: Sequence[Sequence[str]]) -> Lexical:
    """Score a question's terms; each group is a term followed by its synonyms."""
    n, m = len(documents.pids), len(documents.titles)
    owners = documents.owners
    passage_lengths = documents.lengths + documents.title_lengths[owners]
    record_lengths = np.bincount(owners, documents.lengths, minlength=m) + documents.title_lengths
    by_passage, by_record = np.zeros(n), np.zeros(m)
    held = np.zeros((len(groups), m), dtype=bool)
    for at, group in enumerate(groups):
        in_passage, in_title = counts(documents, postings, group)
        in_record = np.bincount(owners, in_passage, minlength=m) + in_title
        held[at] = in_record > 0
        found = int(held[at].sum())
        idf = np.log(1 + (m - found + 0.5) / (found + 0.5))
        by_passage += idf * _saturate(in_passage + in_title[owners], passage_lengths)
        by_record += idf * _saturate(in_record, record_lengths)
    return Lexical(tuple(g[0] for g in groups), by_passage, by_record, held)


def _saturate(frequency: Floats, lengths: Floats) -> Floats:
    mean = lengths.mean() if len(lengths) else 1.0
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * lengths / max(mean, 1e-9)))
