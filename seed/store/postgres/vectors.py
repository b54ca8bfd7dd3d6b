"""Vectors of one repository in PostgreSQL, and the part of them that this process has read already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from seed.embed.identity import Identity
from seed.store.postgres import binary
from seed.store.postgres.binary import Matrix
from seed.store.postgres.server import Connection
from seed.store.postgres.statistics import grown

Key = tuple[str, str]
_OF = "workspace = %s AND repository = %s AND identity = %s"


def known(connection: Connection, key: Key, identity: str, shas: Sequence[bytes]) -> dict[bytes, int]:
    """Return the row of every text (sha256) that has a vector under this identity."""
    query = f"SELECT sha, row FROM sidecar.vectors WHERE {_OF} AND sha = ANY(%b::bytea[])"
    return {bytes(sha): row for sha, row in connection.execute(query, (*key, identity, list(shas)))}


def add(connection: Connection, key: Key, identity: Identity, found: Mapping[bytes, Matrix]) -> None:
    """Add the vectors of texts that have none; runs inside the caller's transaction."""
    binary.register(connection)
    # The identity's row is the lock under which rows are numbered, so that two writers never number alike.
    connection.execute(f"SELECT next_row FROM sidecar.identities WHERE {_OF} FOR UPDATE", (*key, identity.digest))
    held = known(connection, key, identity.digest, list(found))
    new = {sha: vector for sha, vector in found.items() if sha not in held}
    if not new:
        return
    row = connection.execute(
        f"UPDATE sidecar.identities SET next_row = next_row + %s WHERE {_OF} RETURNING next_row",
        (len(new), *key, identity.digest),
    ).fetchone()
    first = int(row[0]) - len(new) if row else 0
    connection.execute(
        "INSERT INTO sidecar.vectors (workspace, repository, identity, sha, row, v)"
        " SELECT %s, %s, %s, sha, %s + n - 1, v FROM unnest(%b::bytea[], %b::vector[]) WITH ORDINALITY AS t (sha, v, n)"
        " ON CONFLICT DO NOTHING",
        (*key, identity.digest, first, list(new), np.stack(list(new.values()))),
    )
    grown(connection, "vectors", "workspace, repository, identity, sha, row", first, first + len(new))


def some(connection: Connection, key: Key, identity: Identity, rows: NDArray[np.int32]) -> Matrix:
    """Return the vectors of rows, in their order; fewer where some are not there."""
    query = f"COPY (SELECT row, v FROM sidecar.vectors WHERE {_OF} AND row = ANY(%s)) TO STDOUT (FORMAT BINARY)"
    wanted = np.unique(rows)
    parts = list(binary.copied(connection, query, (*key, identity.digest, wanted.tolist()), identity.dimension))
    held, found = (np.concatenate([part[n] for part in parts]) for n in (0, 1))
    if len(held) < len(wanted):
        return found
    order = np.argsort(held)
    return found[order[np.searchsorted(held, rows, sorter=order)]]


class Read:
    """The vectors of one identity by row, as far as they were read: rows are only ever added within a generation."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.generation = -1
        self._room = np.empty((0, dimension), dtype=np.float32)
        self._count = 0

    def upto(self, connection: Connection, key: Key, identity: str, generation: int) -> Matrix:
        """Return all vectors (rows, dimension) in a connection's state; a row that is no more is zero."""
        if generation != self.generation:
            self._room, self._count, self.generation = np.empty((0, self.dimension), np.float32), 0, generation
        last = f"SELECT COALESCE(max(row), -1) FROM sidecar.vectors WHERE {_OF}"
        row = connection.execute(last, (*key, identity)).fetchone()
        end = int(row[0]) + 1 if row else 0
        if end > self._count:
            self._grow(end)
            span = "row >= %s AND row < %s"
            query = f"COPY (SELECT row, v FROM sidecar.vectors WHERE {_OF} AND {span}) TO STDOUT (FORMAT BINARY)"
            for rows, vectors in binary.copied(connection, query, (*key, identity, self._count, end), self.dimension):
                self._room[rows] = vectors
            self._count = end
        return self._room[: self._count]

    def _grow(self, rows: int) -> None:
        if rows > len(self._room):
            # What was handed out stays as it is: readers keep views of the old array.
            room = np.zeros((max(rows, len(self._room) * 5 // 4), self.dimension), dtype=np.float32)
            room[: self._count] = self._room[: self._count]
            self._room = room
