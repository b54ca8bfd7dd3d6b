"""`python -m evals.bench.postgres_ask URL`: what a fresh process takes to open a snapshot on a server and to answer.

Each question is asked over the index and by comparing every vector in memory, one after the other in one process: so
their ratio says more than their milliseconds. Prints one line of JSON.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from evals.bench.postgres_made import DIMENSION, IDENTITY, REPOSITORY, centres, texts, vectors
from seed.store.address import Address
from seed.store.engine import Engine
from seed.store.postgres import near
from seed.store.postgres.opening import open_store
from sidecar.distant import Distant
from sidecar.lexical import Documents
from sidecar.plane import Plane, plane

QUESTIONS = 100
_TOP = 10
_SAID = 8
_FEW = 30
T = TypeVar("T")


def _loaded(store: Engine) -> tuple[Documents, NDArray[np.int32]]:
    found, stored = store.load("one"), store.plane("one", IDENTITY)
    if found is None or stored is None:
        raise RuntimeError("the snapshot is not there")
    made, lengths = found
    count = len(made.pids)
    values = lengths.astype(np.float64)
    return Documents(made.pids, made.owners, made.titles, values[:count], values[count:]), stored[0]


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Return (seconds, what ``work`` returns)."""
    start = time.monotonic()
    result = work()
    return time.monotonic() - start, result


def _best(near: NDArray[np.float64]) -> set[int]:
    return set(np.argsort(-near, kind="stable")[:_TOP].tolist())


def compare(exact: Plane, far: Distant, draw: np.random.Generator, middles: NDArray[np.float32]) -> dict[str, float]:
    """Ask both ways. Returns recall at 10 (mean and least over questions) and milliseconds."""
    shares, direct, distant = [], [], []
    said = [" ".join(words[:_SAID]) for words in texts(draw, QUESTIONS)]
    for question, words in zip(vectors(draw, middles, QUESTIONS), said, strict=True):
        spent, wanted = timed(lambda question=question: exact.nearness(question))  # type: ignore[misc]
        direct.append(spent * 1000)
        spent, found = timed(lambda question=question, words=words: far.nearness(question, words))  # type: ignore[misc]
        distant.append(spent * 1000)
        shares.append(len(_best(wanted.near) & _best(found.near)) / _TOP)
    return {
        "questions": QUESTIONS,
        "recall_at_10": round(statistics.mean(shares), 4),
        "least_recall_at_10": min(shares),
        "exact_ms": round(statistics.median(direct), 1),
        "exact_p95_ms": round(float(np.quantile(direct, 0.95)), 1),
        "index_ms": round(statistics.median(distant), 1),
        "index_p95_ms": round(float(np.quantile(distant, 0.95)), 1),
    }


def by_candidates(exact: Plane, far: Distant, draw: np.random.Generator, middles: NDArray[np.float32]) -> list[Any]:
    """Ask with more and more candidates. Returns for each number recall of records and of passages, and milliseconds.

    A record counts by its best passage and by all of it, so the ten best records need not have the nearest passages;
    recall of passages is that of the index itself: how many of the ten nearest it names.
    """
    told = []
    asked = vectors(draw, middles, _FEW)
    said = [words[:_SAID] for words in texts(draw, _FEW)]
    wanted = [(_best(exact.nearness(question).near), exact.matrix @ question) for question in asked]
    usual = near.LEAST, near.MOST
    for found in (200, 800, 2000):
        near.LEAST = near.MOST = found
        records, passages, spent = [], [], []
        for question, words, (best, scores) in zip(asked, said, wanted, strict=True):
            took, answer = timed(lambda question=question, words=words: far.nearness(question, " ".join(words)))  # type: ignore[misc]
            rows, _ = far.index.candidates(question, words, len(scores), 100.0)
            records.append(len(best & _best(answer.near)) / _TOP)
            passages.append(len(set(np.argsort(-scores)[:_TOP].tolist()) & set(rows.tolist())) / _TOP)
            spent.append(took * 1000)
        told.append(
            {
                "candidates": found,
                "records": round(statistics.mean(records), 3),
                "least_records": min(records),
                "passages": round(statistics.mean(passages), 3),
                "least_passages": min(passages),
                "index_ms": round(statistics.median(spent), 1),
            }
        )
    near.LEAST, near.MOST = usual
    return told


def _peak() -> int:
    """Return the most MiB this process has held: getrusage would tell that of the process that started it."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) // 1024


def measure(url: str, folder: Path) -> dict[str, Any]:
    """Open the snapshot "one" and ask. Returns seconds, milliseconds, recall and MiB of this process at its peak."""
    draw = np.random.default_rng(12)
    middles = centres()
    at_rest = _peak()
    connecting, store = timed(lambda: open_store(Address(url), REPOSITORY, folder))
    with closing(store):
        opening, (documents, rows) = timed(lambda: _loaded(store))
        centre = np.zeros(DIMENSION, np.float32)
        index = store.index("one", IDENTITY, len(rows))
        found: dict[str, Any] = {
            "passages": len(rows),
            "dimension": DIMENSION,
            "connect_s": round(connecting, 2),
            "open_snapshot_s": round(opening, 2),
        }
        if index is None:
            return found | {"index_missing": True}
        far = Distant(IDENTITY.digest, index, lambda r: store.read_vectors(IDENTITY, r), rows, documents, centre)
        first, _ = timed(lambda: far.nearness(vectors(draw, middles, 1)[0], "w1 w2 w3"))
        with_index = _peak()
        reading, matrix = timed(lambda: store.matrix(IDENTITY))
        assert matrix is not None  # noqa: S101 - the index over it was just asked
        exact = plane(IDENTITY.digest, matrix, rows, documents.owners, centre)
        found |= compare(exact, far, draw, middles)
        found["by_candidates"] = by_candidates(exact, far, draw, middles)
        return found | {
            "first_index_ms": round(first * 1000, 1),
            "read_vectors_s": round(reading, 2),
            "client_mib": {"at_rest": at_rest, "index": with_index, "all_vectors": _peak()},
        }


if __name__ == "__main__":
    with TemporaryDirectory() as place:
        print(json.dumps(measure(sys.argv[1], Path(place))))
