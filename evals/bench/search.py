"""Vector search against the time it takes to read the vectors once: the least that an exact search can cost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evals.bench import made
from evals.bench.figure import Figure, against
from seed.facets import facet
from sidecar.filters import passing
from sidecar.plane import Plane, plane
from sidecar.query import Query
from sidecar.rank import foremost

QUICK = ((10_000, 384), (60_000, 384))
SIZES = (*QUICK, (61_458, 768), (250_000, 384), (250_000, 768), (1_000_000, 384))
TOP = 10
_KINDS = ("decision", "adr", "fact", "finding")


def figures(scratch: Path, *, quick: bool) -> Iterator[Figure]:
    """Measure exact search over a memory map with one thread, with and without a filter."""
    for passages, dimension in QUICK if quick else SIZES:
        path = scratch / "vectors.f32"
        vectors = made.matrix(path, passages, dimension)
        yield from _sized(vectors, passages, dimension)
        del vectors
        path.unlink()


def _sized(vectors: NDArray[np.float32], passages: int, dimension: int) -> Iterator[Figure]:
    of = made.owners(passages)
    rows = np.arange(passages, dtype=np.int32)
    ready = plane("bench", vectors, rows, of, np.zeros(dimension, np.float32))
    question = made.Synthetic(dimension).question("where is it kept")
    words = np.asarray(vectors).view(np.int64).reshape(-1)
    held = {"kind": facet([(_KINDS[n % 4],) for n in range(len(ready.starts))])}
    name, bound = f"search {passages:,} x {dimension}", "one read of the vectors"

    def read() -> object:
        return np.bitwise_or.reduce(words)

    def library() -> object:
        scores = vectors @ question
        return np.argpartition(scores, -TOP)[-TOP:]

    def filtered() -> object:
        return top(ready, question, passing(Query("x", kinds=("adr",)), held, ""))

    repeats = 21 if passages < 100_000 else 7  # noqa: PLR2004 - a second or so for each size
    whole = np.ones(len(ready.starts), np.bool_)
    lost = _lost(ready, question, passing(Query("x", kinds=("adr",)), held, ""))
    yield against(name, lambda: top(ready, question, whole), read, bound, repeats=repeats, aim_ratio=1.3)
    yield against(f"{name}, bare NumPy", library, read, bound, repeats=repeats)
    yield against(f"{name}, filtered", filtered, read, bound, repeats=repeats, aim_ratio=1.3,
                  note=f"hits lost: {lost} of {TOP}")  # fmt: skip


def top(ready: Plane, question: NDArray[np.float32], admitted: NDArray[np.bool_]) -> list[int]:
    """Return the records that may be the first ten of those admitted (m,)."""
    among = np.flatnonzero(admitted)
    near = ready.nearness(question).near[among]
    best = foremost(near, TOP)
    found: list[int] = among[best[np.argsort(-near[best], kind="stable")]].tolist()
    return found


def _lost(ready: Plane, question: NDArray[np.float32], admitted: NDArray[np.bool_]) -> int:
    """Return how many of the filtered first ten are missing, against all records in order less the filtered ones."""
    near = ready.nearness(question).near
    order = [n for n in np.argsort(-near, kind="stable").tolist() if admitted[n]][:TOP]
    return len(set(order) - set(top(ready, question, admitted)))
