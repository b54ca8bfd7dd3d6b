"""The snapshot as recall sees it, and the one door through which every surface takes records. Pure.

Every reading surface (recall, listing, show, why, graph, context, explore, export) asks `Corpus.admit`: there is
no other place that decides which records answer (decision-0004).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

import numpy as np
from numpy.typing import NDArray

from seed.facets import Facet, facets
from seed.heads import pack
from seed.lifecycle import at_day
from seed.snapshot import Head, Snapshot
from sidecar.filters import passing
from sidecar.labels import Labels
from sidecar.lexical import Documents, Postings, Words
from sidecar.query import Query, by_default, status_admits


class HeldBack(Mapping[int, str]):
    """Ordinals of records that their status alone held back, each with that status, in order."""

    def __init__(self, ordinals: NDArray[np.intp], codes: NDArray[np.intp], words: Sequence[str]) -> None:
        """``codes`` (m,) of all records point into ``words``."""
        self.ordinals, self._codes, self._words = ordinals, codes, words

    def __getitem__(self, ordinal: int) -> str:
        if ordinal not in self:
            raise KeyError(ordinal)
        return self._words[int(self._codes[ordinal])]

    def __contains__(self, ordinal: object) -> bool:
        at = int(np.searchsorted(self.ordinals, ordinal))  # type: ignore[call-overload]
        return at < len(self.ordinals) and bool(self.ordinals[at] == ordinal)

    def __iter__(self) -> Iterator[int]:
        return iter(self.ordinals.tolist())

    def __len__(self) -> int:
        return len(self.ordinals)

    def count(self, kept: NDArray[np.bool_]) -> dict[str, int]:
        """Return how many of those ``kept`` (m,) each status held back."""
        codes = self._codes[self.ordinals[kept[self.ordinals]]]
        times = np.bincount(codes, minlength=len(self._words)).tolist()
        found: dict[str, int] = {}
        for word, count in zip(self._words, times, strict=True):  # a word may stand there several times
            if count:
                found[word] = found.get(word, 0) + count
        return found


_NOBODY = np.empty(0, np.intp)
NOTHING_HELD = HeldBack(_NOBODY, _NOBODY, ())


@dataclass(frozen=True, slots=True)
class Admitted:
    """What the door lets through, as ordinals.

    ``results`` may be results, ``against`` may stand in decided_against, ``held_back`` maps those whose status
    alone held them back to that status, ``passed`` are all of them.
    """

    results: NDArray[np.intp]
    against: NDArray[np.intp]
    held_back: HeldBack
    passed: NDArray[np.intp]

    @property
    def either(self) -> NDArray[np.intp]:
        """Return the ordinals that may be results or stand in decided_against."""
        return np.concatenate([self.results, self.against])


Standings = tuple[tuple[str, ...], NDArray[np.intp]]


@dataclass(frozen=True, slots=True)
class Corpus:
    """A snapshot with its words, ready to be asked. ``cjk``: most of its titles are Chinese, Japanese or Korean."""

    snapshot: Snapshot
    words: Words
    labels: Labels
    facets: Mapping[str, Facet]
    cjk: bool = False
    _standings: dict[date, Standings] = field(default_factory=dict, repr=False)
    _ids: dict[str, list[int]] = field(default_factory=dict, repr=False)
    _named: dict[str, list[int]] = field(default_factory=dict, repr=False)
    _masks: dict[tuple[str, Callable[[str], bool]], NDArray[np.bool_]] = field(default_factory=dict, repr=False)

    @property
    def documents(self) -> Documents:
        """Return the passages and titles of the snapshot, by number."""
        return self.words.documents

    @property
    def heads(self) -> Sequence[Head]:
        """Return the heads, in path order; one that is not asked for is not decoded."""
        return self.snapshot.heads

    def status(self, ordinal: int, today: date) -> str:
        """Return the effective status of a record on a day."""
        return at_day(self.facets["status"].one(ordinal), self.facets["valid_until"].one(ordinal), today)

    def having(self, name: str, wanted: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Return which records (m,) have a wanted value in a facet; it is asked once for the life of the corpus."""
        if (name, wanted) not in self._masks:
            self._masks[name, wanted] = self.facets[name].records(wanted)
        return self._masks[name, wanted]

    def standings(self, today: date) -> Standings:
        """Return (words, the code (m,) of each record) of the effective statuses on a day."""
        if today not in self._standings:
            self._standings.clear()
            self._standings[today] = _standings(self.facets, today)
        return self._standings[today]

    def admit(
        self, query: Query, today: date, workspace: str = "", unchanged: frozenset[str] = frozenset()
    ) -> Admitted:
        """Decide for every record whether it may answer this query on this day: the one door.

        ``unchanged`` are the blobs of the revision that ``query.since`` names. Every rule is asked once for each
        value that records have, and not for each record.
        """
        passed = passing(query, self.facets, workspace)
        if unchanged:
            passed &= np.fromiter((blob not in unchanged for blob in pack(self.heads).blobs), np.bool_, len(passed))
        kinds, (words, codes) = self.facets["kind"], self.standings(today)
        pairs = codes * len(kinds.values) + kinds.codes
        both = [(word, kind) for word in words for kind in kinds.values]
        admits = np.array([status_admits(query, word, kind) for word, kind in both], np.bool_)
        turned_down = np.array([word == "rejected" and kind != "history" for word, kind in both], np.bool_)
        may, against = passed & admits[pairs], passed & turned_down[pairs] & ~admits[pairs]
        reasons = ["historical" if kind == "history" else word for word, kind in both]
        held = np.flatnonzero(passed & ~may & ~against)
        return Admitted(np.flatnonzero(may), np.flatnonzero(against), HeldBack(held, pairs, reasons),
                        np.flatnonzero(passed))  # fmt: skip

    def standing(self, name: str, today: date) -> tuple[tuple[int, str], ...]:
        """Open the door for one record, by its id or the path of its file: (ordinal, effective status).

        Whoever asks by name gets it whatever its status, and the status with it; of several, first those that
        answer by default.
        """
        wanted = name.removeprefix("./")
        found = self.ordinals(name) or [n for n, path in enumerate(self._paths()) if path == wanted]
        pairs = [(n, self.status(n, today)) for n in found]
        return tuple(sorted(pairs, key=lambda pair: not by_default(pair[1], self.heads[pair[0]].record.kind)))

    def holding(self, term: str) -> NDArray[np.intp]:
        """Return the ordinals of the records that have an index term in a passage or in title, id, tags or paths."""
        return self.words.holders(term)

    def ordinals(self, ident: str) -> list[int]:
        """Return the ordinals of the records with an id, without regard to case."""
        if not self._ids:
            ids = self.facets["id"]
            folded = [value.casefold() for value in ids.values]
            for n, code in enumerate(ids.codes.tolist()):
                self._ids.setdefault(folded[code], []).append(n)
        return self._ids.get(ident.casefold(), [])

    def naming(self, ident: str) -> list[int]:
        """Return the ordinals of the records that name an id in a relation; all heads are read for it, but once."""
        if not self._named:
            self._named[""] = []
            for n, head in enumerate(self.heads):
                for target in {target.casefold() for _, target in head.record.relations}:
                    self._named.setdefault(target, []).append(n)
        return self._named.get(ident.casefold(), [])

    def _paths(self) -> Sequence[str]:
        return pack(self.heads).paths


