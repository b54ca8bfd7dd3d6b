"""The snapshot as recall sees it, and the one door through which every surface takes records. Pure.

Every reading surface (recall, listing, show, why, graph, context, explore, export) asks `Corpus.admit`: there is
no other place that decides which records answer (decision-0004).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from seed.lifecycle import at_day
from seed.snapshot import Head, Snapshot
from seed.text import is_cjk
from sidecar.labels import Labels
from sidecar.lexical import Documents, Postings, Words
from sidecar.query import Query, by_default, passes, status_admits


@dataclass(frozen=True, slots=True)
class Admitted:
    """What the door lets through, as ordinals.

    ``results`` may be results, ``against`` may stand in decided_against, ``held_back`` maps those whose status
    alone held them back to that status, ``passed`` are all of them.
    """

    results: NDArray[np.intp]
    against: NDArray[np.intp]
    held_back: dict[int, str]
    passed: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Corpus:
    """A snapshot with its words, ready to be asked. ``cjk``: most of its titles are Chinese, Japanese or Korean."""

    snapshot: Snapshot
    words: Words
    labels: Labels
    cjk: bool = False

    @property
    def documents(self) -> Documents:
        """Return the passages and titles of the snapshot, by number."""
        return self.words.documents

    @property
    def heads(self) -> tuple[Head, ...]:
        """Return the heads, in path order."""
        return self.snapshot.heads

    def status(self, ordinal: int, today: date) -> str:
        """Return the effective status of a record on a day."""
        head = self.heads[ordinal]
        return at_day(head.status, head.record.valid_until, today)

    def admit(
        self, query: Query, today: date, workspace: str = "", unchanged: frozenset[str] = frozenset()
    ) -> Admitted:
        """Decide for every record whether it may answer this query on this day: the one door.

        ``unchanged`` are the blobs of the revision that ``query.since`` names.
        """
        results, against, passed = [], [], []
        held_back: dict[int, str] = {}
        for ordinal, head in enumerate(self.heads):
            if head.blob in unchanged or not passes(query, head, workspace):
                continue
            status = at_day(head.status, head.record.valid_until, today)
            if status_admits(query, status, head.record.kind):
                results.append(ordinal)
            elif status == "rejected" and head.record.kind != "history":
                against.append(ordinal)
            else:
                held_back[ordinal] = "historical" if head.record.kind == "history" else status
            passed.append(ordinal)
        return Admitted(np.array(results, np.intp), np.array(against, np.intp), held_back, np.array(passed, np.intp))

    def standing(self, name: str, today: date) -> tuple[tuple[int, str], ...]:
        """Open the door for one record, by its id or the path of its file: (ordinal, effective status).

        Whoever asks by name gets it whatever its status, and the status with it; of several, first those that
        answer by default.
        """
        wanted = name.removeprefix("./")
        found = self.ordinals(name) or [n for n, head in enumerate(self.heads) if head.path == wanted]
        pairs = [(n, self.status(n, today)) for n in found]
        return tuple(sorted(pairs, key=lambda pair: not by_default(pair[1], self.heads[pair[0]].record.kind)))

    def holding(self, term: str) -> NDArray[np.intp]:
        """Return the ordinals of the records that have an index term in a passage or in title, id, tags or paths."""
        return self.words.holders(term)

    def ordinals(self, ident: str) -> list[int]:
        """Return the ordinals of the records with an id, without regard to case."""
        wanted = ident.casefold()
        return [n for n, head in enumerate(self.heads) if head.record.id.casefold() == wanted]


def build(snapshot: Snapshot, lengths: NDArray[np.uint32], postings: Postings) -> Corpus:
    """Return the corpus of a loaded snapshot; ``lengths`` holds passages, then titles."""
    n = len(snapshot.pids)
    values = lengths.astype(np.float64)
    documents = Documents(snapshot.pids, snapshot.owners, snapshot.titles, values[:n], values[n:])
    cjk = sum(is_cjk(head.record.title) for head in snapshot.heads)
    return Corpus(snapshot, Words(documents, postings), Labels(snapshot.heads), cjk=2 * cjk > len(snapshot.heads))


def synonyms(glossary: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return word -> words of the glossary, both ways, over single index words."""
    from seed.text import words

    found: dict[str, dict[str, None]] = {}
    for term, others in glossary.items():
        sets = [words(text) for text in (term, *others)]
        single = [w[0] for w in sets if len(w) == 1]
        for word in single:
            found.setdefault(word, {}).update({w: None for w in single if w != word})
    return {word: tuple(others) for word, others in found.items()}
