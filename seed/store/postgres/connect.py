"""A primary server and its replicas, as one thread uses them: what is read where, and that it is never older."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from seed.errors import StoreError, UnreachableError
from seed.store.address import Address
from seed.store.postgres.server import Connection, Server, T, Work, plainly, repeated


class Database:
    """A primary server and its replicas, as one thread uses them."""

    def __init__(self, address: Address) -> None:
        self.workspace = address.workspace
        self.primary = Server(address.url)
        self.replicas = [Server(url) for url in address.replicas]
        for server in (self.primary, *self.replicas):
            server.pool.open()
        self._pinned: Connection | None = None
        self.lent = self.primary
        """The server whose connection is lent: what becomes of that connection is told of no other."""
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
            before, self.lent = self.lent, server
            try:
                yield connection
            finally:
                self.lent = before
                server.pool.putconn(connection)
            return
        raise failed or UnreachableError("no server is configured")

    def read(self, work: Work[T], *, fresh: bool = False) -> T:
        """Return what ``work`` reads: from a replica where there is one, or, when ``fresh``, first from the primary."""
        if self._pinned is not None:
            return plainly(work, self._pinned, self.lent)
        failed: StoreError | None = None
        for server in self._order(fresh=fresh):
            try:
                if server is self.primary or self._caught_up(server):
                    value = repeated(work, server)
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
            self._mark = max(self._mark, repeated(_position, server), key=_as_number)

    def _caught_up(self, server: Server) -> bool:
        return not self._mark or _as_number(repeated(_position, server)) >= _as_number(self._mark)

    def write(self, work: Work[T]) -> T:
        """Run ``work`` in one transaction on the primary, again where it failed for no fault of its own."""

        def whole(connection: Connection) -> T:
            with connection.transaction():
                return work(connection)

        if self._pinned is not None:  # a lock that was lost must not be written under by another connection
            return plainly(whole, self._pinned, self.lent)
        value = repeated(whole, self.primary)
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
