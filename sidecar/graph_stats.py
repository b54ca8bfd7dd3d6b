"""What each type of edge adds over the order of turns: counts, spans, and cosines against random and adjacent pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from seed.graph import TYPES, consecutive
from seed.transcript.segments import DEFAULT
from sidecar import library, sentence_rows
from sidecar.graph import Graph, session_edges
from sidecar.history import Document
from sidecar.library import Family
from sidecar.segment_rank import Matrix
from sidecar.sentence_rows import Rows

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
    sessions = _sessions(graph)
    held, rows = _rows(graph, [family for family, _, _ in sessions])
    for (family, ordinals, found), part in zip(sessions, rows, strict=False):
        place = {ordinal: n + sum(lengths) for n, ordinal in enumerate(ordinals)}
        for kind, first, second in found:
            pairs.setdefault(kind, []).append((place[first], place[second]))
        vectors.append(np.zeros((len(ordinals), 1)) if held is None else _vectors(held, part, family, ordinals))
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


def _sessions(graph: Graph) -> list[tuple[Family, list[int], list[tuple[str, int, int]]]]:
    found = []
    for reader in graph.sessions:
        joined = list(consecutive(session_edges(graph.history, reader)))
        family = library.family(graph.history, reader.manifest.id, DEFAULT)
        says = {family.index.turns[int(n)] for n in np.flatnonzero(family.words.said())}
        ends = {end for _, *both in joined for end in both}
        found.append((family, sorted(says | ends), joined))
    return found


def _rows(graph: Graph, families: Sequence[Family]) -> tuple[Matrix | None, list[Rows]]:
    """Return the vectors, and for each session the row of each of its sentences, or -1; looked up once for all."""
    session = graph.provider.session
    embedder = library.Projected(session.embedders(graph.view.corpus.snapshot.policy)[0], DEFAULT)
    opened = library.assemble(families)
    rows = sentence_rows.rows(graph.history.indexes, session.store, opened, embedder.identity)
    return session.store.matrix(embedder.identity), np.split(rows, opened.breaks[1:])


def _vectors(matrix: Matrix, rows: Rows, family: Family, ordinals: Sequence[int]) -> Floats:
    """Return the mean vector (turns, d) of each turn's embedded sentences, zeros where there is none."""
    sums = np.zeros((len(ordinals), matrix.shape[1]))
    place = {ordinal: n for n, ordinal in enumerate(ordinals)}
    have = np.flatnonzero(rows >= 0)
    owners = np.repeat(np.arange(len(family.index)), family.words.counts)[have]
    np.add.at(sums, [place[family.index.turns[int(n)]] for n in owners], matrix[rows[have]])
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
