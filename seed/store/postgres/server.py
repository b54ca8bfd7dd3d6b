"""One server: its pool of connections with their time limits, and what of its errors is tried again or told.

Every write of this package may be repeated: rows are named by their content. So a transaction that ended in a lost
connection, a deadlock or a serialization failure simply runs once more.
"""

from __future__ import annotations

import logging
import os
import platform
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from seed.errors import SidecarError, StoreError, UnreachableError
from seed.store.address import shown

try:
    import psycopg
    from psycopg import errors
    from psycopg.conninfo import conninfo_to_dict
    from psycopg_pool import ConnectionPool, PoolTimeout
except ImportError:
    raise SidecarError(
        "engine postgresql needs psycopg, which is not installed", "pip install 'knowledge-sidecar[postgresql]'"
    ) from None

Connection = psycopg.Connection[tuple[Any, ...]]
T = TypeVar("T")
Work = Callable[[Connection], T]
logging.getLogger("psycopg").addHandler(logging.NullHandler())  # what it would say is raised, or tried again
CONNECT_SECONDS = 3
STATEMENT_SECONDS = 60
_POOLED = 4
_TRIES = 3
_PAUSE = 0.1
_SHUN_SECONDS = 5.0
_AGAIN = (errors.SerializationFailure, errors.DeadlockDetected)
_LOST = (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout)
_KEEPALIVE = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3, "tcp_user_timeout": 10_000}


class Server:
    """One server with its pool of connections."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.shunned = 0.0
        """Until when (time.monotonic) another server is asked first."""
        try:
            conninfo_to_dict(url)
        except psycopg.Error:  # whose text holds the whole address
            raise StoreError(f"the engine's address {shown(url)} cannot be read", "correct the URL") from None
        self.pool: ConnectionPool[Connection] = ConnectionPool(
            url,
            kwargs={"autocommit": True, "connect_timeout": CONNECT_SECONDS, **_KEEPALIVE},
            min_size=0,
            max_size=_POOLED,
            timeout=CONNECT_SECONDS,
            max_idle=60.0,
            num_workers=1,
            configure=_configure,
            open=False,
        )

    def first(self) -> None:
        """Connect and let go, so that a server that is not there is told at once. Raises `UnreachableError`."""
        try:
            psycopg.connect(self.url, connect_timeout=CONNECT_SECONDS).close()
        except _LOST as exc:
            raise self.unreachable(exc) from None

    def living(self) -> Connection:
        """Return a connection that answers, for the caller to give back. Raises `UnreachableError`."""
        failed: BaseException = RuntimeError("no attempt")
        for _ in range(_TRIES):
            try:
                connection = self.pool.getconn()
            except _LOST as exc:
                raise self.unreachable(exc) from None
            try:
                connection.execute("SELECT 1")
            except _LOST as exc:
                failed = exc
                self.pool.putconn(connection)  # which discards it
                continue
            return connection
        raise self.unreachable(failed)

    def unreachable(self, exc: BaseException) -> UnreachableError:
        """Return the error that says which server does not answer, without a word of its credentials."""
        self.shunned = time.monotonic() + _SHUN_SECONDS
        reason = (str(exc).strip().splitlines() or [type(exc).__name__])[0][:200]
        return UnreachableError(f"the server {shown(self.url)} cannot be used: {reason}", "start it, or see its log")


def repeated(work: Work[T], server: Server) -> T:
    """Return what ``work`` returns over a pooled connection, tried again where it may help. Raises `StoreError`."""
    failed: BaseException | None = None
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(_PAUSE * attempt)
        try:
            with server.pool.connection() as connection:
                return work(connection)
        except _AGAIN as exc:
            failed = exc
        except errors.QueryCanceled as exc:
            raise StoreError(f"the server {shown(server.url)} took too long: {exc}", "see its load") from None
        except _LOST as exc:
            failed = exc
            if isinstance(exc, PoolTimeout):
                break
            with suppress(psycopg.Error, PoolTimeout):
                server.pool.check()
        except psycopg.Error as exc:
            raise refused(exc, server) from None
    raise server.unreachable(failed or RuntimeError("no attempt"))


def plainly(work: Work[T], connection: Connection, server: Server) -> T:
    """Return what ``work`` returns over this connection and no other. Raises `StoreError`."""
    for attempt in range(_TRIES):
        try:
            return work(connection)
        except _AGAIN as exc:
            if attempt == _TRIES - 1 or connection.info.transaction_status:
                raise server.unreachable(exc) from None
        except errors.QueryCanceled as exc:
            raise StoreError(f"the server {shown(server.url)} took too long: {exc}", "see its load") from None
        except _LOST as exc:
            raise server.unreachable(exc) from None
        except psycopg.Error as exc:
            raise refused(exc, server) from None
    raise AssertionError  # every attempt returns or raises


def refused(exc: psycopg.Error, server: Server) -> StoreError:
    """Return the error for what a server refused."""
    reason = (str(exc).strip().splitlines() or [type(exc).__name__])[0]
    fix = "see 'sidecar doctor'"
    if isinstance(exc, errors.InsufficientPrivilege):
        fix = "let the owner of the tables run: SELECT sidecar.admit('ROLE', ARRAY['WORKSPACE'])"
    return StoreError(f"the server {shown(server.url)} refused: {reason}", fix)


def _configure(connection: Connection) -> None:
    connection.execute(f"SET statement_timeout = '{STATEMENT_SECONDS}s'")
    connection.execute("SET idle_in_transaction_session_timeout = '120s'")
    connection.execute(
        "SELECT set_config('application_name', %s, false)", (f"sidecar {platform.node()}:{os.getpid()}",)
    )
