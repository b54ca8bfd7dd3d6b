"""The words index: immutable segments of postings, whose statistics are always those of the snapshot asked.

A posting list is one blob of little-endian uint32 document numbers followed by uint8 term counts (at most 255).
A seeding adds one small segment; when there are many, they are merged, as in log-structured indexes.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

MAX_SEGMENTS = 48
_LARGE = 4
"""The first segment is left alone while it is this much larger than all later ones together."""
_SEGMENTS = "SELECT term, data FROM postings WHERE segment > ? ORDER BY term, segment"
_WIDTH = 5  # 4 bytes of document number, 1 of count


def pack(documents: Sequence[int], counts: Sequence[int]) -> bytes:
    """Return one posting list as bytes."""
    capped = np.minimum(np.asarray(counts, dtype=np.int64), 255).astype("u1")
    return np.asarray(documents, dtype="<u4").tobytes() + capped.tobytes()


def unpack(data: bytes) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """Return (document numbers, counts) of one posting list, both of shape (n,)."""
    n = len(data) // _WIDTH
    return np.frombuffer(data, dtype="<u4", count=n), np.frombuffer(data, dtype="u1", count=n, offset=4 * n)


def add_segment(database: sqlite3.Connection, documents: Mapping[int, Counter[str]]) -> None:
    """Add the postings of new documents as one segment; runs inside the caller's transaction."""
    if not documents:
        return
    by_term: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for number in sorted(documents):
        for term, count in documents[number].items():
            numbers, counts = by_term[term]
            numbers.append(number)
            counts.append(count)
    segment = database.execute("SELECT COALESCE(MAX(segment), 0) + 1 FROM postings").fetchone()[0]
    database.executemany("INSERT INTO postings VALUES (?, ?, ?)", ((t, segment, pack(*p)) for t, p in by_term.items()))
    _count_segments(database, 1)


def _count_segments(database: sqlite3.Connection, added: int) -> None:
    row = database.execute("SELECT value FROM meta WHERE key = 'segments'").fetchone()
    segments = (int(row[0]) if row else 0) + added
    if segments > MAX_SEGMENTS:
        sizes = dict(database.execute("SELECT segment > 1, SUM(LENGTH(data)) FROM postings GROUP BY 1"))
        large = sizes.get(0, 0) > _LARGE * sizes.get(1, 0)
        merge(database, above=1 if large else 0)
        segments = 2 if large else 1
    database.execute("INSERT OR REPLACE INTO meta VALUES ('segments', ?)", (str(segments),))


def merge(database: sqlite3.Connection, keep: NDArray[np.uint32] | None = None, *, above: int = 0) -> None:
    """Merge the segments numbered ``above`` into one; with ``keep`` (sorted document numbers) drop every other one.

    What a large first segment costs to write again, many small changes do not pay each time they are merged.
    """
    merged: list[tuple[str, int, bytes]] = []
    pending: list[bytes] = []
    current = ""
    for term, data in database.execute(_SEGMENTS, (above,)):
        if term != current and pending:
            merged.extend(_joined(current, pending, keep, above + 1))
            pending = []
        current = term
        pending.append(data)
    if pending:
        merged.extend(_joined(current, pending, keep, above + 1))
    database.execute("DELETE FROM postings WHERE segment > ?", (above,))
    database.executemany("INSERT INTO postings VALUES (?, ?, ?)", merged)


def _joined(
    term: str, lists: list[bytes], keep: NDArray[np.uint32] | None, segment: int
) -> list[tuple[str, int, bytes]]:
    documents, counts = _concatenate(lists)
    if keep is not None:
        held = np.isin(documents, keep)
        documents, counts = documents[held], counts[held]
    if not len(documents):
        return []
    return [(term, segment, documents.astype("<u4").tobytes() + counts.tobytes())]


def _concatenate(lists: Iterable[bytes]) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    parts = [unpack(data) for data in lists]
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def postings(database: sqlite3.Connection, term: str) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """Return (document numbers, counts) of a term over every document the store knows."""
    rows = [row[0] for row in database.execute("SELECT data FROM postings WHERE term = ?", (term,))]
    if not rows:
        return np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.uint8)
    return _concatenate(rows)
