"""Fuse meaning and words into one evidence per record, and order the hits. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seed import text
from sidecar.corpus import Corpus
from sidecar.lexical import Lexical
from sidecar.nearness import Nearness, Positions
from sidecar.plane import CEILING

WORD_WEIGHT = 0.6
WORD_HALF = 20.0
TAG_WEIGHT = 0.8
"""evidence = nearness + 0.6 b / (b + 20) + 0.8 s s, with b the BM25 of the whole record and s the share of the question
that its tags say: without tags the ceiling is 2.1 (finding-0001, decision-0038)."""
REACH = 0.065
"""A tenth of evidence, as a share of the way from the floor to the ceiling."""
_IDENTIFIER = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*-\d{2,}|[0-9a-f]{7,40}")
_NUMBER = re.compile(r"\d+([.,]\d+)?")
"""A bare number; a date, an address or a version of three parts names something."""
_LONG = 200
_RARE = 3
"""A bare number, or a word that is exact only by its capitals or a dot, counts where at most this many hold it."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Phrase:
    """One phrasing of the question, ready to be weighed.

    ``words`` is the text whose words count (a translation where the question is in another script), ``first`` and
    ``second`` what the planes say (None without vectors), ``floor`` belongs to this combination.
    """

    text: str
    words: str
    first: Nearness | None
    second: Nearness | None
    floor: float

    @property
    def ceiling(self) -> float:
        """Return the most that the fused evidence of this phrasing can reach."""
        return CEILING * ((self.first is not None) + (self.second is not None)) + WORD_WEIGHT

    @property
    def planes(self) -> tuple[Nearness, ...]:
        """Return what the planes say; the first of them names cosine and passage."""
        return tuple(plane for plane in (self.second, self.first) if plane is not None)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for each record (m,).

    Fused evidence, its margin over the floor (negative below it, 1 at the ceiling), cosine, and the position of the
    best passage. Where ``loose`` (m,) holds, fused evidence, margin and cosine are the most that they can be, and no
    passage is named; ``weighed`` says evidence and margin of records once their ``planes`` are exact (sidecar.settle).
    """

    fused: Floats
    margin: Floats
    cosine: Floats
    passage: NDArray[np.intp]
    lexical: Lexical
    loose: NDArray[np.bool_] | None = None
    planes: tuple[Nearness, ...] = ()
    weighed: Callable[[Positions], tuple[Floats, Floats]] | None = None

    def settle(self, records: Positions) -> None:
        """Make what is said of some records exact, in place."""
        if self.loose is None or self.weighed is None:
            return
        at = np.unique(np.concatenate([plane.settle(records) for plane in self.planes]))
        self.fused[at], self.margin[at] = self.weighed(at)
        self.loose[at] = np.logical_or.reduce([p.loose[at] for p in self.planes if p.loose is not None])

    def ranks(self, ordinal: int, among: NDArray[np.intp]) -> tuple[int, int]:
        """Return the ranks (from 0) of a record by cosine and by words alone, ``among`` the admitted ordinals."""
        cosine, words = self.cosine, self.lexical.records
        return int((cosine[among] > cosine[ordinal]).sum()), int((words[among] > words[ordinal]).sum())


@dataclass(frozen=True, slots=True)
class Exact:
    """Exact tokens of the question.

    ``holders`` maps a record to the tokens it holds, ``numbers`` those that hold only a bare number, which never
    lifts a record over the floor (decision-0014); ``named`` are the records named by their id.
    """

    holders: dict[int, tuple[str, ...]]
    numbers: frozenset[int]
    named: tuple[int, ...]


def term_groups(question: str, synonyms: dict[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the question's index words, each once, followed by their synonyms."""
    return [(word, *synonyms.get(word, ())) for word in dict.fromkeys(text.words(question))]


def evidence(corpus: Corpus, phrase: Phrase, fusion: str, synonyms: dict[str, tuple[str, ...]]) -> Evidence:
    """Return the evidence of one phrasing: fused per record, with the passage that speaks most for it."""
    groups = term_groups(phrase.words, synonyms)
    lexical = corpus.words.score(groups)
    words = lexical.records / (lexical.records + WORD_HALF)
    tags = TAG_WEIGHT * corpus.labels.share(phrase.words) ** 2
    planes = phrase.planes
    if fusion == "lexical" or not planes:
        cosine, fused, ceiling = -np.ones(len(corpus.heads)), words, 1.0
        passage = _best_passage(corpus.words.passages(groups), corpus.documents.owners, len(corpus.heads))
        return Evidence(*_over(fused, phrase.floor, ceiling), cosine, passage, lexical)
    ceiling = 1.0 if fusion == "cosine" else phrase.ceiling

    def weighed(at: slice | Positions) -> tuple[Floats, Floats]:
        fused = planes[0].cosine[at] if fusion == "cosine" else fuse(planes, words, at) + tags[at]
        return _over(fused, phrase.floor, ceiling)

    fused, margin = weighed(slice(None))
    loose = [plane.loose for plane in planes if plane.loose is not None]
    found = Evidence(fused, margin, planes[0].cosine, planes[0].passage, lexical)
    if not loose:
        return found
    return replace(found, loose=np.logical_or.reduce(loose), planes=planes, weighed=weighed)


