"""Connections to a server and its replicas: pooled, with time limits, and tried again where that is harmless.

Every write of this package may be repeated: rows are named by their content. So a transaction that ended in a lost
connection, a deadlock or a serialization failure simply runs once more.
"""

from __future__ import annotations

import logging
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from seed.errors import SidecarError, StoreError, UnreachableError
from seed.store.address import Address, shown

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


class Database:
    """A primary server and its replicas, as one thread uses them."""

    def __init__(self, address: Address) -> None:
        self.workspace = address.workspace
        self.primary = Server(address.url)
        self.replicas = [Server(url) for url in address.replicas]
        for server in (self.primary, *self.replicas):
            server.pool.open()
        self._pinned: Connection | None = None
        self._served = self.primary
        self._mark = ""
        """The position in the log that a replica must have reached before anything else is read from it."""

    def close(self) -> None:
        """Close every connection."""
        for server in (self.primary, *self.replicas):
            server.pool.close(timeout=1.0)

    @contextmanager
    def pinned(self, connection: Connection) -> Iterator[None]:
        """Let everything in the block go over one connection: one that holds a lock, or stands in one state."""
        before, self._pinned = self._pinned, connection
        try:
            yield
        finally:
            self._pinned = before

    @contextmanager
    def borrowed(self, *, fresh: bool = True) -> Iterator[Connection]:
        """Lend a connection for as long as the block takes. Raises `UnreachableError`."""
        if self._pinned is not None:
            yield self._pinned
            return
        failed: UnreachableError | None = None
        for server in self._order(fresh=fresh):
            try:
                connection = server.living()
            except UnreachableError as exc:
                failed = exc
                continue
            try:
                yield connection
            finally:
                server.pool.putconn(connection)
            return
        raise failed or UnreachableError("no server is configured")

    def read(self, work: Work[T], *, fresh: bool = False) -> T:
        """Return what ``work`` reads: from a replica where there is one, or, when ``fresh``, first from the primary."""
        if self._pinned is not None:
            return _plainly(work, self._pinned, self.primary)
        failed: StoreError | None = None
        for server in self._order(fresh=fresh):
            try:
                if server is self.primary or self._caught_up(server):
                    value = _repeated(work, server)
                    self._served = server
                    return value
            except UnreachableError as exc:
                failed = exc
        raise failed or UnreachableError("no server is configured")

    def found(self, work: Work[T], whole: Callable[[T], bool]) -> T:
        """Return what ``work`` reads from a replica; where that is not ``whole`` yet, from the primary.

        Whatever is read afterwards is at least as new: answers are never put together from two states.
        """
        value = self.read(work)
        if self.replicas and self._pinned is None:
            if not whole(value):
                with suppress(UnreachableError):
                    value = self.read(work, fresh=True)
            self._remember(self._served)
        return value

    def _remember(self, server: Server) -> None:
        """Let every later read be at least as new as what this server has now."""
        with suppress(UnreachableError):
            self._mark = max(self._mark, _repeated(_position, server), key=_as_number)

    def _caught_up(self, server: Server) -> bool:
        return not self._mark or _as_number(_repeated(_position, server)) >= _as_number(self._mark)

    def write(self, work: Work[T]) -> T:
        """Run ``work`` in one transaction on the primary, again where it failed for no fault of its own."""

        def whole(connection: Connection) -> T:
            with connection.transaction():
                return work(connection)

        if self._pinned is not None:  # a lock that was lost must not be written under by another connection
            return _plainly(whole, self._pinned, self.primary)
        value = _repeated(whole, self.primary)
        if self.replicas:
            self._remember(self.primary)
        return value

    def _order(self, *, fresh: bool) -> list[Server]:
        every = [self.primary, *self.replicas] if fresh else [*self.replicas, self.primary]
        now = time.monotonic()
        return sorted(every, key=lambda server: server.shunned > now)  # stable: shunned ones come last


def _position(connection: Connection) -> str:
    row = connection.execute(
        "SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END"
    ).fetchone()
    return str(row[0]) if row and row[0] else ""


def _as_number(position: str) -> int:
    high, _, low = position.partition("/")
    return int(high, 16) << 32 | int(low, 16) if low else 0


def _repeated(work: Work[T], server: Server) -> T:
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


def _plainly(work: Work[T], connection: Connection, server: Server) -> T:
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
