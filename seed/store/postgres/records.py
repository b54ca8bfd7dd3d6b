"""Parsed records, words and snapshots of one repository in PostgreSQL."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from seed.errors import DamagedStoreError
from seed.snapshot import Cut, Snapshot
from seed.store import parsed, snapshots
from seed.store.parsed import Document, Stored, Unseen
from seed.store.postgres import clearing, words
from seed.store.postgres.binary import members
from seed.store.postgres.connect import Database
from seed.store.postgres.server import Connection
from seed.store.postgres.statistics import grown
from seed.text import word_count

KEEP_SNAPSHOTS = 200
"""Older snapshots are dropped when a new one is published: many machines stand on many branches here."""
MINE = "workspace = %s AND repository = %s"
T = TypeVar("T")


class Records:
    """What a repository's files were parsed into, and the snapshots they make up."""

    def __init__(self, database: Database, repository: str) -> None:
        self.database = database
        self.key = (database.workspace, repository)
        self._words: dict[str, words.Postings] = {}
        self._cuts: dict[tuple[str, str], tuple[Cut, ...]] = {}

    # --- parsed records and words ---------------------------------------------------------------------------

    def stored(self, oids: Sequence[str], version: str) -> dict[str, Stored]:
        """Return what is known of each blob under this parser and projection ``version``."""
        query = f"SELECT oid, parsed FROM sidecar.blobs WHERE {MINE} AND version = %s AND oid = ANY(%s)"
        values = (*self.key, version, list(oids))
        found = self.database.found(lambda c: c.execute(query, values).fetchall(), lambda rows: len(rows) == len(oids))
        return decoded(lambda: {oid: parsed.from_json(text) for oid, text in found})

    def add(self, unseen: Iterable[Unseen], version: str) -> None:
        """Store parsed blobs with their passages and words, in one transaction."""
        items = list(unseen)
        self._words, self._cuts = {}, {}
        self.database.write(lambda connection: self._add(connection, items, version))

    def _add(self, connection: Connection, items: Sequence[Unseen], version: str) -> None:
        # The repository's row is the lock under which passages are numbered, so that two writers never number alike.
        self._locked(connection)
        wanted = {document.sha: document for item in items for document in parsed.documents(item)}
        query = f"SELECT sha, pid FROM sidecar.passages WHERE {MINE} AND sha = ANY(%b::bytea[])"
        pids = {bytes(sha): pid for sha, pid in connection.execute(query, (*self.key, list(wanted)))}
        new = [document for sha, document in wanted.items() if sha not in pids]
        pids |= self._number(connection, new)
        index: dict[int, Counter[str]] = {pids[document.sha]: document.terms for document in new}
        words.add_segment(connection, self.key, index)
        texts = [parsed.to_json(item, lambda document: pids[document.sha]) for item in items]
        connection.execute(
            "INSERT INTO sidecar.blobs (workspace, repository, oid, version, parsed)"
            " SELECT %s, %s, oid, %s, parsed FROM unnest(%b::text[], %b::text[]) AS t (oid, parsed)"
            " ON CONFLICT DO NOTHING",
            (*self.key, version, [item.oid for item in items], texts),
        )

    def _locked(self, connection: Connection) -> None:
        query = f"SELECT 1 FROM sidecar.repositories WHERE {MINE} FOR UPDATE"
        if connection.execute(query, self.key).fetchone() is None:
            insert = "INSERT INTO sidecar.repositories (workspace, repository) VALUES (%s, %s) ON CONFLICT DO NOTHING"
            connection.execute(insert, self.key)
            connection.execute(query, self.key)

    def _number(self, connection: Connection, new: Sequence[Document]) -> dict[bytes, int]:
        update = f"UPDATE sidecar.repositories SET next_pid = next_pid + %s WHERE {MINE} RETURNING next_pid"
        row = connection.execute(update, (len(new), *self.key)).fetchone()
        first = int(row[0]) - len(new) if row else 1
        found = {document.sha: first + n for n, document in enumerate(new)}
        connection.execute(
            "INSERT INTO sidecar.passages (workspace, repository, pid, sha, length, skip, text)"
            " SELECT %s, %s, t.* FROM unnest(%b::int4[], %b::bytea[], %b::int4[], %b::int4[], %b::bytea[]) AS t",
            (
                *self.key,
                list(found.values()),
                list(found),
                [word_count(document.terms) for document in new],
                [document.skip for document in new],
                [document.text.encode("utf-8", "surrogatepass") for document in new],
            ),
        )
        grown(connection, "passages", "workspace, repository, sha, pid", first, first + len(new))
        return found

    def cuts(self, oid: str, version: str) -> tuple[Cut, ...]:
        """Return the passages of one blob."""
        if (oid, version) not in self._cuts:
            found = self.stored([oid], version)
            if oid not in found:
                return ()
            self._cuts[oid, version] = found[oid].cuts
        return self._cuts[oid, version]

    def texts(self, pids: Iterable[int]) -> dict[int, tuple[bytes, str, int]]:
        """Return (sha256, embedded text, characters of title and section in front) of each passage."""
        wanted = sorted({int(pid) for pid in pids})
        query = f"SELECT pid, sha, text, skip FROM sidecar.passages WHERE {MINE} AND pid = ANY(%s)"
        values = (*self.key, wanted)
        rows = self.database.found(
            lambda c: c.execute(query, values, binary=True).fetchall(), lambda found: len(found) == len(wanted)
        )
        return {pid: (bytes(sha), bytes(text).decode("utf-8", "surrogatepass"), skip) for pid, sha, text, skip in rows}

    def postings(self, term: str) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Return (document numbers, counts) of an index term."""
        if term not in self._words:
            self.expect((term,))
        return self._words[term]

    def expect(self, terms: Iterable[str]) -> None:
        """Fetch the postings of terms in one go; they hold until another snapshot is loaded or files are added."""
        new = [term for term in dict.fromkeys(terms) if term not in self._words]
        if new:
            self._words |= self.database.read(lambda connection: words.postings(connection, self.key, new))

    # --- snapshots and notes --------------------------------------------------------------------------------

    def publish(self, snapshot: Snapshot, lengths: NDArray[np.uint32]) -> None:
        """Make a snapshot readable, whole or not at all. ``lengths``: passages, then titles, (n + heads,)."""
        row = snapshots.encode(snapshot, lengths)

        def work(connection: Connection) -> None:
            self._locked(connection)
            mine = f"DELETE FROM sidecar.snapshots WHERE {MINE}"
            connection.execute(f"{mine} AND key = %s", (*self.key, snapshot.key))
            connection.execute(
                "INSERT INTO sidecar.snapshots (workspace, repository, key, commit_id, policy, heads, pids, owners,"
                " members, made, number)"
                " SELECT %s, %s, %s, %s, %s, %s, %s, %s, %s, clock_timestamp(), COALESCE(max(number), 0) + 1"
                f" FROM sidecar.snapshots WHERE {MINE}",
                (*self.key, *row, members(np.concatenate([snapshot.pids, snapshot.titles])), *self.key),
            )
            clearing.drop_older(connection, self.key, KEEP_SNAPSHOTS)

        self.database.write(work)

    def has(self, key: str) -> bool:
        """Tell whether a snapshot is published."""
        query = f"SELECT 1 FROM sidecar.snapshots WHERE {MINE} AND key = %s"
        return bool(self.database.read(lambda c: c.execute(query, (*self.key, key)).fetchone(), fresh=True))

    def load(self, key: str = "") -> tuple[Snapshot, NDArray[np.uint32]] | None:
        """Return a published snapshot with its document lengths; without a key, the newest one."""
        self._words, self._cuts = {}, {}  # what was read before may lack documents of this one
        query = f"SELECT key, commit_id, policy, heads, pids, owners FROM sidecar.snapshots WHERE {MINE} " + (
            "AND key = %s" if key else "ORDER BY number DESC LIMIT 1"
        )
        values = (*self.key, key) if key else self.key
        row = self.database.found(lambda c: c.execute(query, values, binary=True).fetchone(), bool)
        return None if row is None else decoded(lambda: snapshots.decode((*row[:3], *map(bytes, row[3:]))))

    def snapshots(self) -> list[tuple[str, str, float]]:
        """Return (key, commit, seconds since the epoch) of every snapshot, newest first."""
        query = f"SELECT key, commit_id, made FROM sidecar.snapshots WHERE {MINE} ORDER BY number DESC"
        rows = self.database.read(lambda c: c.execute(query, self.key).fetchall(), fresh=True)
        return [(key, commit, made.timestamp()) for key, commit, made in rows]


def decoded(work: Callable[[], T]) -> T:
    """Return what ``work`` decodes from a row. Raises `DamagedStoreError` where it is not what was written."""
    try:
        return work()
    except (zlib.error, json.JSONDecodeError, UnicodeDecodeError) as exc:
        raise DamagedStoreError(f"the store is damaged: {exc}", "it is made again from Git") from None
