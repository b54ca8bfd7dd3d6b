"""The store of one repository in PostgreSQL: the same snapshots, words and vectors as the embedded one."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psycopg
from numpy.typing import NDArray

from seed.embed.identity import Identity
from seed.store.engine import Collected, Index, Plane, Vectors
from seed.store.paths import private_folder
from seed.store.postgres import clearing, lock, near, vectors
from seed.store.postgres.binary import members
from seed.store.postgres.connect import Database
from seed.store.postgres.records import MINE, Records, decoded
from seed.store.postgres.server import Connection

_OF = f"{MINE} AND identity = %s"


class PostgresStore(Records):
    """One repository's rows. Readers never wait; writers hold an advisory lock of the repository.

    ``repository`` is a name that is the same on every machine; ``folder`` is this machine's own.
    """

    name = "postgresql"

    def __init__(self, database: Database, repository: str, folder: Path) -> None:
        super().__init__(database, repository)
        self.folder = private_folder(folder)
        self._read: dict[str, vectors.Read] = {}
        self._timeline = 0
        self._seen = self.generation()

    def close(self) -> None:
        """Close the connections."""
        self.database.close()

    def start_anew(self) -> None:
        """Drop what cannot be trusted, unless another process has done so: Git has it all. Receipts stay."""
        seen = self._seen
        with self.exclusive(60.0):
            if seen in (self.generation(), self._timeline):  # the latter: there was nothing yet
                self.database.write(lambda connection: clearing.clear(connection, self.key))
        self._read.clear()
        self._words, self._cuts = {}, {}
        self.generation()

    @contextmanager
    def exclusive(self, timeout: float) -> Iterator[None]:
        """Hold the repository's advisory lock; all of the block goes over the connection that holds it."""
        with (
            self.database.borrowed() as connection,
            lock.held(connection, self.key, timeout, self.database.primary),
            self.database.pinned(connection),
        ):
            yield

    # --- notes ----------------------------------------------------------------------------------------------

    def note(self, name: str, value: str = "") -> None:
        """Keep a short text under a name; an empty one is forgotten."""

        def work(connection: Connection) -> None:
            connection.execute(f"DELETE FROM sidecar.notes WHERE {MINE} AND name = %s", (*self.key, name))
            if value:
                insert = "INSERT INTO sidecar.notes (workspace, repository, name, value) VALUES (%s, %s, %s, %s)"
                connection.execute(f"{insert} ON CONFLICT DO NOTHING", (*self.key, name, value))

        self.database.write(work)

    def noted(self, name: str) -> str:
        """Return the text kept under a name, or ""."""
        query = f"SELECT value FROM sidecar.notes WHERE {MINE} AND name = %s"
        row = self.database.read(lambda c: c.execute(query, (*self.key, name)).fetchone(), fresh=True)
        return str(row[0]) if row else ""

    # --- vectors and floors ---------------------------------------------------------------------------------

    def register(self, identity: Identity) -> None:
        """Remember every part of an embedder identity, so that a mismatch can be named later."""
        query = f"SELECT 1 FROM sidecar.identities WHERE {_OF}"
        values = (*self.key, identity.digest)
        if self.database.read(lambda c: c.execute(query, values).fetchone(), fresh=True) is None:
            insert = (
                "INSERT INTO sidecar.identities (workspace, repository, identity, parts, dimension)"
                " VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING"
            )
            self.database.write(lambda c: c.execute(insert, (*values, identity.to_json(), identity.dimension)))

    def heal(self, identity: Identity) -> None:
        """Do nothing: a row that is named is there, both come with one transaction."""

    def rows(self, identity: Identity, shas: Sequence[bytes]) -> dict[bytes, int]:
        """Return the row of each text (sha256) that has a vector."""
        return self.database.found(
            lambda connection: vectors.known(connection, self.key, identity.digest, shas),
            lambda found: len(found) == len(set(shas)),
        )

    def held(self, identity: Identity) -> int:
        """Return how many rows were ever given out in this generation: each is there, since both came together."""
        query = f"SELECT next_row FROM sidecar.identities WHERE {_OF}"
        row = self.database.read(lambda c: c.execute(query, (*self.key, identity.digest)).fetchone(), fresh=True)
        return int(row[0]) if row else 0

    def add_vectors(self, identity: Identity, found: Mapping[bytes, Vectors]) -> None:
        """Store vectors durably; one that is there already stays."""
        if found:
            self.database.write(lambda connection: vectors.add(connection, self.key, identity, found))

    def generation(self) -> int:
        """Return a number that changes when rows do: after a collection, and when another server became the primary.

        What was loaded from a primary that is gone may be more than its successor has, so it is loaded again.
        """
        found, timeline = self.database.read(self._generation, fresh=True)
        self._timeline = timeline or self._timeline  # a replica cannot tell
        self._seen = found * 1_000_003 + self._timeline
        return self._seen

    def _generation(self, connection: Connection) -> tuple[int, int]:
        row = connection.execute(
            "SELECT CASE WHEN pg_is_in_recovery() THEN NULL ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"
            f" END, (SELECT generation FROM sidecar.repositories WHERE {MINE})",
            self.key,
        ).fetchone()
        return (int(row[1] or 0), int(row[0] or "0", 16)) if row else (0, 0)

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """Let all that is read in the block come from one state of the store, whoever writes meanwhile."""
        with self.database.borrowed(fresh=False) as connection, self.database.pinned(connection):
            try:
                connection.execute("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            except psycopg.OperationalError as exc:
                raise self.database.lent.unreachable(exc) from None
            try:
                yield
            finally:
                if not connection.closed:
                    connection.rollback()

    def matrix(self, identity: Identity) -> Vectors | None:
        """Return all vectors of an identity by row, shape (rows, dimension); only new ones are fetched."""
        read = self._read.setdefault(identity.digest, vectors.Read(identity.dimension))

        def work(connection: Connection) -> Vectors:
            generation, _ = self._generation(connection)
            return read.upto(connection, self.key, identity.digest, generation)

        found = self.database.read(work)
        return found if len(found) else None

    def read_vectors(self, identity: Identity, rows: NDArray[np.int32]) -> Vectors:
        """Return the vectors (n, dimension) of rows (n,)."""
        return self.database.found(
            lambda c: vectors.some(c, self.key, identity, rows), lambda found: len(found) == len(rows)
        )

    def sound(self, identity: Identity) -> dict[bytes, Vectors]:
        """Return text's sha256 -> vector of all vectors: the server watches over its pages."""
        with self.one_state():
            matrix = self.matrix(identity)
            query = f"SELECT sha, row FROM sidecar.vectors WHERE {_OF}"
            rows = self.database.read(lambda c: c.execute(query, (*self.key, identity.digest)).fetchall())
        return {} if matrix is None else {bytes(sha): matrix[row] for sha, row in rows}

    def save_plane(self, key: str, identity: Identity, rows: NDArray[np.int32]) -> None:
        """Publish which row holds each passage of a snapshot; -1 where the vector is still missing."""
        values = (*self.key, key, identity.digest)

        def work(connection: Connection) -> None:
            connection.execute(f"DELETE FROM sidecar.planes WHERE {MINE} AND key = %s AND identity = %s", values)
            connection.execute(
                "INSERT INTO sidecar.planes (workspace, repository, key, identity, rows, members)"
                " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                (*values, rows.astype("<i4").tobytes(), members(rows)),
            )

        self.database.write(work)

    def plane(self, key: str, identity: Identity) -> Plane | None:
        """Return (rows of the passages, floors computed while seeding) of a snapshot under an identity."""
        query = f"SELECT rows, floors FROM sidecar.planes WHERE {MINE} AND key = %s AND identity = %s"
        values = (*self.key, key, identity.digest)

        def work(connection: Connection) -> Plane | None:
            row = connection.execute(query, values, binary=True).fetchone()
            return None if row is None else decoded(lambda: (np.frombuffer(row[0], "<i4"), json.loads(row[1])))

        return self.database.found(work, lambda plane: plane is not None and bool((plane[0] >= 0).all()))

    def save_floor(self, key: str, identity: Identity, on: str, floor: Mapping[str, object]) -> None:
        """Keep the floor that the shipped probes gave over a snapshot."""
        of = f"{MINE} AND key = %s AND identity = %s"
        values = (*self.key, key, identity.digest)

        def work(connection: Connection) -> None:
            row = connection.execute(f"SELECT floors FROM sidecar.planes WHERE {of} FOR UPDATE", values).fetchone()
            if row is not None:
                floors = json.dumps({**json.loads(row[0]), on: dict(floor)})
                connection.execute(f"UPDATE sidecar.planes SET floors = %s WHERE {of}", (floors, *values))

        self.database.write(work)

    # --- searching a large repository -----------------------------------------------------------------------

    def prepare(self, identity: Identity) -> None:
        """Build the index of an identity that has many vectors, where this role may; others go on meanwhile."""
        if self.held(identity) >= near.EXACT_ROWS:
            with self.database.borrowed() as connection:
                near.build(connection, self.key, identity, self.database.primary)

    def index(self, key: str, identity: Identity, count: int) -> Index | None:
        """Return what searches a snapshot of ``count`` passages by an index; None where there is none or no need."""
        if count < near.EXACT_ROWS or not self.database.read(lambda c: near.valid(c, self.key, identity)):
            return None
        return near.Near(self.database, self.key, key, identity)

    # --- housekeeping ---------------------------------------------------------------------------------------

    def collect(
        self, keep: Sequence[str], spare: Iterable[bytes] = (), beside: Collection[str] = (), *, dry_run: bool = False
    ) -> Collected:
        """Keep the snapshots ``keep`` and those that any machine stands on, and what they refer to."""
        return self.database.write(
            lambda connection: clearing.collect(connection, self.key, keep, (set(spare), beside), dry_run=dry_run)
        )
