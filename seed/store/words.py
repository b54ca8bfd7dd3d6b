"""The words index: immutable segments of postings, whose statistics are always those of the snapshot asked.

A posting list is one blob of little-endian uint32 document numbers followed by uint8 term counts (at most 255).
A seeding adds one small segment; when there are many, they are merged, as in log-structured indexes.
"""

from __future__ import annotations

import sqlite3
import struct
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

MAX_SEGMENTS = 24
_LARGE = 4
"""A segment is left alone while it is more than so many times as large as all later ones together."""
_LISTS = "SELECT data FROM segments CROSS JOIN postings ON segment = number AND term = ? ORDER BY number"
_WIDTH = 5  # 4 bytes of document number, 1 of count


def pack(documents: Sequence[int], counts: Sequence[int]) -> bytes:
    """Return one posting list as bytes."""
    n = len(documents)  # most lists of a change hold one document: an array would cost more than the list
    return struct.pack(f"<{n}I{n}B", *documents, *(min(count, 255) for count in counts))


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
    (segment,) = database.execute("SELECT COALESCE(MAX(number), 0) + 1 FROM segments").fetchone()
    _write(database, segment, [(term, pack(*lists)) for term, lists in by_term.items()])
    sizes = database.execute("SELECT number, bytes FROM segments ORDER BY number").fetchall()
    if len(sizes) > MAX_SEGMENTS:
        merge(database, above=_alone(sizes))


def _alone(sizes: Sequence[tuple[int, int]]) -> int:
    """Return the last of the first segments, (number, bytes) each, that are large enough to be left alone; 0 for none.

    Each of them is larger than what follows, so there are few of them, and all the others become one. What it costs to
    write a large segment again, many small changes do not pay each time they are merged.
    """
    alone, later = 0, sum(size for _, size in sizes)
    for number, size in sizes:
        later -= size
        if size <= _LARGE * later:
            return alone
        alone = number
    return 0


def merge(database: sqlite3.Connection, keep: NDArray[np.uint32] | None = None, *, above: int = 0) -> None:
    """Merge the segments numbered ``above`` into one; with ``keep`` (sorted document numbers) drop every other one."""
    rows = database.execute("SELECT term, data FROM postings WHERE segment > ? ORDER BY term, segment", (above,))
    merged = [
        (term, data)
        for term, lists in groupby(rows, key=itemgetter(0))
        if (data := _joined([data for _, data in lists], keep))
    ]
    for table, column in (("postings", "segment"), ("segments", "number")):
        database.execute(f"DELETE FROM {table} WHERE {column} > ?", (above,))  # noqa: S608 - our own names
    _write(database, above + 1, merged)


def _write(database: sqlite3.Connection, segment: int, lists: Sequence[tuple[str, bytes]]) -> None:
    """Write a segment. Its terms lie side by side, so that a small one changes few pages."""
    database.execute("INSERT INTO segments VALUES (?, ?)", (segment, sum(len(data) for _, data in lists)))
    database.executemany("INSERT INTO postings VALUES (?, ?, ?)", ((segment, *one) for one in sorted(lists)))


def _joined(lists: Sequence[bytes], keep: NDArray[np.uint32] | None) -> bytes:
    documents, counts = _concatenate(lists)
    if keep is not None:
        held = np.isin(documents, keep)
        documents, counts = documents[held], counts[held]
    return documents.astype("<u4").tobytes() + counts.tobytes()


def _concatenate(lists: Iterable[bytes]) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    parts = [unpack(data) for data in lists]
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def postings(database: sqlite3.Connection, term: str) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """Return (document numbers, counts) of a term over every document the store knows."""
    rows = [row[0] for row in database.execute(_LISTS, (term,))]
    if not rows:
        return np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.uint8)
    return _concatenate(rows)
