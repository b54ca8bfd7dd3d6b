"""Tell the planner how a table has grown, where it would otherwise learn of it a minute too late.

A repository that is filled for the first time is unknown to the planner: it takes it for one row, and looks texts up by
walking through all there is. Autovacuum sets that right after its nap, a minute by default, in which tens of thousands
of passages arrive.
"""

from __future__ import annotations

from seed.store.postgres.server import Connection

_LEAST = 1024


def grown(connection: Connection, table: str, columns: str, before: int, after: int) -> None:
    """Have a table's statistics made anew when what a repository has of it has doubled; in the caller's transaction.

    Whoever does not own the table is passed over by the server with a warning, a table that is being vacuumed or
    indexed is left alone, and so is one that is spread over servers, each of which has statistics of its own.
    """
    if after < _LEAST or before.bit_length() == after.bit_length():
        return
    query = "SELECT relkind = 'r' FROM pg_class WHERE oid = to_regclass(%s)"
    if connection.execute(query, (f"sidecar.{table}",)).fetchone() == (True,):
        connection.execute(f"ANALYZE (SKIP_LOCKED) sidecar.{table} ({columns})".encode())
