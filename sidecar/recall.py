"""Recall: from a question and a corpus to the ranked records, and what was held back.

Pure: the clock, the policy and the question's vectors are arguments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

import numpy as np
from numpy.typing import NDArray

from seed.policy import Policy
from seed.text import spellings, stop_stems
from sidecar import settle
from sidecar.answer import Hit, Ranked
from sidecar.corpus import Admitted, Corpus, synonyms
from sidecar.floor import verdict
from sidecar.mentions import Mentions, mask, mentions
from sidecar.open_items import open_items, set_aside
from sidecar.plane import CEILING
from sidecar.query import Query
from sidecar.rank import Evidence, Exact, Phrase, combine, evidence, exact, foremost, order, supported
from sidecar.spread import joined, spread

MAX_AGAINST = 3
NEAREST = 5


@dataclass(frozen=True, slots=True)
class _Scored:
    """Score and relevance of each record (m,), and the tier that exact tokens put it in (0 first).

    ``told`` are the records that come too because they speak of a path that was asked about.
    """

    scores: NDArray[np.float64]
    relevance: NDArray[np.float64]
    tiers: NDArray[np.intp]
    told: Mentions
    tokens: tuple[Exact, ...]

    @property
    def answers(self) -> NDArray[np.bool_]:
        """Return which records are above the floor, or brought in by an exact token or a path."""
        found: NDArray[np.bool_] = (self.relevance > 0) | (self.tiers < _ORDINARY)
        found |= mask(self.told, len(found))
        return found


_NAMED, _HOLDER, _ORDINARY = 0, 1, 2


def recall(
    corpus: Corpus,
    query: Query,
    phrases: Sequence[Phrase],
    policy: Policy,
    today: date,
    *,
    start: int = 0,
    workspace: str = "",
    unchanged: frozenset[str] = frozenset(),
) -> Ranked:
    """Answer a query. Without a phrasing, or when ``query.listing`` is set, it lists all that qualify, newest first.

    ``unchanged`` are the blobs of the revision that ``query.since`` names.
    """
    admitted = corpus.admit(query, today, workspace, unchanged)
    told = mentions(corpus, query.paths)
    table = synonyms(corpus.snapshot.glossary)
    parts = [evidence(corpus, phrase, policy.fusion, table) for phrase in phrases]
    tokens = [exact(corpus, phrase.text) for phrase in phrases]
    if query.listing or not phrases:
        settle.above_the_floor(parts)
        kept = _kept(query, parts, tokens, told, len(corpus.heads))
        return _listing(corpus, query, admitted, kept, told, start, today)
    admitted, waiting = set_aside(corpus, query, admitted)
    tokens.append(Exact(told.itself, frozenset(), ()))
    named = {n for e in tokens for n in e.named}
    successors = _successors(corpus, sorted(n for n in named if n in admitted.held_back), admitted)
    tokens.append(Exact(successors, frozenset(), ()))
    brought = named.union(told.around, *(e.holders for e in tokens))
    settle.what_matters(parts, sorted(brought), admitted.results, _answerable(admitted), NEAREST)
    found = combine(parts)
    if policy.fusion != "cosine":  # the baseline scores every record by itself, so that changes can be compared with it
        found = supported(found, admitted.results)
    if policy.beta:
        found = spread(found, joined(corpus), admitted.results, policy.beta)
    scored = _score(corpus, policy, found, tokens, named | set(successors), today, told)
    mode = _retrieval(policy.fusion, phrases)
    spelled = spellings(" ".join(phrase.words for phrase in phrases))
    page = _page(corpus, query, admitted, found, scored, named, start, today, mode, spelled)
    return replace(page, open=open_items(corpus, waiting, [hit.ordinal for hit in page.hits], scored.answers))


def _answerable(admitted: Admitted) -> NDArray[np.intp]:
    """Return the records that may be results or stand in decided_against: the verdict weighs the first among them."""
    return np.concatenate([admitted.results, admitted.against])


def _kept(
    query: Query, parts: Sequence[Evidence], tokens: Sequence[Exact], told: Mentions, records: int
) -> NDArray[np.bool_]:
    """Return which records (m,) a listing's text and paths keep: above the floor, with an exact token or all words."""
    kept = np.full(records, not parts, dtype=bool)
    for part, token in zip(parts, tokens, strict=True):
        kept |= part.margin > 0
        kept[list(token.holders)] = True
        if any(meant := [term not in stop_stems() for term in part.lexical.terms]):
            kept |= part.lexical.held[meant].all(axis=0)
    return kept & mask(told, records) if query.paths else kept


def _listing(
    corpus: Corpus, query: Query, admitted: Admitted, kept: NDArray[np.bool_], told: Mentions, start: int, today: date
) -> Ranked:
    ordinals = admitted.results[kept[admitted.results]]
    first = np.isin(ordinals, list(told.itself)).astype(np.float64)
    page = _in_order(corpus, ordinals, first)[start : start + query.limit]
    hits = tuple(
        Hit(n, corpus.status(n, today), exact=told.itself.get(n, ()), around=told.around.get(n, ())) for n in page
    )
    held = admitted.held_back.count(kept)
    if rejected := int(kept[admitted.against].sum()):
        held["rejected"] = held.get("rejected", 0) + rejected
    withheld = dict(sorted(held.items()))
    return Ranked(hits, (), (), len(ordinals), withheld, (), "match" if hits else "none", "listing")


def _in_order(corpus: Corpus, ordinals: NDArray[np.intp], scores: NDArray[np.float64]) -> list[int]:
    dates, ids = corpus.facets["date"], corpus.facets["id"]
    some = ordinals.tolist()
    return [some[p] for p in order(scores, [dates.one(n) for n in some], [ids.one(n) for n in some])]


