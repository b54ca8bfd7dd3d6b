"""Drop from a repository's rows what no snapshot refers to, for every machine that stands on one of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from seed.store import parsed, snapshots
from seed.store.engine import Collected, Spare
from seed.store.postgres import words
from seed.store.postgres.binary import members
from seed.store.postgres.server import Connection

Key = tuple[str, str]
MINE = "workspace = %s AND repository = %s"
UNHURRIED = "SET LOCAL statement_timeout = 0"
"""For a transaction that goes through all of a repository: however large it is, it comes to an end."""
HEADS = "head:"
"""Notes of this prefix name the snapshot that a worktree of some machine stands on."""
_HEADS_DAYS = 90
_DISPOSABLE = ("snapshots", "planes", "blobs", "postings", "passages")


def drop_older(connection: Connection, key: Key, count: int) -> None:
    """Drop all but the newest ``count`` snapshots."""
    query = f"SELECT key FROM sidecar.snapshots WHERE {MINE} ORDER BY number DESC OFFSET %s"
    _drop(connection, key, [row[0] for row in connection.execute(query, (*key, count))])


def _drop(connection: Connection, key: Key, keys: Sequence[str]) -> None:
    if keys:
        for table in ("snapshots", "planes"):
            connection.execute(f"DELETE FROM sidecar.{table} WHERE {MINE} AND key = ANY(%s)", (*key, list(keys)))
        names = [f"missing:{one}" for one in keys]
        connection.execute(f"DELETE FROM sidecar.notes WHERE {MINE} AND name = ANY(%s)", (*key, names))


def clear(connection: Connection, key: Key) -> None:
    """Drop all that can be parsed again, and vectors that have not length 1; receipts and notes stay."""
    # First what whoever adds words locks, so that none come in between the two.
    connection.execute(f"UPDATE sidecar.repositories SET sizes = '{{}}' WHERE {MINE}", key)
    for table in _DISPOSABLE:
        connection.execute(f"DELETE FROM sidecar.{table} WHERE {MINE}", key)
    connection.execute(f"DELETE FROM sidecar.vectors WHERE {MINE} AND abs(vector_norm(v) - 1) > 0.01", key)
    _next(connection, key)


def _next(connection: Connection, key: Key) -> None:
    connection.execute(f"UPDATE sidecar.repositories SET generation = generation + 1 WHERE {MINE}", key)


def collect(connection: Connection, key: Key, keep: Sequence[str], spare: Spare, *, dry_run: bool) -> Collected:
    """Keep the snapshots ``keep``, those that machines stand on, and what they refer to; see `Engine.collect`."""
    connection.execute(UNHURRIED)
    kept = set(keep) | _stood_on(connection, key)
    rows = connection.execute(f"SELECT key, heads, pids, owners FROM sidecar.snapshots WHERE {MINE}", key)
    dropped, parts = [], [np.empty(0, dtype=np.uint32)]
    for name, *packed in rows:
        if name in kept:
            parts += snapshots.documents(*packed)
        else:
            dropped.append(name)
    documents = np.unique(np.concatenate(parts))
    blobs, passages, loose = _loose(connection, key, documents, kept, spare)
    before = _size(connection, key)
    counts = (len(dropped), len(blobs), len(passages), len(loose))
    if dry_run or not any(counts):
        return Collected(*counts, before, before)
    _drop(connection, key, dropped)
    connection.execute(
        f"DELETE FROM sidecar.blobs WHERE {MINE} AND (oid, version) IN (SELECT * FROM unnest(%s::text[], %s::text[]))",
        (*key, [oid for oid, _ in blobs], [version for _, version in blobs]),
    )
    connection.execute(f"DELETE FROM sidecar.passages WHERE {MINE} AND pid = ANY(%s)", (*key, passages))
    words.keep(connection, key, documents)
    _close_gaps(connection, key, loose)
    _next(connection, key)
    return Collected(*counts, before, _size(connection, key))


def _stood_on(connection: Connection, key: Key) -> set[str]:
    query = (
        f"SELECT value FROM sidecar.notes WHERE {MINE} AND name LIKE %s"
        f" AND made > now() - interval '{_HEADS_DAYS} days'"
    )
    return {row[0] for row in connection.execute(query, (*key, f"{HEADS}%"))}


def _loose(
    connection: Connection, key: Key, documents: NDArray[np.uint32], kept: set[str], spare: Spare
) -> tuple[list[tuple[str, str]], list[int], list[tuple[str, bytes]]]:
    """Return the blobs, passages and vectors that ``documents`` and ``spare`` do not name."""
    held = set(documents.tolist())
    blobs = [
        (oid, version)
        for oid, version, text in connection.execute(
            f"SELECT oid, version, parsed FROM sidecar.blobs WHERE {MINE}",
            key,
        )
        if not parsed.numbers(text) <= held
    ]
    rows = connection.execute(f"SELECT pid, sha FROM sidecar.passages WHERE {MINE}", key).fetchall()
    wanted = {bytes(sha) for pid, sha in rows if pid in held} | set(spare[0])
    used = {
        identity
        for name, identity in connection.execute(f"SELECT key, identity FROM sidecar.planes WHERE {MINE}", key)
        if name in kept
    }
    every = connection.execute(f"SELECT identity, sha FROM sidecar.vectors WHERE {MINE}", key)
    loose = [
        (name, bytes(sha))
        for name, sha in every
        if (bytes(sha) not in wanted or name not in used) and name not in spare[1]
    ]
    return blobs, [pid for pid, _ in rows if pid not in held], loose


def _close_gaps(connection: Connection, key: Key, loose: Sequence[tuple[str, bytes]]) -> None:
    """Drop vectors, number the rest without gaps, and let the planes count anew."""
    connection.execute(
        f"DELETE FROM sidecar.vectors WHERE {MINE} AND (identity, sha) IN"
        " (SELECT * FROM unnest(%s::text[], %s::bytea[]))",
        (*key, [name for name, _ in loose], [sha for _, sha in loose]),
    )
    for name in {name for name, _ in loose}:
        query = f"SELECT row FROM sidecar.vectors WHERE {MINE} AND identity = %s ORDER BY row"
        moved = {row[0]: n for n, row in enumerate(connection.execute(query, (*key, name)).fetchall())}
        # In ascending order a new number is never above the old one, but keys are checked row by row: so in two steps.
        for sign in ("-t.new - 1", "t.new"):
            old = "t.old" if sign != "t.new" else "-t.new - 1"
            connection.execute(
                f"UPDATE sidecar.vectors v SET row = {sign} FROM unnest(%s::int4[], %s::int4[]) AS t (old, new)"
                f" WHERE v.workspace = %s AND v.repository = %s AND v.identity = %s AND v.row = {old}",
                (list(moved), list(moved.values()), *key, name),
            )
        connection.execute(
            f"UPDATE sidecar.identities SET next_row = %s WHERE {MINE} AND identity = %s",
            (len(moved), *key, name),
        )
        _renumber(connection, key, name, moved)


def _renumber(connection: Connection, key: Key, name: str, moved: dict[int, int]) -> None:
    query = f"SELECT key, rows FROM sidecar.planes WHERE {MINE} AND identity = %s"
    for plane, data in connection.execute(query, (*key, name)).fetchall():
        rows = np.array([moved.get(row, -1) for row in np.frombuffer(data, dtype="<i4").tolist()], dtype=np.int32)
        connection.execute(
            f"UPDATE sidecar.planes SET rows = %s, members = %s WHERE {MINE} AND key = %s AND identity = %s",
            (rows.astype("<i4").tobytes(), members(rows), *key, plane, name),
        )


def _size(connection: Connection, key: Key) -> int:
    """Return the bytes of a repository's rows, without indexes."""
    tables = ("blobs", "passages", "postings", "vectors", "snapshots", "planes")
    each = " + ".join(
        f"(SELECT COALESCE(sum(pg_column_size(t.*)), 0) FROM sidecar.{name} t WHERE {MINE})" for name in tables
    )
    row = connection.execute(f"SELECT {each}", key * len(tables)).fetchone()
    return int(row[0]) if row else 0