def _over(fused: Floats, floor: float, ceiling: float) -> tuple[Floats, Floats]:
    """Return evidence rounded to 6 decimals, and its margin over a floor as a share of the way to the ceiling."""
    fused = np.round(fused, 6).astype(np.float64)
    return fused, np.minimum((fused - floor) / max(ceiling - floor, 1e-9), 1.0)


def fuse(planes: Sequence[Nearness], words: Floats, at: slice | Positions = slice(None)) -> Floats:
    """Return the fused evidence of the planes' nearness and the words' share (m,), for the records ``at``."""
    fused: Floats = WORD_WEIGHT * words[at]
    for plane in planes:
        fused = fused + plane.near[at]
    return fused


def _best_passage(scores: Floats, owners: NDArray[np.uint32], records: int) -> NDArray[np.intp]:
    """Return the position of each record's best passage (m,); of equals the first."""
    best = np.full(records, -1, dtype=np.intp)
    order = np.lexsort((-np.arange(len(scores)), scores))
    best[owners[order]] = order
    return best


def combine(parts: Sequence[Evidence]) -> Evidence:
    """Combine several phrasings of one question: the mean of their margins, so that none passes the floor alone.

    Cosine and passage of each record come from the phrasing that speaks most for it.
    """
    if len(parts) == 1:
        return parts[0]
    margins = np.stack([p.margin for p in parts])
    winner, columns = margins.argmax(axis=0), np.arange(margins.shape[1])

    def chosen(name: str) -> NDArray[Any]:
        picked: NDArray[Any] = np.stack([getattr(p, name) for p in parts])[winner, columns]
        return picked

    strongest = parts[int(np.argmax([p.margin.max(initial=-1) for p in parts]))]
    fused = np.stack([p.fused for p in parts]).mean(axis=0)
    return Evidence(fused, margins.mean(axis=0), chosen("cosine"), chosen("passage"), strongest.lexical)


def supported(found: Evidence, among: NDArray[np.intp]) -> Evidence:
    """Return the evidence with the floor for all but the strongest ``among`` the admitted ordinals a little lower.

    Whether the records speak of a question at all is told best by the strongest of them; which of them answer it, by
    their own evidence. So the strongest gates the question at the floor, and the others come along from REACH below it
    on. Margins from there to the strongest are stretched evenly, which keeps every order (decision-0037).
    """
    top = float(found.margin[among].max(initial=-1.0))
    if top <= 0:
        return found
    reach = min(top, REACH)
    margin = found.margin.copy()
    margin[among] = (margin[among] + reach) * top / (top + reach)
    return replace(found, margin=margin)


def exact(corpus: Corpus, question: str) -> Exact:
    """Return which records hold the question's exact tokens. A record's own id counts before every other holder."""
    holders: dict[int, list[str]] = {}
    named: dict[int, None] = {}
    for token in (*text.exact_tokens(question), *_plain_ids(corpus, question)):
        for ordinal in corpus.ordinals(token):
            named[ordinal] = None
        held = corpus.holding(text.EXACT + token)
        if len(held) > _limit(token, len(corpus.heads)):
            continue
        for ordinal in held:
            holders.setdefault(int(ordinal), []).append(token)
    found = {n: tuple(dict.fromkeys(tokens)) for n, tokens in holders.items()}
    numbers = frozenset(n for n, tokens in found.items() if all(map(_NUMBER.fullmatch, tokens)))
    return Exact(found, numbers, tuple(named))


def _plain_ids(corpus: Corpus, question: str) -> list[str]:
    """Return words of the question that are a record's id although they do not look like an exact token."""
    if len(question) > _LONG:
        return []
    words = (raw.strip("?!.,;:()'\"").casefold() for raw in question.split())
    return [word for word in words if corpus.ordinals(word)]


def _limit(token: str, records: int) -> int:
    """Return how many records may hold a token for it to be exact: the more it looks like a name, the fewer.

    An id, path, flag or identifier is exact however common it is; a word with a digit up to a twentieth of the records;
    a bare number, or a word that is exact only by its capitals or a dot, up to three (decision-0014).
    """
    if token.startswith(("-", ".")) or any(mark in token for mark in ("_", "::", "/")):
        return records
    if any(c.isalpha() for c in token) and any(c.isdigit() for c in token):
        return records if _IDENTIFIER.fullmatch(token) else max(_RARE, records // 20)
    return _RARE


def order(scores: Floats, dates: Sequence[str], ids: Sequence[str]) -> list[int]:
    """Return positions by score rounded to 6 decimals (descending), date (descending, missing last), id."""
    rounded = [round(float(s), 6) for s in scores]
    positions = sorted(range(len(rounded)), key=lambda n: ids[n])
    positions.sort(key=lambda n: dates[n], reverse=True)
    positions.sort(key=lambda n: rounded[n], reverse=True)
    return positions


def foremost(values: Floats, count: int) -> NDArray[np.intp]:
    """Return the positions, ascending, of all that may be among the first ``count`` by value: ties are all in."""
    if len(values) <= count:
        return np.arange(len(values))
    least = np.partition(values, len(values) - count)[len(values) - count] if count else np.inf
    return np.flatnonzero(values >= least)
