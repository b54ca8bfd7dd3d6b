"""Receipts in PostgreSQL: one chain for a repository, whichever of several servers gave the answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from seed.errors import StoreError
from seed.store.engine import Receipt
from seed.store.postgres.connect import Database
from seed.store.postgres.records import MINE
from seed.store.postgres.server import Connection
from seed.store.receipts import WAIT_SECONDS

_INSERT = (
    "INSERT INTO sidecar.receipts (workspace, repository, number, id, made, body) VALUES (%s, %s, %s, %s, %s, %s)"
    " ON CONFLICT DO NOTHING"
)


class PostgresReceipts:
    """The chain of receipts of one repository, over connections of its own: never under the seeding lock."""

    def __init__(self, database: Database, repository: str) -> None:
        self.database = database
        self.key = (database.workspace, repository)

    def close(self) -> None:
        """Close the connections."""
        self.database.close()

    def append(self, seal: Callable[[str], Receipt]) -> tuple[Receipt, bool]:
        """Append the receipt that ``seal`` makes from its predecessor's id. Returns it, and whether it was stored."""

        def work(connection: Connection) -> Receipt:
            number, last = self._end(connection)
            receipt = seal(last)
            self._put(connection, number + 1, receipt)
            self._move_end(connection, number + 1, receipt["id"])
            return receipt

        try:
            return self.database.write(work), True
        except StoreError:
            return seal(""), False

    def _end(self, connection: Connection) -> tuple[int, str]:
        """Return (number, id) of the newest receipt, and keep others from appending until the transaction ends."""
        connection.execute(f"SET LOCAL lock_timeout = {int(WAIT_SECONDS * 1000)}")
        query = f"SELECT receipts, last FROM sidecar.chains WHERE {MINE} FOR UPDATE"
        row = connection.execute(query, self.key).fetchone()
        if row is None:
            insert = "INSERT INTO sidecar.chains (workspace, repository) VALUES (%s, %s) ON CONFLICT DO NOTHING"
            connection.execute(insert, self.key)
            row = connection.execute(query, self.key).fetchone()
        return (int(row[0]), str(row[1])) if row else (0, "")

    def _put(self, connection: Connection, number: int, receipt: Receipt) -> int:
        body = json.dumps(receipt)  # ASCII: a lone surrogate of a question is kept as it came
        done = connection.execute(_INSERT, (*self.key, number, receipt["id"], receipt["time"], body))
        return max(done.rowcount, 0)

    def _move_end(self, connection: Connection, number: int, last: str) -> None:
        update = f"UPDATE sidecar.chains SET receipts = %s, last = %s WHERE {MINE}"
        connection.execute(update, (number, last, *self.key))

    def get(self, ident: str) -> list[Receipt]:
        """Return the receipts whose id starts with ``ident`` ("sha256:" may be left out), at most two."""
        prefix = "sha256:" + ident.removeprefix("sha256:").replace("%", "").replace("_", "")
        return self._bodies("AND id LIKE %s LIMIT 2", f"{prefix}%")

    def newest(self, limit: int, skip: int = 0) -> list[Receipt]:
        """Return the newest receipts first, after those to skip."""
        return self._bodies("ORDER BY number DESC LIMIT %s OFFSET %s", limit, skip)

    def count(self) -> int:
        """Return how many receipts there are."""
        query = f"SELECT count(*) FROM sidecar.receipts WHERE {MINE}"
        row = self.database.read(lambda c: c.execute(query, self.key).fetchone(), fresh=True)
        return int(row[0]) if row else 0

    def chain(self) -> list[Receipt]:
        """Return all receipts, oldest first."""
        return self._bodies("ORDER BY number")

    def _bodies(self, rest: str, *values: object) -> list[Receipt]:
        query = f"SELECT body FROM sidecar.receipts WHERE {MINE} {rest}"
        rows = self.database.read(lambda c: c.execute(query, (*self.key, *values)).fetchall(), fresh=True)
        return [json.loads(row[0]) for row in rows]

    def restore(self, chain: Iterable[Receipt]) -> int:
        """Add the receipts that are not here yet, in their order, all or none. Returns how many that were."""
        receipts = list(chain)

        def work(connection: Connection) -> int:
            first, last = self._end(connection)
            number = first
            for receipt in receipts:
                if self._put(connection, number + 1, receipt):
                    number, last = number + 1, receipt["id"]
            self._move_end(connection, number, last)
            return number - first

        return self.database.write(work)
