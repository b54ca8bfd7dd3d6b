"""Search a large repository on the server: by an HNSW index and by words, in one statement.

What is found are candidates: whoever asks weighs them again, exactly. The index is one of its own for a repository and
an embedder, so that no other tenant's vectors stand in the way (filtered HNSW over all of them loses recall).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import sql

from seed.embed.identity import Identity
from seed.store.postgres import binary
from seed.store.postgres.connect import Database
from seed.store.postgres.server import Connection, Server
from seed.store.postgres.words import plain

Key = tuple[str, str]
EXACT_ROWS = 20_000
"""Below so many passages all vectors are read once and compared: the same scores and order as the embedded engine."""
LEAST, MOST, _EACH = 200, 1600, 500
_MOST = 1000
"""What pgvector takes for hnsw.ef_search; beyond it the search goes on in steps."""
_FIRST = 4
_COMMON, _RARE = 20, 1000
"""A word that more than one in twenty documents has, and more than a thousand, names no candidate by itself."""
_BUILD_MEMORY = 512 << 10
"""KiB that building an index may use where the server's own maintenance_work_mem is less."""
_MEMORY = """
SELECT set_config('maintenance_work_mem', greatest(setting::bigint, %s)::text, false)
FROM pg_settings WHERE name = 'maintenance_work_mem'
"""
_OF = "workspace = {workspace} AND repository = {repository} AND identity = {identity}"
# Weights are float8 throughout: with a literal such as 0.5 they would be numeric, which is slow.
_HYBRID = """
WITH segments AS MATERIALIZED (
  SELECT ARRAY(SELECT json_object_keys(sizes::json)::int4 FROM sidecar.repositories
    WHERE workspace = {workspace} AND repository = {repository}) AS numbers),
held AS MATERIALIZED (
  SELECT p.members || ''::bytea AS rows, s.members || ''::bytea AS pids
  FROM sidecar.planes p JOIN sidecar.snapshots s USING (workspace, repository, key)
  WHERE workspace = {workspace} AND repository = {repository} AND key = %(key)s AND p.identity = {identity}),
near AS MATERIALIZED (
  SELECT row AS number FROM sidecar.vectors
  WHERE workspace = {workspace} AND repository = {repository} AND identity = {identity}
    AND CASE WHEN row < 8 * octet_length((SELECT rows FROM held))
        THEN get_bit((SELECT rows FROM held), row) ELSE 0 END = 1
  ORDER BY v::vector({dimension}) <#> %(vector)b::vector({dimension}) LIMIT %(found)s),
rare AS MATERIALIZED (
  SELECT term FROM sidecar.postings
  WHERE workspace = {workspace} AND repository = {repository} AND term = ANY(%(terms)s)
    AND segment = ANY((SELECT numbers FROM segments)::int4[])
  GROUP BY term HAVING sum(COALESCE(documents, cardinality(pids))) <= %(common)s),
said AS MATERIALIZED (
  SELECT p.term, t.pid, t.n::float8 AS n
  FROM sidecar.postings p CROSS JOIN LATERAL unnest(p.pids, p.counts) AS t (pid, n)
  WHERE workspace = {workspace} AND repository = {repository} AND p.term = ANY(ARRAY(SELECT term FROM rare))
    AND p.segment = ANY((SELECT numbers FROM segments)::int4[])
    AND CASE WHEN t.pid < 8 * octet_length((SELECT pids FROM held))
        THEN get_bit((SELECT pids FROM held), t.pid) ELSE 0 END = 1),
weights AS MATERIALIZED (
  SELECT term, ln(1 + (%(documents)s::float8 - count(*) + 0.5) / (count(*) + 0.5)) AS idf FROM said GROUP BY term),
likely AS MATERIALIZED (
  SELECT pid FROM said JOIN weights USING (term) GROUP BY pid
  ORDER BY sum(idf * n * 2.2 / (n + 1.2)) DESC LIMIT %(first)s),
words AS MATERIALIZED (
  SELECT said.pid AS number,
    sum(idf * n * 2.2 / (n + 1.2 * (0.25 + 0.75 * d.length / %(mean)s::float8))) AS score
  FROM likely JOIN said USING (pid) JOIN weights USING (term)
    JOIN sidecar.passages d ON d.workspace = {workspace} AND d.repository = {repository} AND d.pid = said.pid
  GROUP BY said.pid ORDER BY score DESC, number LIMIT %(found)s)
SELECT 0, number FROM near UNION ALL SELECT 1, number FROM words
"""