class Statuses(Mapping[str, str]):
    """Folded id -> effective status on a day, of the last file where several have one id; worked out when asked."""

    def __init__(self, corpus: Corpus, today: date) -> None:
        self._corpus, self._today = corpus, today

    def __getitem__(self, ident: str) -> str:
        found = self._corpus.ordinals(ident)
        if not found:
            raise KeyError(ident)
        return self._corpus.status(found[-1], self._today)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(value.casefold() for value in self._corpus.facets["id"].values))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _standings(held: Mapping[str, Facet], today: date) -> Standings:
    status, until = held["status"], held["valid_until"]
    words = dict.fromkeys(status.values)
    codes = np.array([list(words).index(value) for value in status.values], np.intp)[status.codes]
    for n in np.flatnonzero(until.records(bool)).tolist():
        word = at_day(status.one(n), until.one(n), today)
        codes[n] = list(words).index(word) if word in words else len(words)
        words.setdefault(word)
    return tuple(words), codes


def build(snapshot: Snapshot, lengths: NDArray[np.uint32], postings: Postings) -> Corpus:
    """Return the corpus of a loaded snapshot; ``lengths`` holds passages, then titles."""
    n = len(snapshot.pids)
    values = lengths.astype(np.float64)
    documents = Documents(snapshot.pids, snapshot.owners, snapshot.titles, values[:n], values[n:])
    held = snapshot.facets or facets(snapshot.heads)
    cjk = int(held["script"].records(bool).sum())
    return Corpus(snapshot, Words(documents, postings), Labels(held["tag"]), held, cjk=2 * cjk > len(snapshot.heads))


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
