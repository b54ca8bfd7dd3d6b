"""Fuse meaning and words into one evidence per record, and order the hits. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seed import text
from sidecar.corpus import Corpus
from sidecar.lexical import Lexical, score

WORD_WEIGHT = 0.5
WORD_HALF = 12.0
"""fused = (cosine + w b / (b + c)) / (1 + w), with b the BM25 of the same passage: 0 to 1 like a cosine."""
_RARE = 3
"""A bare number, or a word that is exact only by its capitals or a dot, counts where at most this many hold it."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Phrase:
    """One phrasing of the question: its text, the passages' cosines (n,) or None without vectors, and the floor."""

    text: str
    cosines: Floats | None
    floor: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for each record (m,): fused evidence 0 to 1, its margin over the floor (negative below it,
    1 at the most), cosine, and best passage (position, -1 without one).
    """

    fused: Floats
    margin: Floats
    cosine: Floats
    passage: NDArray[np.intp]
    lexical: Lexical


@dataclass(frozen=True, slots=True)
class Exact:
    """Exact tokens of the question: which records hold them, and which are named by their id."""

    holders: dict[int, tuple[str, ...]]
    named: tuple[int, ...]


def term_groups(question: str, synonyms: dict[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the question's index words, each once, followed by their synonyms."""
    return [(word, *synonyms.get(word, ())) for word in dict.fromkeys(text.words(question))]


def evidence(corpus: Corpus, phrase: Phrase, fusion: str, synonyms: dict[str, tuple[str, ...]]) -> Evidence:
    """Return the evidence of one phrasing."""
    lexical = score(corpus.documents, corpus.postings, term_groups(phrase.text, synonyms))
    n, m = len(corpus.documents.pids), len(corpus.heads)
    meaning = np.full(n, -1.0) if phrase.cosines is None else phrase.cosines
    if fusion == "cosine":
        combined = meaning
    elif fusion == "lexical" or phrase.cosines is None:
        combined = lexical.passages / (lexical.passages + WORD_HALF)
    else:
        words = WORD_WEIGHT * lexical.passages / (lexical.passages + WORD_HALF)
        combined = (np.maximum(meaning, 0) + words) / (1 + WORD_WEIGHT)
    best = _best_passage(combined, corpus.documents.owners, m)
    have = best >= 0
    fused, cosine = np.zeros(m), np.zeros(m)
    fused[have] = np.round(combined[best[have]], 6)
    np.maximum.at(cosine, corpus.documents.owners, meaning)
    margin = np.minimum((fused - phrase.floor) / max(1 - phrase.floor, 1e-9), 1.0)
    return Evidence(fused, margin, cosine, best, lexical)


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
    return Exact({n: tuple(dict.fromkeys(tokens)) for n, tokens in holders.items()}, tuple(named))


def _plain_ids(corpus: Corpus, question: str) -> list[str]:
    """Return words of the question that are a record's id although they do not look like an exact token."""
    if len(question) > 200:
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