def name(key: Key, identity: Identity) -> str:
    """Return the name of the index of a repository and an embedder."""
    return "near_" + hashlib.sha256("\0".join((*key, identity.digest)).encode()).hexdigest()[:16]


def _literals(key: Key, identity: Identity) -> dict[str, sql.Composable]:
    """Return what has to stand in a statement as it is, for the planner to see that the index serves it."""
    return {
        "workspace": sql.Literal(key[0]),
        "repository": sql.Literal(key[1]),
        "identity": sql.Literal(identity.digest),
        "dimension": sql.Literal(identity.dimension),
    }


def valid(connection: Connection, key: Key, identity: Identity) -> bool:
    """Tell whether the index is there and whole."""
    query = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
    row = connection.execute(query, (f"sidecar.{name(key, identity)}",)).fetchone()
    return bool(row and row[0])


def build(connection: Connection, key: Key, identity: Identity, server: Server) -> None:
    """Build the index beside everybody's work. A role that does not own the tables leaves that to the owner."""
    # Of two that would build it, one does: the other would drop what the first has not finished.
    mine = connection.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", (name(key, identity),)).fetchone()
    if not (mine and mine[0]):
        return
    try:
        if not valid(connection, key, identity):
            _build(connection, key, identity, server)
    finally:
        if not connection.closed:
            connection.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", (name(key, identity),))


def _build(connection: Connection, key: Key, identity: Identity, server: Server) -> None:
    index = sql.Identifier("sidecar", name(key, identity))
    statement = statement_of(key, identity)
    try:
        connection.execute("SET statement_timeout = 0")
        connection.execute(_MEMORY, (_BUILD_MEMORY,))
        connection.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(index))  # one that was cut off
        connection.execute(statement)
    except psycopg.errors.InsufficientPrivilege:
        return
    except psycopg.OperationalError as exc:
        raise server.unreachable(exc) from None
    finally:
        if not connection.closed:
            connection.execute("RESET maintenance_work_mem")
            connection.execute("SET statement_timeout = '60s'")


def statement_of(key: Key, identity: Identity) -> sql.Composed:
    """Return the statement that builds the index, for whoever owns the tables."""
    return sql.SQL(
        "CREATE INDEX CONCURRENTLY {index} ON sidecar.vectors USING hnsw ((v::vector({dimension})) vector_ip_ops)"
        f" WHERE {_OF}"
    ).format(index=sql.Identifier(name(key, identity)), **_literals(key, identity))


def wanted(documents: int) -> int:
    """Return how many candidates the index gives, and as many the words: one for 500 documents, 200 to 1,600.

    The records that win need not have the nearest passages, and the more there are the further down theirs may stand:
    200 gave 0.99 of the ten best records of 100,000 passages and 0.87 of 300,000, 800 gave 0.98 of those.
    """
    return min(max(documents // _EACH, LEAST), MOST)


class Near:
    """Searches one snapshot by the index."""

    def __init__(self, database: Database, key: Key, snapshot: str, identity: Identity) -> None:
        self._database = database
        self._key, self._snapshot, self._identity = key, snapshot, identity
        self._query = sql.SQL(_HYBRID).format(**_literals(key, identity))

    def candidates(
        self, vector: NDArray[np.float32], terms: Sequence[str], documents: int, mean: float
    ) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
        """Return (rows nearest to a vector, numbers of the documents that say most of the terms)."""
        most = wanted(documents)
        values = {
            "key": self._snapshot,
            "vector": vector,
            "terms": [plain(term) for term in terms],
            "documents": documents,
            "mean": max(mean, 1e-9),
            "found": most,
            "first": most * _FIRST,
            "common": max(documents // _COMMON, _RARE),
        }

        def work(connection: Connection) -> list[tuple[int, int]]:
            binary.register(connection)
            with connection.transaction():
                # The planner takes the snapshot's bits for a filter that hardly anything passes, and would sort every
                # vector: where sorting is dear, the index is what gives the order.
                connection.execute(
                    "SELECT set_config('hnsw.ef_search', %s, true), set_config('enable_sort', 'off', true),"
                    " set_config('hnsw.iterative_scan', 'strict_order', true)",
                    (str(min(2 * most, _MOST)),),
                )
                return connection.execute(self._query, values, prepare=False).fetchall()

        found = np.array(self._database.read(work), dtype=np.int64).reshape(-1, 2)
        rows, pids = (found[found[:, 0] == kind, 1] for kind in (0, 1))
        return rows.astype(np.int32), pids.astype(np.uint32)
