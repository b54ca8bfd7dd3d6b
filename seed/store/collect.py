"""Drop from a store what no kept snapshot refers to, and close the gaps in its vectors' files.

New files of vectors are written beside the old ones under the next generation's name; one transaction then drops the
rows, renumbers the rest and names the new generation. A kill before it leaves all as it was, one after it leaves old
files that the next collection removes.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seed.store import inspect, vectors, words
from seed.store.database import guarded, writing
from seed.store.engine import Collected
from seed.store.store import Store

_ROWS = 4096


@dataclass(frozen=True, slots=True)
class _Compacted:
    """The rows of one identity in its new file: sha256 -> (new row, checksum), and old row -> new row."""

    identity: str
    rows: dict[bytes, tuple[int, int]]
    moved: dict[int, int]


@guarded
def collect(
    store: Store,
    keep: Sequence[str],
    spare: Iterable[bytes] = (),
    beside: Collection[str] = (),
    *,
    dry_run: bool = False,
) -> Collected:
    """Keep the snapshots ``keep`` (keys) and what they refer to; the caller holds the seeding lock.

    ``spare`` are texts (sha256) whose vectors stay although no snapshot has them, ``beside`` embedders (digests of
    identities) all of whose vectors stay. Raises `StoreError`.
    """
    database, folder = store.database, store.folder
    keys = [key for key, _, _ in inspect.snapshots(database)]
    dropped = [key for key in keys if key not in keep]
    documents = inspect.documents(database, keep)
    loose = inspect.loose(database, keep, documents, (set(spare), beside))
    before = inspect.size(folder)
    counts = (len(dropped), len(loose.blobs), len(loose.passages), len(loose.vectors))
    if dry_run or not any(counts):
        return Collected(*counts, before, before)
    made = vectors.generation(database) + 1
    files = [_compact(store, identity, set(loose.vectors), made) for identity in _identities(database)]
    with writing(database):
        for key in dropped:
            database.execute("DELETE FROM snapshots WHERE key = ?", (key,))
            database.execute("DELETE FROM planes WHERE key = ?", (key,))
            database.execute("DELETE FROM meta WHERE key = ?", (f"missing:{key}",))
        database.executemany("DELETE FROM blobs WHERE oid = ? AND version = ?", loose.blobs)
        database.executemany("DELETE FROM passages WHERE pid = ?", ((pid,) for pid in loose.passages))
        words.merge(database, documents)
        for compacted in files:
            _renumber(database, compacted)
        database.execute("INSERT OR REPLACE INTO meta VALUES ('generation', ?)", (str(made),))
    _shrink(database, folder, made)
    return Collected(*counts, before, inspect.size(folder))


def _identities(database: sqlite3.Connection) -> list[tuple[str, int]]:
    return database.execute("SELECT identity, dimension FROM identities").fetchall()


def _compact(store: Store, identity: tuple[str, int], loose: set[tuple[str, bytes]], made: int) -> _Compacted:
    """Write the vectors that stay, in their order, into the next generation's file; a damaged one does not stay."""
    name, dimension = identity
    matrix = vectors.open_matrix(store.folder, name, dimension, made - 1)
    held = store.database.execute("SELECT row, sha, check_sum FROM vectors WHERE identity = ? ORDER BY row", (name,))
    path = vectors.vector_file(store.folder, name, made)
    path.unlink(missing_ok=True)
    rows: dict[bytes, tuple[int, int]] = {}
    moved: dict[int, int] = {}
    block: list[bytes] = []
    for row, sha, check in held.fetchall():
        if (name, sha) in loose or matrix is None or row >= len(matrix):
            continue
        data = np.ascontiguousarray(matrix[row]).tobytes()
        if zlib.crc32(data) != check:
            continue
        moved[row] = len(rows)
        rows[sha] = (len(rows), check)
        block.append(data)
        if len(block) == _ROWS:
            vectors.write(path, (len(rows) - len(block)) * dimension * 4, b"".join(block))
            block = []
    if block:
        vectors.write(path, (len(rows) - len(block)) * dimension * 4, b"".join(block))
    return _Compacted(name, rows, moved)


def _renumber(database: sqlite3.Connection, compacted: _Compacted) -> None:
    """Let rows and planes count in the new file; an identity without a vector goes altogether."""
    name = compacted.identity
    database.execute("DELETE FROM vectors WHERE identity = ?", (name,))
    values = [(name, sha, row, check) for sha, (row, check) in compacted.rows.items()]
    database.executemany("INSERT INTO vectors VALUES (?, ?, ?, ?)", values)
    if not values:
        database.execute("DELETE FROM identities WHERE identity = ?", (name,))
        database.execute("DELETE FROM planes WHERE identity = ?", (name,))
        return
    for key, data in database.execute("SELECT key, rows FROM planes WHERE identity = ?", (name,)).fetchall():
        plane = [compacted.moved.get(row, -1) for row in np.frombuffer(data, dtype="<i4").tolist()]
        packed = np.array(plane, dtype="<i4").tobytes()
        database.execute("UPDATE planes SET rows = ? WHERE key = ? AND identity = ?", (packed, key, name))


def _shrink(database: sqlite3.Connection, folder: Path, made: int) -> None:
    """Remove the files of other generations and give the room back; a reader that is at work keeps its file open."""
    current = {vectors.vector_file(folder, name, made) for name, _ in _identities(database)}
    for path in folder.glob("vectors-*.f32"):
        if path not in current:
            path.unlink(missing_ok=True)
    with suppress(sqlite3.OperationalError):  # somebody reads: the room is reused, and given back another time
        database.execute("VACUUM")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
