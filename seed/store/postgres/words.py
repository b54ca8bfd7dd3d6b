"""The words index in PostgreSQL: a seeding adds one segment of postings, and many small segments become one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from seed.store.postgres import binary
from seed.store.postgres.binary import integers
from seed.store.postgres.server import Connection

FAN = 8
"""So many segments of one tier become one of the next."""
_BASE = 20_000
"""Postings up to which a segment is of the lowest tier; each tier above holds `FAN` times as many."""
_CAP = 255
IN_SEGMENTS = (
    "segment = ANY(ARRAY(SELECT json_object_keys(sizes::json)::int4"
    " FROM sidecar.repositories WHERE workspace = %s AND repository = %s))"
)
"""A segment's terms lie together, so whoever looks for a term names all segments."""
Key = tuple[str, str]
Numbers = NDArray[np.int32]
Postings = tuple[NDArray[np.uint32], NDArray[np.uint8]]


def plain(term: str) -> str:
    """Return a term as PostgreSQL can hold it: its text has no U+0000."""
    return term.replace("\0", "\ufffd")


def add_segment(connection: Connection, key: Key, documents: Mapping[int, Counter[str]]) -> None:
    """Add the postings of new documents as one segment; runs inside the caller's transaction."""
    if not any(documents.values()):
        return
    terms, ends, pids, counts = grouped(documents)
    binary.register(connection)
    segment, sizes = _segments(connection, key)
    segment += 1
    connection.execute(
        "INSERT INTO sidecar.postings (workspace, repository, term, segment, pids, counts, documents)"
        " SELECT %s, %s, term, %s, (%b::int4[])[begin + 1:stop], (%b::int2[])[begin + 1:stop], stop - begin"
        " FROM unnest(%b::text[], %b::int4[], %b::int4[]) AS t (term, begin, stop)",
        (*key, segment, pids, counts, terms, np.append(np.int32(0), ends[:-1]), ends),
    )
    sizes[segment] = len(pids)
    chosen = due(sizes)
    if chosen:
        segment += 1
        _merge(connection, key, chosen, segment)
        sizes[segment] = sum(sizes.pop(one) for one in chosen)
    _note(connection, key, segment, sizes)


def grouped(documents: Mapping[int, Counter[str]]) -> tuple[list[str], Numbers, Numbers, NDArray[np.int16]]:
    """Return (terms in order, where the postings of each end, document numbers, counts up to 255) of documents."""
    said = list(chain.from_iterable(documents.values()))
    times = list(chain.from_iterable(found.values() for found in documents.values()))
    pids = np.repeat(list(documents), [len(found) for found in documents.values()])
    seen = {term: plain(term) for term in dict.fromkeys(said)}
    terms = sorted(set(seen.values()))  # the order of the key, so that the rows of a segment lie together
    place = {term: number for number, term in enumerate(terms)}
    number_of = {term: place[text] for term, text in seen.items()}
    numbers = np.fromiter(map(number_of.__getitem__, said), dtype=np.int64, count=len(said))
    # Two terms may be one to the database: what they say of one document is added up.
    each, which = np.unique(numbers << 32 | pids, return_inverse=True)
    capped = np.minimum(np.bincount(which, times), _CAP).astype(np.int16)
    ends = np.searchsorted(each >> 32, np.arange(len(terms)), side="right").astype(np.int32)
    return terms, ends, (each & 0xFFFFFFFF).astype(np.int32), capped


def due(sizes: Mapping[int, int]) -> list[int]:
    """Return which segments (number -> postings) are to become one: a tier that is full, and those it fills in turn.

    So a posting is written once for each tier, however many seedings there are, and a small seeding never writes a
    large segment again: that is left to many small ones, or to another large one.
    """
    tiers: dict[int, list[int]] = {}
    for number, size in sizes.items():
        tiers.setdefault(_tier(size), []).append(number)
    chosen: list[int] = []
    for tier in sorted(tiers):
        total = sum(sizes[number] for number in chosen)
        more = 1 if chosen and _tier(total) == tier else 0
        if len(tiers[tier]) + more < FAN:
            break
        chosen += tiers[tier]
    return chosen


