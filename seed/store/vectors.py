"""Vectors in one append-only file of float32 for each embedder identity, memory-mapped for search.

A row counts only when the database names it, and rows are named in the transaction that follows their fsync:
a writer killed in between leaves bytes that the next writer overwrites.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seed.errors import StoreError
from seed.store.database import writing

Matrix = NDArray[np.float32]
_MANY = 10_000


def vector_file(folder: Path, identity: str, made: int = 0) -> Path:
    """Return the file of an identity (its hex digest) in a generation of the store."""
    return folder / f"vectors-{identity.removeprefix('sha256:')[:24]}{f'.{made}' if made else ''}.f32"


def generation(database: sqlite3.Connection) -> int:
    """Return how often the store was compacted: row numbers, and the files they count in, belong to one generation."""
    row = database.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
    return int(row[0]) if row else 0


def known(database: sqlite3.Connection, identity: str, shas: Sequence[bytes]) -> dict[bytes, int]:
    """Return the row of every text (sha256) that has a vector under this identity."""
    found: dict[bytes, int] = {}
    if len(shas) > _MANY:  # one pass over all is quicker than hundreds of questions
        wanted = set(shas)
        return {sha: row for sha, row in every(database, identity).items() if sha in wanted}
    for at in range(0, len(shas), 500):
        part = shas[at : at + 500]
        marks = ",".join("?" * len(part))
        query = f"SELECT sha, row FROM vectors WHERE identity = ? AND sha IN ({marks})"  # noqa: S608 - only question marks
        found.update(database.execute(query, (identity, *part)))
    return found


def every(database: sqlite3.Connection, identity: str) -> dict[bytes, int]:
    """Return text's sha256 -> row of all vectors of an identity."""
    return dict(database.execute("SELECT sha, row FROM vectors WHERE identity = ?", (identity,)).fetchall())


def append(
    database: sqlite3.Connection, folder: Path, identity: str, vectors: Mapping[bytes, NDArray[np.float32]]
) -> None:
    """Store the vectors of texts (by sha256) that have none yet; the caller holds the seeding lock."""
    held = known(database, identity, list(vectors))
    vectors = {sha: vector for sha, vector in vectors.items() if sha not in held}
    if not vectors:
        return
    dimension = len(next(iter(vectors.values())))
    block = np.ascontiguousarray(np.stack(list(vectors.values())), dtype="<f4")
    with writing(database):
        first = database.execute(
            "SELECT COALESCE(MAX(row) + 1, 0) FROM vectors WHERE identity = ?", (identity,)
        ).fetchone()[0]
        write(vector_file(folder, identity, generation(database)), first * dimension * 4, block.tobytes())
        rows = [(identity, sha, first + n, zlib.crc32(block[n].tobytes())) for n, sha in enumerate(vectors)]
        database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)


def write(path: Path, offset: int, data: bytes) -> None:
    """Write bytes at an offset and make them durable. Raises `StoreError` when the disk refuses."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if os.fstat(descriptor).st_size < offset:
                raise StoreError(
                    f"{path.name} is shorter than the store says",
                    "delete the store folder; it is rebuilt from Git",
                )
            os.lseek(descriptor, offset, os.SEEK_SET)
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as exc:
        raise StoreError(
            f"{path} cannot be written: {exc.strerror}", "free the disk or set SIDECAR_HOME elsewhere"
        ) from None


def open_matrix(folder: Path, identity: str, dimension: int, made: int = 0) -> Matrix | None:
    """Return the whole file as a read-only (rows, dimension) memory map, or None when there is none yet."""
    path = vector_file(folder, identity, made)
    try:
        rows = path.stat().st_size // (4 * dimension)
    except FileNotFoundError:
        return None
    if rows == 0:
        return None
    return np.memmap(path, dtype="<f4", mode="r", shape=(rows, dimension))


def damaged(database: sqlite3.Connection, folder: Path, identity: str, dimension: int) -> list[bytes]:
    """Return the texts (sha256) whose stored vector does not match its checksum or is cut off."""
    matrix = open_matrix(folder, identity, dimension, generation(database))
    bad = []
    for sha, row, check in database.execute("SELECT sha, row, check_sum FROM vectors WHERE identity = ?", (identity,)):
        if matrix is None or row >= len(matrix) or zlib.crc32(np.ascontiguousarray(matrix[row]).tobytes()) != check:
            bad.append(sha)
    return bad


def heal(database: sqlite3.Connection, folder: Path, identity: str, dimension: int) -> None:
    """Forget the rows beyond the end of the file, and the planes that may point at them; the caller holds the lock."""
    path = vector_file(folder, identity, generation(database))
    held = path.stat().st_size // (4 * dimension) if path.exists() else 0
    top = database.execute("SELECT MAX(row) FROM vectors WHERE identity = ?", (identity,)).fetchone()[0]
    if top is not None and top >= held:
        with writing(database):
            database.execute("DELETE FROM vectors WHERE identity = ? AND row >= ?", (identity, held))
            database.execute("DELETE FROM planes WHERE identity = ?", (identity,))
        # What was worked out of the rows that get other vectors now.
        for kept in (*folder.glob("planes/*"), *folder.glob("codes/*")):
            kept.unlink(missing_ok=True)
