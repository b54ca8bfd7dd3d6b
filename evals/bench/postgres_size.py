"""`python -m evals.bench.postgres_size [PASSAGES]...`: what a repository of so many passages takes on a server.

Texts are drawn from a vocabulary by Zipf's law and vectors lie in clusters: synthetic, both, and said so wherever the
figures stand. Bytes are the server's own; recall is that of the index against comparing everything, over records.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from evals.bench.filling import VERSION, snapshot
from evals.bench.postgres_ask import timed
from evals.bench.postgres_made import IDENTITY, PER_RECORD, REPOSITORY, Matrix, centres, files, oid, vectors
from evals.bench.servers import Cluster, Server
from seed.store.address import Address
from seed.store.engine import Engine
from seed.store.postgres.opening import open_store
from seed.store.postgres.store import PostgresStore

_TABLES = ("blobs", "passages", "postings", "vectors", "snapshots", "planes")
_REWRITTEN = ("blobs", "passages", "postings", "snapshots", "planes")
"""Vectors are only ever added here, so they have no gaps, and to close them would build the index once more."""
_SETTINGS = {
    "shared_buffers": "3GB",
    "max_wal_size": "8GB",
    "maintenance_work_mem": "4GB",  # holds the graph of a million vectors while it is built
    "max_parallel_maintenance_workers": "1",
}
_WATCH = 2.0


def fill(store: Engine, passages: int, draw: np.random.Generator, middles: Matrix) -> dict[str, float]:
    """Add records of so many passages, their vectors and their snapshot. Returns seconds."""
    records = passages // PER_RECORD
    seconds = {"words": 0.0, "vectors": 0.0, "publish": 0.0, "plane": 0.0}
    store.register(IDENTITY)
    for batch in files(draw, records):
        start = time.monotonic()
        with store.exclusive(5):
            store.add(batch, VERSION)
        seconds["words"] += time.monotonic() - start
        names = [passage.sha for item in batch for passage in item.passages]
        made = dict(zip(names, vectors(draw, middles, len(names)), strict=True))
        start = time.monotonic()
        with store.exclusive(5):
            store.add_vectors(IDENTITY, made)
        seconds["vectors"] += time.monotonic() - start
    made_snapshot, lengths = snapshot("one", store, [oid(number) for number in range(records)])
    with store.exclusive(5):
        seconds["publish"], _ = timed(lambda: store.publish(made_snapshot, lengths))
        seconds["plane"], _ = timed(lambda: _publish_plane(store, made_snapshot.pids.tolist()))
    return seconds


def _publish_plane(store: Engine, pids: list[int]) -> None:
    held = store.texts(pids)
    rows = store.rows(IDENTITY, [sha for sha, _, _ in held.values()])
    store.save_plane("one", IDENTITY, np.array([rows[held[pid][0]] for pid in pids], np.int32))


def _bytes(store: PostgresStore) -> tuple[dict[str, int], int]:
    """Return the bytes of each table with its keys, and of the index, once all gaps are closed."""

    def sized(name: str) -> int:
        query = "SELECT pg_total_relation_size(to_regclass(%s))"
        row = store.database.read(lambda connection: connection.execute(query, (f"sidecar.{name}",)).fetchone())
        return int(row[0] or 0) if row else 0

    with store.database.borrowed() as connection:  # what later writes would fill is no size
        connection.execute("SET statement_timeout = 0")
        for name in _REWRITTEN:
            connection.execute(f"VACUUM FULL sidecar.{name}")
    query = "SELECT relname FROM pg_class WHERE relname LIKE 'near_%'"
    named = store.database.read(lambda connection: connection.execute(query).fetchone())
    of_index = sized(str(named[0])) if named else 0
    tables = {name: sized(name) for name in _TABLES}
    tables["vectors"] -= of_index
    return tables, of_index


def resident(server: Server) -> int:
    """Return the MiB of a server's processes, what they share counted once."""
    first = int((server.data / "postmaster.pid").read_text().splitlines()[0])
    found = subprocess.run(  # noqa: S603 - our own arguments
        ["ps", "--ppid", str(first), "-o", "pid="],  # noqa: S607 - found on the path
        capture_output=True,
        text=True,
        check=False,
    )
    return sum(_share(pid) for pid in (first, *map(int, found.stdout.split()))) // 1024


def _share(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:  # it has ended
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


@contextmanager
def watched(server: Server) -> Iterator[list[int]]:
    """Look at a server's memory (MiB) every other second for as long as the block takes."""
    seen, done = [0], threading.Event()

    def look() -> None:
        while not done.wait(_WATCH):
            seen.append(resident(server))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()


def measure(passages: int, folder: Path) -> dict[str, Any]:
    """Fill a server with so many passages and return every figure; another process opens the snapshot and asks."""
    with closing(Cluster()) as cluster:
        server = cluster.server("one", **_SETTINGS)
        with closing(open_store(Address(server.url()), REPOSITORY, folder)) as store:
            seconds = fill(store, passages, np.random.default_rng(11), centres())
            print("filled", json.dumps(seconds), file=sys.stderr, flush=True)
            with watched(server) as building:
                seconds["index"], _ = timed(lambda: store.prepare(IDENTITY))
            print("index", seconds["index"], max(building), file=sys.stderr, flush=True)
        command = [sys.executable, "-m", "evals.bench.postgres_ask", server.url()]
        with watched(server) as asking:
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True)  # noqa: S603 - our own command
        print("asked", done.stdout.decode(), file=sys.stderr, flush=True)
        with closing(open_store(Address(server.url()), REPOSITORY, folder)) as store:
            tables, of_index = _bytes(store)
    per = {name: round(size / passages) for name, size in (*tables.items(), ("index", of_index))}
    found: dict[str, Any] = json.loads(done.stdout)
    return found | {
        "bytes_per_passage": per,
        "total_mib": round((sum(tables.values()) + of_index) / (1 << 20)),
        "seconds": {name: round(value, 1) for name, value in seconds.items()},
        "server_mib": {"building": max(building), "asking": max(asking)},
        "settings": _SETTINGS,
    }


def main() -> int:
    """Measure the sizes named and print one line of JSON for each."""
    for passages in [int(size) for size in sys.argv[1:]] or [10_000, 30_000]:
        with TemporaryDirectory() as folder:
            print(json.dumps(measure(passages, Path(folder))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
