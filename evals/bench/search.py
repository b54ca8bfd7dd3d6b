"""Vector search against the time it takes to read the vectors once: the least that an exact search can cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evals.bench import made
from evals.bench.figure import Figure, against
from seed.facets import facet
from sidecar.coded import CodedPlane, coded
from sidecar.codes import product
from sidecar.codes_file import CodesFile
from sidecar.filters import passing
from sidecar.plane import Plane, plane
from sidecar.planes import CODED_FROM, Opened
from sidecar.query import Query
from sidecar.rank import foremost

QUICK = ((10_000, 384), (60_000, 384))
SIZES = (*QUICK, (61_458, 768), (250_000, 384), (250_000, 768), (1_000_000, 384))
TOP = 10
_LARGE = 100_000
_BOUND = "one read of the vectors"
_KINDS = ("decision", "adr", "fact", "finding")


def figures(scratch: Path, *, quick: bool) -> Iterator[Figure]:
    """Measure exact search over a memory map with one thread, with and without a filter."""
    for passages, dimension in QUICK if quick else SIZES:
        path = scratch / "vectors.f32"
        vectors = made.matrix(path, passages, dimension)
        yield from _sized(scratch, vectors, passages, dimension)
        del vectors
        path.unlink()


def _sized(scratch: Path, vectors: NDArray[np.float32], passages: int, dimension: int) -> Iterator[Figure]:
    of = made.owners(passages)
    rows = np.arange(passages, dtype=np.int32)
    exact = plane("bench", vectors, rows, of, np.zeros(dimension, np.float32))
    question = made.Synthetic(dimension).question("where is it kept")
    held = {"kind": facet([(_KINDS[n % 4],) for n in range(len(exact.starts))])}
    whole = np.ones(len(exact.starts), np.bool_)
    name, read, repeats = f"search {passages:,} x {dimension}", _read(vectors), 21 if passages < _LARGE else 7

    def library() -> object:
        scores = vectors @ question
        return np.argpartition(scores, -TOP)[-TOP:]

    def chosen() -> NDArray[np.bool_]:
        return passing(Query("x", kinds=("adr",)), held, "")

    def filtered(ready: Opened) -> object:
        return top(ready, question, chosen())

    yield against(f"{name}, bare NumPy", library, read, _BOUND, repeats=repeats)
    for ready, how in _ways(scratch, exact):
        asked = partial(top, ready, question, whole)
        same = f"equal to a full sort: {_equal(exact, ready, question, whole)}"
        yield against(name + how, asked, read, _BOUND, repeats=repeats, aim_ratio=1.3, note=same)
        same = f"equal to a full sort: {_equal(exact, ready, question, chosen())}"
        yield against(f"{name}{how}, filtered", partial(filtered, ready), read, _BOUND, repeats=repeats, aim_ratio=1.3,
                      note=same)  # fmt: skip
        if isinstance(ready, CodedPlane):
            codes = _read(ready.codes.values)
            yield against(f"{name}{how}, its codes", asked, codes, "one read of the codes", repeats=repeats)


def _ways(scratch: Path, exact: Plane) -> Iterator[tuple[Opened, str]]:
    """Yield how so many passages are asked, and what that is called: from `CODED_FROM` on by codes first."""
    yield exact, ""
    multiply = product() if len(exact.rows) >= CODED_FROM else None
    codes = CodesFile(scratch, "bench").opened(exact.matrix, len(exact.rows)) if multiply else None
    if multiply and codes:
        yield coded(exact, codes, multiply, lambda: None), ", by codes"


def _read(array: NDArray[np.generic]) -> Callable[[], object]:
    words = np.asarray(array).reshape(-1).view(np.int64)
    return lambda: np.bitwise_or.reduce(words)


def top(ready: Opened, question: NDArray[np.float32], admitted: NDArray[np.bool_]) -> list[tuple[float, int]]:
    """Return (less nearness, record) of those that may be the first ten of those admitted (m,)."""
    among = np.flatnonzero(admitted)
    said = ready.nearness(question)
    step = 64
    while True:
        near = said.near[among]
        best = among[foremost(near, TOP)]
        if said.loose is None or not said.loose[best].any():
            return sorted(zip((-said.near[best]).tolist(), best.tolist(), strict=True))
        said.settle(among[foremost(near, step)])
        step *= 2


def _equal(exact: Plane, ready: Opened, question: NDArray[np.float32], admitted: NDArray[np.bool_]) -> str:
    """Tell whether the first ten admitted, and their nearness, are those of all records in order."""
    near = -exact.nearness(question).near
    order = [(float(near[n]), n) for n in np.argsort(near, kind="stable").tolist() if admitted[n]][:TOP]
    found = top(ready, question, admitted)[:TOP]
    return "yes" if found == order else f"no, {len({n for _, n in order} - {n for _, n in found})} of {TOP} lost"
