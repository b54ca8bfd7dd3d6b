"""One seeding at a time for each repository, over all machines: an advisory lock that ends with its connection."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg
from psycopg import errors

from seed.errors import BusyError
from seed.store.postgres.server import Connection, Server

_LEAST_MS = 1


def number(key: tuple[str, str]) -> int:
    """Return the lock's number: 64 bits of the sha256 of workspace and repository."""
    digest = hashlib.sha256("\0".join(("sidecar seeding", *key)).encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


@contextmanager
def held(connection: Connection, key: tuple[str, str], timeout: float, server: Server) -> Iterator[None]:
    """Hold the lock for the block, waiting at most ``timeout`` seconds.

    Raises `BusyError` naming the holder when the time is up. The lock is gone when the connection is, so whatever is
    written under it goes over the same connection.
    """
    name = number(key)
    try:
        with connection.transaction():
            connection.execute(f"SET LOCAL lock_timeout = {max(int(timeout * 1000), _LEAST_MS)}")
            connection.execute(f"SET LOCAL statement_timeout = {int(timeout * 1000) + 10_000}")
            connection.execute("SELECT pg_advisory_lock(%s)", (name,))
    except errors.LockNotAvailable:
        raise BusyError(
            f"another process ({holder(connection, key) or 'unknown'}) is seeding this repository",
            "wait for it, or end that process",
        ) from None
    except psycopg.OperationalError as exc:
        raise server.unreachable(exc) from None
    try:
        yield
    finally:
        with suppress(psycopg.Error):
            connection.execute("SELECT pg_advisory_unlock(%s)", (name,))


def holder(connection: Connection, key: tuple[str, str]) -> str:
    """Return what the holder calls itself (sidecar HOST:PID), or "" when nobody holds the lock."""
    unsigned = number(key) & (1 << 64) - 1
    row = connection.execute(
        "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
        " WHERE l.locktype = 'advisory' AND l.granted AND l.classid = %s::bigint::oid AND l.objid = %s::bigint::oid"
        " AND l.objsubid = 1 AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        (unsigned >> 32, unsigned & 0xFFFFFFFF),
    ).fetchone()
    return str(row[0]) if row else ""
