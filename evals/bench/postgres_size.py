"""`python -m evals.bench.postgres_size [PASSAGES]...`: what a repository of so many passages takes on a server.

Texts are drawn from a vocabulary by Zipf's law and vectors lie in clusters: synthetic, both, and said so wherever the
figures stand. Bytes are the server's own; recall is that of the index against comparing everything, over records.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.bench.filling import VERSION, snapshot
from evals.bench.servers import Cluster
from seed.embed.base import ToyEmbedder
from seed.passages import Passage
from seed.record import Record
from seed.store.address import Address
from seed.store.engine import Engine
from seed.store.parsed import Unseen
from seed.store.postgres.opening import open_store
from seed.store.postgres.store import PostgresStore
from sidecar.distant import Distant
from sidecar.lexical import Documents
from sidecar.plane import Plane, plane

DIMENSION = 384
QUESTIONS = 50
_PER_RECORD = 3
_WORDS = 120
_VOCABULARY = 20_000
_CLUSTERS = 400
_SPREAD = 0.9
_BATCH = 256
_TOP = 10
_TABLES = ("blobs", "passages", "postings", "vectors", "snapshots", "planes")
IDENTITY = replace(ToyEmbedder(DIMENSION).identity, model="synthetic")
Matrix = NDArray[np.float32]


def texts(draw: np.random.Generator, count: int) -> list[list[str]]:
    """Return the words of so many passages: rank r of the vocabulary is drawn in proportion to 1 / r."""
    weights = 1 / np.arange(1, _VOCABULARY + 1)
    numbers = draw.choice(_VOCABULARY, (count, _WORDS), p=weights / weights.sum())
    return [[f"w{number}" for number in row] for row in numbers.tolist()]


def vectors(draw: np.random.Generator, centres: Matrix, count: int) -> Matrix:
    """Return unit vectors (count, d) around randomly drawn centres."""
    noise = draw.normal(size=(count, centres.shape[1])) * _SPREAD / np.sqrt(centres.shape[1])
    found = (centres[draw.integers(len(centres), size=count)] + noise).astype(np.float32)
    unit: Matrix = found / np.linalg.norm(found, axis=1, keepdims=True)
    return unit


def _files(draw: np.random.Generator, count: int) -> Iterator[list[Unseen]]:
    for at in range(0, count, _BATCH):
        batch = []
        for number in range(at, min(at + _BATCH, count)):
            said = texts(draw, _PER_RECORD)
            cut = tuple(Passage(n, n + 1, "S", f"Title {number}. {' '.join(words)}", 9) for n, words in enumerate(said))
            terms = tuple(Counter(words) for words in said)
            record = Record(f"decision-{number}", "decision", f"Title {number}", "accepted")
            batch.append(Unseen(f"{number:040x}", record, (), cut, terms, f"title {number}", Counter(["title"])))
        yield batch


def fill(store: Engine, passages: int, draw: np.random.Generator, centres: Matrix) -> dict[str, float]:
    """Add records of so many passages, their vectors and their snapshot. Returns seconds."""
    records = passages // _PER_RECORD
    seconds = {"words": 0.0, "vectors": 0.0, "publish": 0.0}
    oids = [f"{number:040x}" for number in range(records)]
    store.register(IDENTITY)
    for batch in _files(draw, records):
        start = time.monotonic()
        with store.exclusive(5):
            store.add(batch, VERSION)
        seconds["words"] += time.monotonic() - start
        names = [passage.sha for item in batch for passage in item.passages]
        made = dict(zip(names, vectors(draw, centres, len(names)), strict=True))
        start = time.monotonic()
        with store.exclusive(5):
            store.add_vectors(IDENTITY, made)
        seconds["vectors"] += time.monotonic() - start
    made_snapshot, lengths = snapshot("one", store, oids)
    start = time.monotonic()
    with store.exclusive(5):
        store.publish(made_snapshot, lengths)
        held = store.texts(made_snapshot.pids.tolist())
        rows = store.rows(IDENTITY, [sha for sha, _, _ in held.values()])
        numbers = [rows[held[pid][0]] for pid in made_snapshot.pids.tolist()]
        store.save_plane("one", IDENTITY, np.array(numbers, np.int32))
    seconds["publish"] = time.monotonic() - start
    return seconds


def _loaded(store: Engine) -> tuple[Documents, NDArray[np.int32]]:
    found, stored = store.load("one"), store.plane("one", IDENTITY)
    if found is None or stored is None:
        raise RuntimeError("the snapshot is not there")
    made, lengths = found
    count = len(made.pids)
    values = lengths.astype(np.float64)
    return Documents(made.pids, made.owners, made.titles, values[:count], values[count:]), stored[0]


def _timed(work: Any) -> tuple[float, Any]:  # noqa: ANN401 - whatever is timed
    start = time.monotonic()
    result = work()
    return time.monotonic() - start, result


def _best(near: NDArray[np.float64]) -> set[int]:
    return set(np.argsort(-near, kind="stable")[:_TOP].tolist())


def compare(exact: Plane, far: Distant, draw: np.random.Generator, centres: Matrix) -> dict[str, float]:
    """Ask both ways. Returns recall at 10 and milliseconds."""
    asked = vectors(draw, centres, QUESTIONS)
    shares, near, distant = [], [], []
    for question, words in zip(asked, texts(draw, QUESTIONS), strict=True):
        spent, wanted = _timed(lambda question=question: exact.nearness(question))
        near.append(spent)
        said = " ".join(words[:8])
        spent, found = _timed(lambda question=question, said=said: far.nearness(question, said))
        distant.append(spent)
        shares.append(len(_best(wanted.near) & _best(found.near)) / _TOP)
    return {
        "recall_at_10": round(statistics.mean(shares), 4),
        "least_recall_at_10": min(shares),
        "exact_ms": round(statistics.median(near) * 1000, 1),
        "index_ms": round(statistics.median(distant) * 1000, 1),
    }


def _bytes(store: PostgresStore) -> tuple[dict[str, int], int]:
    """Return the bytes of each table with its keys, and of the index, once all gaps are closed."""

    def sized(name: str) -> int:
        query = "SELECT pg_total_relation_size(to_regclass(%s))"
        row = store.database.read(lambda connection: connection.execute(query, (f"sidecar.{name}",)).fetchone())
        return int(row[0] or 0) if row else 0

    with store.database.borrowed() as connection:  # what later writes would fill is no size
        connection.execute("SET statement_timeout = 0")
        for name in _TABLES:
            connection.execute(f"VACUUM FULL sidecar.{name}")
    query = "SELECT relname FROM pg_class WHERE relname LIKE 'near_%'"
    named = store.database.read(lambda connection: connection.execute(query).fetchone())
    of_index = sized(str(named[0])) if named else 0
    tables = {name: sized(name) for name in _TABLES}
    tables["vectors"] -= of_index
    return tables, of_index


def measure(passages: int, folder: Path) -> dict[str, Any]:
    """Fill a server with so many passages and return every figure."""
    draw = np.random.default_rng(11)
    centres = vectors(draw, np.eye(DIMENSION, dtype=np.float32), _CLUSTERS)
    with closing(Cluster()) as cluster:
        server = cluster.server("one", shared_buffers="1GB", max_wal_size="8GB", maintenance_work_mem="1GB")
        with closing(open_store(Address(server.url()), "example.org/large", folder)) as store:
            seconds = fill(store, passages, draw, centres)
            build, _ = _timed(lambda: store.prepare(IDENTITY))
        with closing(open_store(Address(server.url()), "example.org/large", folder)) as store:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            opening, (documents, rows) = _timed(lambda: _loaded(store))
            reading, matrix = _timed(lambda: store.matrix(IDENTITY))
            centre = np.zeros(DIMENSION, np.float32)
            exact = plane(IDENTITY.digest, matrix, rows, documents.owners, centre)
            found: dict[str, Any] = {"passages": len(rows), "dimension": DIMENSION}
            index = store.index("one", IDENTITY, len(rows))
            if index is not None:
                far = Distant(
                    IDENTITY.digest, index, lambda r: store.read_vectors(IDENTITY, r), rows, documents, centre
                )
                found |= compare(exact, far, draw, centres)
            used = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            tables, of_index = _bytes(store)
    per = {name: round(size / passages) for name, size in (*tables.items(), ("index", of_index))}
    return found | {
        "bytes_per_passage": per,
        "total_mib": round((sum(tables.values()) + of_index) / (1 << 20)),
        "seconds": {name: round(value, 1) for name, value in (*seconds.items(), ("index", build))},
        "open_snapshot_s": round(opening, 2),
        "read_vectors_s": round(reading, 2),
        "process_mib": round(used),
    }


def main() -> int:
    """Measure the sizes named and print one line of JSON for each."""
    for passages in [int(size) for size in sys.argv[1:]] or [10_000, 30_000]:
        with TemporaryDirectory() as folder:
            print(json.dumps(measure(passages, Path(folder))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
