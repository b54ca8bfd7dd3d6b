"""What each type of edge adds over the order of turns: counts, spans, and cosines against random and adjacent pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from seed.graph import TYPES, consecutive
from seed.transcript.segments import DEFAULT
from sidecar import library
from sidecar.graph import Graph, session_edges
from sidecar.history import Document

RANDOM_PAIRS = 2000
_TINY = 1e-9
Pairs = list[tuple[int, int]]
Floats = NDArray[np.float64]


def stats(graph: Graph) -> Document:
    """Return for each edge type what it joins, with cosines over the turns whose segments have vectors already.

    Two turns are adjacent when no other turn that says something, or has an edge, lies between them. A path joins a
    turn with the turn that had it before. Cosines are null where too little is embedded.
    """
    counts = Counter(edge.type for edge in graph.edges())
    pairs: dict[str, Pairs] = {}
    vectors: list[Floats] = []
    lengths: list[int] = []
    for name, ordinals, found in _sessions(graph):
        place = {ordinal: n + sum(lengths) for n, ordinal in enumerate(ordinals)}
        for kind, first, second in found:
            pairs.setdefault(kind, []).append((place[first], place[second]))
        vectors.append(_vectors(graph, name, ordinals))
        lengths.append(len(ordinals))
    matrix = _joined(vectors)
    adjacent = [(at + n, at + n + 1) for at, size in _offsets(lengths) for n in range(size - 1)]
    usual, random = _cosine(matrix, adjacent), _cosine(matrix, _random(matrix))
    told = {kind: _told(counts[kind], pairs.get(kind, []), matrix, usual) for kind in TYPES if counts[kind]}
    embedded = int((np.abs(matrix).sum(axis=1) > 0).sum()) if len(matrix) else 0
    baseline = {"adjacent_cosine": usual, "random_cosine": random, "turns": sum(lengths), "embedded_turns": embedded}
    return {"format": 1, "types": told, "baseline": baseline, "coverage": graph.coverage()}


def _told(count: int, pairs: Pairs, matrix: Floats, usual: float | None) -> Document:
    spans = [abs(a - b) for a, b in pairs]
    far = [pair for pair, span in zip(pairs, spans, strict=True) if span > 1]
    cosine, away = _cosine(matrix, pairs), _cosine(matrix, far)
    return {
        "count": count,
        "joins": len(pairs),
        "adjacent_share": round(1 - len(far) / len(pairs), 4) if pairs else None,
        "cosine": cosine,
        "cosine_not_adjacent": away,
        "multiple_of_adjacent": round(away / usual, 3) if away is not None and usual else None,
        "longest_span": max(spans, default=None),
        "joined_anew": len({tuple(sorted(pair)) for pair in far}),
    }


def _sessions(graph: Graph) -> list[tuple[str, list[int], list[tuple[str, int, int]]]]:
    found = []
    for reader in graph.sessions:
        joined = list(consecutive(session_edges(graph.history, reader)))
        family = library.family(graph.history, reader.manifest.id, DEFAULT)
        says = {family.index.turns[int(n)] for n in np.flatnonzero(family.words.said())}
        ends = {end for _, *both in joined for end in both}
        found.append((reader.manifest.id, sorted(says | ends), joined))
    return found


def _vectors(graph: Graph, name: str, ordinals: Sequence[int]) -> Floats:
    """Return the mean vector (turns, d) of each turn's embedded sentences, zeros where there is none."""
    session = graph.provider.session
    embedder = library.Projected(session.embedders(graph.view.corpus.snapshot.policy)[0], DEFAULT)
    opened = library.assemble([library.family(graph.history, name, DEFAULT)])
    rows, matrix = library.rows(session.store, opened, embedder.identity), session.store.matrix(embedder.identity)
    sums = np.zeros((len(ordinals), embedder.identity.dimension))
    if matrix is None:
        return sums
    place = {ordinal: n for n, ordinal in enumerate(ordinals)}
    have = np.flatnonzero(rows >= 0)
    turns = opened.families[0].index.turns
    owners = np.repeat(np.arange(len(opened)), opened.counts)[have]
    np.add.at(sums, [place[turns[int(n)]] for n in owners], matrix[rows[have]])
    unit: Floats = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), _TINY)
    return unit


def _joined(vectors: list[Floats]) -> Floats:
    return np.concatenate(vectors) if vectors else np.zeros((0, 1))


def _offsets(lengths: list[int]) -> list[tuple[int, int]]:
    return list(zip(np.concatenate([[0], np.cumsum(lengths)]).astype(int).tolist(), lengths, strict=False))


def _random(matrix: Floats) -> Pairs:
    have = np.flatnonzero(np.abs(matrix).sum(axis=1) > 0)
    if len(have) < 2:  # noqa: PLR2004 - a pair
        return []
    draw = np.random.default_rng(0).choice(have, (RANDOM_PAIRS, 2))
    return [(int(a), int(b)) for a, b in draw if a != b]


def _cosine(matrix: Floats, pairs: Pairs) -> float | None:
    """Return the mean cosine of pairs whose ends both have a vector, None without any."""
    if not pairs or not len(matrix):
        return None
    first, second = (matrix[list(side)] for side in zip(*pairs, strict=True))
    both = (np.abs(first).sum(axis=1) > 0) & (np.abs(second).sum(axis=1) > 0)
    return round(float((first * second).sum(axis=1)[both].mean()), 4) if both.any() else None
