"""Fuse meaning and words into one evidence per record, and order the hits. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seed import text
from sidecar.corpus import Corpus, Meaning
from sidecar.lexical import Lexical, score

WHOLE_WEIGHT = 0.25
WORD_WEIGHT = 0.5
WORD_HALF = 12.0
"""fused = (best passage's cosine + 0.25 cosine with the record's mean vector + 0.5 b / (b + 12)) / 1.75, with b the
BM25 of the whole record: between 0 and 1 like a cosine. Constants: finding-0001."""
SUPPORT = 0.6
_LONG = 200
_RARE = 3
"""A bare number, or a word that is exact only by its capitals or a dot, counts where at most this many hold it."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Phrase:
    """One phrasing of the question: its text, what the vectors say (None without them), and the floor."""

    text: str
    meaning: Meaning | None
    floor: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for each record (m,).

    Fused evidence 0 to 1, its margin over the floor (negative below it, 1 at the most), cosine, and the position
    of the best passage (-1 without one).
    """

    fused: Floats
    margin: Floats
    cosine: Floats
    passage: NDArray[np.intp]
    lexical: Lexical


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
    lexical = score(corpus.documents, corpus.postings, term_groups(phrase.text, synonyms))
    owners, m = corpus.documents.owners, len(corpus.heads)
    meaning = phrase.meaning
    by_words = lexical.passages / (lexical.passages + WORD_HALF)
    passage = _best_passage(by_words if meaning is None else meaning.passages + 1e-3 * by_words, owners, m)
    words = lexical.records / (lexical.records + WORD_HALF)
    if fusion == "lexical" or meaning is None:
        cosine, fused = -np.ones(m, dtype=np.float64), words
    else:
        cosine = _strongest(meaning.passages, owners, m)
        fused = cosine if fusion == "cosine" else fuse(cosine, meaning.records, words)
    fused = np.round(np.clip(fused, 0, 1), 6).astype(np.float64)
    margin = np.minimum((fused - phrase.floor) / max(1 - phrase.floor, 1e-9), 1.0)
    return Evidence(fused, margin, cosine, passage, lexical)


def fuse(cosine: Floats, whole: Floats, words: Floats) -> Floats:
    """Return the fused evidence (m,) of best passage, whole record and words, each (m,) and at most 1."""
    parts = np.maximum(cosine, 0) + WHOLE_WEIGHT * np.maximum(whole, 0) + WORD_WEIGHT * words
    fused: Floats = parts / (1 + WHOLE_WEIGHT + WORD_WEIGHT)
    return fused


def _strongest(scores: Floats, owners: NDArray[np.uint32], records: int) -> Floats:
    found: Floats = np.full(records, -1.0)
    np.maximum.at(found, owners, scores)
    return found


def _best_passage(scores: Floats, owners: NDArray[np.uint32], records: int) -> NDArray[np.intp]:
    """Return the position of each record's best passage (m,); of equals the first."""
    best = np.full(records, -1, dtype=np.intp)
    order = np.lexsort((-np.arange(len(scores)), scores))
    best[owners[order]] = order
    return best


def combine(parts: Sequence[Evidence]) -> Evidence:
    """Combine several phrasings of one question: each record keeps the phrasing that speaks most for it."""
    if len(parts) == 1:
        return parts[0]
    margins = np.stack([p.margin for p in parts])
    winner, columns = margins.argmax(axis=0), np.arange(margins.shape[1])

    def chosen(name: str) -> NDArray[Any]:
        picked: NDArray[Any] = np.stack([getattr(p, name) for p in parts])[winner, columns]
        return picked

    strongest = parts[int(np.argmax([p.margin.max(initial=-1) for p in parts]))]
    return Evidence(chosen("fused"), margins.max(axis=0), chosen("cosine"), chosen("passage"), strongest.lexical)


def supported(found: Evidence, among: NDArray[np.intp]) -> Evidence:
    """Return the evidence with each record's margin supported by the best one ``among`` the admitted ordinals.

    Whether the records speak of a question at all is told best by the strongest of them; which of them answer it, by
    their own evidence. The strongest one's margin, and so whether anything is returned, stays as it is.
    """
    if not len(among):
        return found
    top = float(found.margin[among].max())
    if top <= 0:
        return found
    margin = found.margin.copy()
    margin[among] = SUPPORT * top + (1 - SUPPORT) * margin[among]
    return replace(found, margin=margin)


def exact(corpus: Corpus, question: str) -> Exact:
    """Return which records hold the question's exact tokens. A record's own id counts before every other holder."""
    holders: dict[int, list[str]] = {}
    named: dict[int, None] = {}
    for token in (*text.exact_tokens(question), *_plain_ids(corpus, question)):
        for ordinal in corpus.ordinals(token):
            named[ordinal] = None
        held = corpus.holding(text.EXACT + token)
        if not len(held) or (not is_strict(token) and len(held) > _RARE):
            continue
        for ordinal in held:
            holders.setdefault(int(ordinal), []).append(token)
    found = {n: tuple(dict.fromkeys(tokens)) for n, tokens in holders.items()}
    numbers = frozenset(n for n, tokens in found.items() if not any(c.isalpha() for t in tokens for c in t))
    return Exact(found, numbers, tuple(named))


def _plain_ids(corpus: Corpus, question: str) -> list[str]:
    """Return words of the question that are a record's id although they do not look like an exact token."""
    if len(question) > _LONG:
        return []
    ids = {head.record.id.casefold() for head in corpus.heads}
    return [word for raw in question.split() if (word := raw.strip("?!.,;:()'\"").casefold()) in ids]


def is_strict(token: str) -> bool:
    """Tell whether a token is exact however common it is: an id, path, flag or identifier, not a name or number."""
    letters = any(c.isalpha() for c in token)
    if not letters:
        return False
    return token.startswith("-") or "_" in token or "::" in token or "/" in token or any(c.isdigit() for c in token)


def order(scores: Floats, dates: Sequence[str], ids: Sequence[str]) -> list[int]:
    """Return positions by score rounded to 6 decimals (descending), date (descending, missing last), id."""
    rounded = [round(float(s), 6) for s in scores]
    positions = sorted(range(len(rounded)), key=lambda n: ids[n])
    positions.sort(key=lambda n: dates[n], reverse=True)
    positions.sort(key=lambda n: rounded[n], reverse=True)
    return positions