def _tier(size: int) -> int:
    tier, bound = 0, _BASE
    while size > bound:
        tier, bound = tier + 1, bound * FAN
    return tier


def _segments(connection: Connection, key: Key) -> tuple[int, dict[int, int]]:
    """Return (the newest segment's number, the postings of each), and let nobody else write words until the end."""
    query = "SELECT segments, sizes FROM sidecar.repositories WHERE workspace = %s AND repository = %s FOR UPDATE"
    row = connection.execute(query, key).fetchone()
    newest, held = (int(row[0]), json.loads(row[1])) if row else (0, {})
    return newest, {int(number): int(size) for number, size in held.items()}


def _note(connection: Connection, key: Key, newest: int, sizes: Mapping[int, int]) -> None:
    connection.execute(
        "UPDATE sidecar.repositories SET segments = %s, sizes = %s WHERE workspace = %s AND repository = %s",
        (newest, json.dumps(sizes), *key),
    )


def _merge(connection: Connection, key: Key, chosen: Sequence[int], into: int) -> None:
    # A large repository's words take longer than an answer may.
    connection.execute("SELECT set_config('statement_timeout', '0', true), set_config('enable_hashagg', 'off', true)")
    these = "workspace = %s AND repository = %s AND segment = ANY(%s)"
    values = (*key, list(chosen))
    # Each document is in one segment, so the lists need no more than to be put behind each other: the older first.
    connection.execute(
        "INSERT INTO sidecar.postings (workspace, repository, term, segment, pids, counts, documents)"
        " SELECT %s, %s, term, %s, sidecar.joined(pids), sidecar.joined(counts), sum(cardinality(pids))"
        f" FROM (SELECT * FROM sidecar.postings WHERE {these} ORDER BY term, segment) AS chosen GROUP BY term",
        (*key, into, *values),
    )
    connection.execute(f"DELETE FROM sidecar.postings WHERE {these}", values)


def keep(connection: Connection, key: Key, documents: NDArray[np.uint32]) -> None:
    """Make one segment of all, with the postings of these documents alone; runs inside the caller's transaction."""
    binary.register(connection)
    newest, _ = _segments(connection, key)
    mine = "workspace = %s AND repository = %s AND segment <= %s"
    into = newest + 1
    connection.execute(
        "INSERT INTO sidecar.postings (workspace, repository, term, segment, pids, counts, documents)"
        " SELECT %s, %s, p.term, %s, array_agg(t.pid), array_agg(t.n), count(*)"
        " FROM sidecar.postings p, unnest(p.pids, p.counts) AS t (pid, n)"
        f" WHERE t.pid = ANY(%b::int4[]) AND {mine} GROUP BY p.term",
        (*key, into, documents.astype(np.int32), *key, newest),
    )
    connection.execute(f"DELETE FROM sidecar.postings WHERE {mine}", (*key, newest))
    query = (
        "SELECT COALESCE(sum(documents), 0) FROM sidecar.postings"
        " WHERE workspace = %s AND repository = %s AND segment = %s"
    )
    row = connection.execute(query, (*key, into)).fetchone()
    _note(connection, key, into, {into: int(row[0])} if row and row[0] else {})


def postings(connection: Connection, key: Key, terms: Sequence[str]) -> dict[str, Postings]:
    """Return (document numbers, counts) of terms over every document of the repository."""
    with connection.cursor(binary=True) as cursor:
        rows = cursor.execute(
            "SELECT term, array_send(pids), array_send(counts) FROM sidecar.postings"
            f" WHERE workspace = %s AND repository = %s AND term = ANY(%s) AND {IN_SEGMENTS}",
            (*key, [plain(term) for term in terms], *key),
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
