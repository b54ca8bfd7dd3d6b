"""The embedded store of one repository: parsed records, passages, words, vectors and published snapshots."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seed.embed.identity import Identity
from seed.errors import StoreError
from seed.snapshot import Cut, Snapshot
from seed.store import inspect, snapshots, vectors, words
from seed.store.database import guarded, open_disposable, open_reading, set_aside, writing
from seed.store.engine import Collected, Index
from seed.store.lock import exclusive
from seed.store.parsed import Document, Stored, Unseen, from_json, to_json
from seed.text import word_count

_SET_ASIDE_SECONDS = 10.0
_LOG_PAGES = 4000
"""16 MB, some seedings of a large repository. When the log is copied decides what a loss of power costs, never what a
killed process does; the store is made from Git, and a vector's file is durable before the log names it."""
Loaded = tuple[Snapshot, NDArray[np.uint32]]
KEEP_SNAPSHOTS = 24
"""Older snapshots are dropped when a new one is published: Git can always give them back."""


class Store:
    """One repository's store in one folder. Readers never wait; writers hold the seeding lock (seed.store.lock)."""

    name = "sqlite"

    def __init__(self, folder: Path, *, reading: bool = False) -> None:
        """Open the store, made at the first use; with ``reading`` as it stands, which must be there already."""
        self.folder = folder
        self.path = folder / "store.db"
        self._loaded: dict[tuple[str, float], Loaded] = {}
        if reading:
            self.database = open_reading(self.path)
        else:
            self._open()

    def _open(self) -> None:
        self._loaded.clear()
        self.database = open_disposable(self.path)
        self.database.execute(f"PRAGMA wal_autocheckpoint={_LOG_PAGES}")
        self._file = self.path.stat().st_ino

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    def start_anew(self) -> None:
        """Set a damaged file aside and open an empty one, unless another process has done so. Raises `StoreError`."""
        self.close()
        with exclusive(self.lock_path, _SET_ASIDE_SECONDS):
            if self.path.exists() and self.path.stat().st_ino == self._file:
                set_aside(self.path)
            self._open()

    @property
    def lock_path(self) -> Path:
        """Return the file that a seeding process locks."""
        return self.folder / "seeding.lock"

    def exclusive(self, timeout: float) -> AbstractContextManager[None]:
        """Hold the seeding lock for the block, waiting at most ``timeout`` seconds."""
        return exclusive(self.lock_path, timeout)

    # --- parsed records -------------------------------------------------------------------------------------

    @guarded
    def stored(self, oids: Sequence[str], version: str) -> dict[str, Stored]:
        """Return what is known of each blob under this parser and projection ``version``."""
        found: dict[str, Stored] = {}
        for at in range(0, len(oids), 500):
            part = oids[at : at + 500]
            marks = ",".join("?" * len(part))
            query = f"SELECT oid, parsed FROM blobs WHERE version = ? AND oid IN ({marks})"  # noqa: S608 - only question marks
            for oid, parsed in self.database.execute(query, (version, *part)):
                found[oid] = from_json(parsed)
        return found

    @guarded
    def add(self, unseen: Iterable[Unseen], version: str) -> None:
        """Store parsed blobs with their passages and words, in one transaction."""
        with writing(self.database):
            documents: dict[int, Counter[str]] = {}
            for item in unseen:
                parsed = to_json(item, partial(self._document, documents))
                self.database.execute("INSERT OR REPLACE INTO blobs VALUES (?, ?, ?)", (item.oid, version, parsed))
            words.add_segment(self.database, documents)

    def _document(self, documents: dict[int, Counter[str]], document: Document) -> int:
        row = self.database.execute("SELECT pid FROM passages WHERE sha = ?", (document.sha,)).fetchone()
        if row:
            return int(row[0])
        values = (document.sha, word_count(document.terms), document.skip, document.text)
        pid = self.database.execute(
            "INSERT INTO passages (sha, length, skip, text) VALUES (?, ?, ?, ?)", values
        ).lastrowid
        documents[int(pid or 0)] = document.terms
        return int(pid or 0)

    def cuts(self, oid: str, version: str) -> tuple[Cut, ...]:
        """Return the passages of one blob."""
        found = self.stored([oid], version)
        return found[oid].cuts if oid in found else ()

    @guarded
    def texts(self, pids: Iterable[int]) -> dict[int, tuple[bytes, str, int]]:
        """Return (sha256, embedded text, characters of title and section in front) of each passage."""
        wanted = [int(pid) for pid in pids]
        found: dict[int, tuple[bytes, str, int]] = {}
        for at in range(0, len(wanted), 500):
            part = wanted[at : at + 500]
            marks = ",".join("?" * len(part))
            query = f"SELECT pid, sha, text, skip FROM passages WHERE pid IN ({marks})"  # noqa: S608 - only question marks
            found.update({pid: (sha, text, skip) for pid, sha, text, skip in self.database.execute(query, part)})
        return found

    @guarded
    def postings(self, term: str) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Return (document numbers, counts) of an index term."""
        return words.postings(self.database, term)

    def expect(self, terms: Iterable[str]) -> None:
        """Do nothing: a term costs some microseconds here."""

    # --- snapshots ------------------------------------------------------------------------------------------

    @guarded
    def publish(self, snapshot: Snapshot, lengths: NDArray[np.uint32]) -> None:
        """Make a snapshot readable, whole or not at all. ``lengths``: passages, then titles, (n + heads,)."""
        made = time.time()
        with writing(self.database):
            self.database.execute(
                "INSERT OR REPLACE INTO snapshots (key, commit_id, policy, heads, pids, owners, made)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*snapshots.encode(snapshot, lengths), made),
            )
            old = "SELECT key FROM snapshots ORDER BY number DESC LIMIT -1 OFFSET ?"
            for (key,) in self.database.execute(old, (KEEP_SNAPSHOTS,)).fetchall():
                self.database.execute("DELETE FROM snapshots WHERE key = ?", (key,))
                self.database.execute("DELETE FROM planes WHERE key = ?", (key,))
        self._hold((snapshot.key, made), (snapshot, lengths))

    @guarded
    def has(self, key: str) -> bool:
        """Tell whether a snapshot is published."""
        return self.database.execute("SELECT 1 FROM snapshots WHERE key = ?", (key,)).fetchone() is not None

    @guarded
    def load(self, key: str = "") -> Loaded | None:
        """Return a published snapshot with its document lengths; without a key, the newest one."""
        query = "SELECT key, made FROM snapshots "
        query += "WHERE key = ?" if key else "ORDER BY number DESC LIMIT 1"
        stamp = self.database.execute(query, (key,) if key else ()).fetchone()
        if stamp is None or stamp in self._loaded:
            return self._loaded.get(stamp)
        columns = "SELECT key, commit_id, policy, heads, pids, owners FROM snapshots WHERE key = ?"
        row = self.database.execute(columns, stamp[:1]).fetchone()
        return None if row is None else self._hold(stamp, snapshots.decode(row))

    def _hold(self, stamp: tuple[str, float], loaded: Loaded) -> Loaded:
        """Remember a snapshot: the one that answers and the one before it are asked for again and again."""
        self._loaded = {**dict([*self._loaded.items()][-1:]), stamp: loaded}
        return loaded

    def snapshots(self) -> list[tuple[str, str, float]]:
        """Return (key, commit, seconds since the epoch) of every snapshot, newest first."""
        return inspect.snapshots(self.database)

    @guarded
    def note(self, name: str, value: str = "") -> None:
        """Keep a short text under a name; an empty one is forgotten."""
        with writing(self.database):
            if value:
                self.database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))
            else:
                self.database.execute("DELETE FROM meta WHERE key = ?", (name,))

    @guarded
    def noted(self, name: str) -> str:
        """Return the text kept under a name, or ""."""
        row = self.database.execute("SELECT value FROM meta WHERE key = ?", (name,)).fetchone()
        return str(row[0]) if row else ""

    # --- vectors and floors ---------------------------------------------------------------------------------

    @guarded
    def register(self, identity: Identity) -> None:
        """Remember every part of an embedder identity, so that a mismatch can be named later."""
        row = self.database.execute("SELECT 1 FROM identities WHERE identity = ?", (identity.digest,)).fetchone()
        if row is None:
            with writing(self.database):
                values = (identity.digest, identity.to_json(), identity.dimension)
                self.database.execute("INSERT OR REPLACE INTO identities VALUES (?, ?, ?)", values)

    @guarded
    def heal(self, identity: Identity) -> None:
        """Forget the vectors that the file does not hold any more; the caller holds the seeding lock."""
        vectors.heal(self.database, self.folder, identity.digest, identity.dimension)

    @guarded
    def rows(self, identity: Identity, shas: Sequence[bytes]) -> dict[bytes, int]:
        """Return the row of each text (sha256) that has a vector."""
        return vectors.known(self.database, identity.digest, shas)

    def held(self, identity: Identity) -> int:
        """Return how many rows the file of an identity holds."""
        matrix = self.matrix(identity)
        return 0 if matrix is None else len(matrix)

    def read_vectors(self, identity: Identity, rows: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the vectors (n, dimension) of rows (n,)."""
        matrix = self.matrix(identity)
        return np.empty((0, identity.dimension), np.float32) if matrix is None else np.asarray(matrix[rows])

    @guarded
    def sound(self, identity: Identity) -> dict[bytes, NDArray[np.float32]]:
        """Return text's sha256 -> vector of all that match their checksum."""
        matrix = self.matrix(identity)
        if matrix is None:
            return {}
        bad = set(vectors.damaged(self.database, self.folder, identity.digest, identity.dimension))
        rows = vectors.every(self.database, identity.digest)
        return {sha: np.asarray(matrix[row]) for sha, row in rows.items() if sha not in bad}

    @guarded
    def add_vectors(self, identity: Identity, found: Mapping[bytes, NDArray[np.float32]]) -> None:
        """Store vectors durably; the caller holds the seeding lock."""
        vectors.append(self.database, self.folder, identity.digest, found)

    @guarded
    def generation(self) -> int:
        """Return how often the store was compacted: what was loaded under another one is of no use any more."""
        return vectors.generation(self.database)

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """Let all that is read in the block come from one state of the store, whoever writes meanwhile."""
        self.database.execute("BEGIN")
        try:
            yield
        finally:
            self.database.rollback()

    @guarded
    def matrix(self, identity: Identity) -> vectors.Matrix | None:
        """Return all vectors of an identity, memory-mapped, shape (rows, dimension)."""
        return vectors.open_matrix(self.folder, identity.digest, identity.dimension, self.generation())

    @guarded
    def save_plane(self, key: str, identity: Identity, rows: NDArray[np.int32]) -> None:
        """Publish which row holds each passage of a snapshot; -1 where the vector is still missing."""
        with writing(self.database):
            self.database.execute(
                "INSERT INTO planes (key, identity, rows) VALUES (?, ?, ?)"
                " ON CONFLICT DO UPDATE SET rows = excluded.rows, floors = '{}'",
                (key, identity.digest, rows.astype("<i4").tobytes()),
            )

    @guarded
    def plane(self, key: str, identity: Identity) -> tuple[NDArray[np.int32], dict[str, dict[str, object]]] | None:
        """Return (rows of the passages, floors computed while seeding) of a snapshot under an identity."""
        query = "SELECT rows, floors FROM planes WHERE key = ? AND identity = ?"
        row = self.database.execute(query, (key, identity.digest)).fetchone()
        return None if row is None else (np.frombuffer(row[0], dtype="<i4"), json.loads(row[1]))

    @guarded
    def save_floor(self, key: str, identity: Identity, on: str, floor: Mapping[str, object]) -> None:
        """Keep the floor that the shipped probes gave over a snapshot."""
        with writing(self.database):
            query = "SELECT floors FROM planes WHERE key = ? AND identity = ?"
            row = self.database.execute(query, (key, identity.digest)).fetchone()
            if row is not None:
                floors = json.dumps({**json.loads(row[0]), on: dict(floor)})
                self.database.execute(
                    "UPDATE planes SET floors = ? WHERE key = ? AND identity = ?",
                    (floors, key, identity.digest),
                )

    def prepare(self, identity: Identity) -> None:
        """Do nothing: vectors lie in a file that is mapped into memory, and all of them are compared."""

    def index(self, key: str, identity: Identity, count: int) -> Index | None:  # noqa: ARG002 - the Protocol's
        """Return None: all vectors are compared."""
        return None

    def collect(
        self, keep: Sequence[str], spare: Iterable[bytes] = (), beside: Collection[str] = (), *, dry_run: bool = False
    ) -> Collected:
        """Drop what the snapshots ``keep`` do not refer to (see `seed.store.collect`); holds the seeding lock."""
        from seed.store.collect import collect

        return collect(self, keep, spare, beside, dry_run=dry_run)


def open_store(folder: Path) -> Store:
    """Open a store, for reading alone where the disk takes no writing. Raises `StoreError`."""
    try:
        return Store(folder)
    except StoreError:
        path = folder / "store.db"
        if not path.is_file() or not path.stat().st_size:  # the disk took its name and nothing of it
            raise
        return Store(folder, reading=True)