def _count(statuses: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(statuses).items()))


def _score(
    corpus: Corpus,
    policy: Policy,
    found: Evidence,
    tokens: Sequence[Exact],
    named: set[int],
    today: date,
    told: Mentions,
) -> _Scored:
    kinds, (words, codes) = corpus.facets["kind"], corpus.standings(today)
    table = np.array([policy.weight(kind, word) for kind in kinds.values for word in words])
    weights = table[kinds.codes * len(words) + codes]
    tiers = np.full(len(codes), _ORDINARY, dtype=np.intp)
    for n in {n for e in tokens for n in e.holders if n not in e.numbers or found.margin[n] > 0}:
        tiers[n] = _HOLDER
    for n in named:
        tiers[n] = _NAMED
    relevance = np.clip(found.margin, 0, 1)
    # For holders of an exact token the floor does not count, so their ordinary score is the one over floor 0.
    relevance = np.where(tiers < _ORDINARY, np.clip(found.fused / CEILING, 0, 1), relevance)
    return _Scored(np.round(relevance * weights, 6), relevance, tiers, told, tuple(tokens))


def _successors(corpus: Corpus, retired: Sequence[int], admitted: Admitted) -> dict[int, tuple[str, ...]]:
    """Return the records in force that took the place of retired ones, with the ids they stand in for."""
    found: dict[int, tuple[str, ...]] = {}
    may_answer = set(admitted.results.tolist())
    for asked in retired:
        seen, waiting = {asked}, [asked]
        while waiting:
            links = corpus.heads[waiting.pop()].lineage
            named = [x.id for x in links if x.relation in ("superseded_by", "refuted_by")]
            for other in {n for ident in named for n in corpus.ordinals(ident)} - seen:
                seen.add(other)
                if other in may_answer:
                    found[other] = (*found.get(other, ()), corpus.heads[asked].record.id)
                else:
                    waiting.append(other)
    return found


def _ranked(corpus: Corpus, scored: _Scored, ordinals: NDArray[np.intp], count: int) -> list[int]:
    """Return the first ``count`` of some records: by tier, then in the order of answers."""
    found: list[int] = []
    for tier in (_NAMED, _HOLDER, _ORDINARY):
        part = ordinals[scored.tiers[ordinals] == tier] if len(found) < count else ordinals[:0]
        part = part[foremost(scored.scores[part], max(count - len(found), 0))]  # ties may have brought more than asked
        found += _in_order(corpus, part, scored.scores[part])
    return found[:count]


def _page(
    corpus: Corpus,
    query: Query,
    admitted: Admitted,
    found: Evidence,
    scored: _Scored,
    named: set[int],
    start: int,
    today: date,
    mode: str,
    spelled: dict[str, str],
) -> Ranked:
    answers, end = scored.answers, start + query.limit
    found_all = admitted.results[answers[admitted.results]]
    against = _ranked(corpus, scored, admitted.against[answers[admitted.against]], MAX_AGAINST)
    results = _ranked(corpus, scored, found_all, end)
    waiting = admitted.held_back.ordinals[answers[admitted.held_back.ordinals]]
    held = _ranked(corpus, scored, np.concatenate([found_all, waiting]), end)[start:]
    withheld = _count(admitted.held_back[n] for n in held if n in admitted.held_back)
    below = admitted.results[~answers[admitted.results]]
    close = below[foremost(found.margin[below], NEAREST)].tolist()
    nearest = sorted(close, key=lambda n: (-found.margin[n], corpus.facets["id"].one(n)))[:NEAREST]

    hit = partial(_hit, found=found, scored=scored, spelled=spelled)
    hits, decided = (tuple(hit(n, corpus.status(n, today)) for n in part) for part in (results[start:], against))
    first = next(iter((*results, *against)), None)  # of the answer, not of the page
    retired = tuple(sorted(n for n in named if n in admitted.held_back))
    return Ranked(
        hits,
        decided,
        retired,
        len(found_all),
        {**withheld, "below_floor": len(below)},
        tuple(nearest),
        _verdict(first, found, scored, _answerable(admitted)),
        "exact" if hits and all(scored.tiers[h.ordinal] < _ORDINARY for h in hits) else mode,
    )


def _hit(n: int, status: str, *, found: Evidence, scored: _Scored, spelled: dict[str, str]) -> Hit:
    """Return one record with what speaks for it; figures are rounded here, after everything was ordered."""
    matched = zip(found.lexical.terms, found.lexical.held[:, n], strict=True)
    return Hit(
        n,
        status,
        float(scored.scores[n]),
        float(scored.relevance[n]),
        round(float(found.cosine[n]), 4),
        round(float(found.lexical.records[n]), 4),
        round(float(found.fused[n]), 4),
        tuple(spelled[term] for term, has in matched if has and term in spelled),
        tuple(dict.fromkeys(t for e in scored.tokens for t in e.holders.get(n, ()))),
        int(found.passage[n]),
        scored.told.around.get(n, ()),
    )


def _verdict(first: int | None, found: Evidence, scored: _Scored, among: NDArray[np.intp]) -> str:
    if first is None:
        return "none"
    meaning_rank, word_rank = found.ranks(first, among)
    exact = bool(scored.tiers[first] < _ORDINARY)
    margin = float(found.margin[first])
    return verdict(found=True, exact=exact, margin=margin, meaning_rank=meaning_rank, word_rank=word_rank)


def _retrieval(fusion: str, phrases: Sequence[Phrase]) -> str:
    if fusion == "lexical" or all(phrase.first is None and phrase.second is None for phrase in phrases):
        return "lexical"
    return "dense" if fusion == "cosine" else "hybrid"
