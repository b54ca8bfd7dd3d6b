"""The words index in PostgreSQL: a seeding adds one segment of postings, and many small segments become one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from seed.store.postgres.binary import integers
from seed.store.postgres.server import Connection

MAX_SEGMENTS = 16
"""Fewer than the embedded engine keeps: a row costs more here, and so does reading many."""
_CAP = 255
_SHARE = 4
Key = tuple[str, str]
Postings = tuple[NDArray[np.uint32], NDArray[np.uint8]]


def plain(term: str) -> str:
    """Return a term as PostgreSQL can hold it: its text has no U+0000."""
    return term.replace("\0", "\ufffd")


def add_segment(connection: Connection, key: Key, documents: Mapping[int, Counter[str]]) -> None:
    """Add the postings of new documents as one segment; runs inside the caller's transaction."""
    terms: list[str] = []
    pids: list[int] = []
    counts: list[int] = []
    for pid, found in documents.items():
        for term, count in found.items():
            terms.append(plain(term))
            pids.append(pid)
            counts.append(min(count, _CAP))
    if not terms:
        return
    row = connection.execute(
        "UPDATE sidecar.repositories SET segments = segments + 1 WHERE workspace = %s AND repository = %s"
        " RETURNING segments",
        key,
    ).fetchone()
    segment = int(row[0]) if row else 1
    connection.execute(
        "INSERT INTO sidecar.postings (workspace, repository, term, segment, pids, counts)"
        " SELECT %s, %s, term, %s, array_agg(pid ORDER BY pid), array_agg(n ORDER BY pid)"
        " FROM (SELECT term, pid, LEAST(sum(n), 255)::int2 AS n"
        " FROM unnest(%s::text[], %s::int4[], %s::int2[]) AS t (term, pid, n) GROUP BY term, pid) AS one GROUP BY term",
        (*key, segment, terms, pids, counts),
    )
    _merge_small(connection, key, segment)


def _merge_small(connection: Connection, key: Key, newest: int) -> None:
    """Merge the small segments once there are many: all of them when together they weigh as much as the large ones."""
    where = "FROM sidecar.postings WHERE workspace = %s AND repository = %s"
    count = connection.execute(f"SELECT count(DISTINCT segment) {where}", key).fetchone() if newest % 8 == 0 else None
    if count is None or count[0] <= MAX_SEGMENTS:
        return
    sizes = connection.execute(
        f"SELECT segment, sum(cardinality(pids)) {where} GROUP BY segment ORDER BY 2 DESC",
        key,
    ).fetchall()
    connection.execute("SET LOCAL statement_timeout = 0")  # a large repository's words take longer than an answer may
    largest, rest = sizes[0], sum(size for _, size in sizes[1:])
    keep = -1 if rest * _SHARE >= largest[1] else largest[0]
    merge(connection, key, newest + 1, keep)


def merge(connection: Connection, key: Key, into: int, keep: int = -1, only: NDArray[np.uint32] | None = None) -> None:
    """Join all segments but ``keep`` into the new one ``into``; with ``only`` (pids) drop every other document."""
    these = "workspace = %s AND repository = %s AND segment < %s AND segment <> %s"
    chosen = "t.pid = ANY(%s::int4[])" if only is not None else "%s::int4[] IS NULL"
    pids = only.tolist() if only is not None else None
    connection.execute(
        "INSERT INTO sidecar.postings (workspace, repository, term, segment, pids, counts)"
        " SELECT %s, %s, p.term, %s, array_agg(t.pid ORDER BY t.pid), array_agg(t.n ORDER BY t.pid)"
        f" FROM sidecar.postings p, unnest(p.pids, p.counts) AS t (pid, n) WHERE {chosen} AND {these} GROUP BY p.term",
        (*key, into, pids, *key, into, keep),
    )
    connection.execute(f"DELETE FROM sidecar.postings WHERE {these}", (*key, into, keep))
    connection.execute(
        "UPDATE sidecar.repositories SET segments = %s WHERE workspace = %s AND repository = %s", (into, *key)
    )


def postings(connection: Connection, key: Key, terms: Sequence[str]) -> dict[str, Postings]:
    """Return (document numbers, counts) of terms over every document of the repository."""
    with connection.cursor(binary=True) as cursor:
        rows = cursor.execute(
            "SELECT term, array_send(pids), array_send(counts) FROM sidecar.postings"
            " WHERE workspace = %s AND repository = %s AND term = ANY(%s) ORDER BY segment",
            (*key, [plain(term) for term in terms]),
        ).fetchall()
    found: dict[str, list[tuple[bytes, bytes]]] = {}
    for term, pids, counts in rows:
        found.setdefault(term, []).append((pids, counts))
    return {term: _joined(found.get(plain(term), [])) for term in terms}


def _joined(parts: Sequence[tuple[bytes, bytes]]) -> Postings:
    if not parts:
        return np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.uint8)
    pids = np.concatenate([integers(pids, ">i4") for pids, _ in parts]).astype(np.uint32)
    return pids, np.concatenate([integers(counts, ">i2") for _, counts in parts]).astype(np.uint8)
