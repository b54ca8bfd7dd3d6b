"""Receipts in a database of their own under kept/: one short transaction appends, never under the seeding lock."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from seed.errors import StoreError
from seed.store.database import open_database, open_reading, writing
from seed.store.inspect import fault

_SCHEMA = """
CREATE TABLE IF NOT EXISTS receipts (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, made TEXT NOT NULL, body TEXT NOT NULL);
"""
_FORMAT = 1
WAIT_SECONDS = 0.2

Receipt = dict[str, Any]


def receipts_file(folder: Path) -> Path:
    """Return the database of receipts in a folder of what is kept."""
    return folder / "receipts.db"


class Links:
    """Follows a chain of receipts; ``identify`` gives the id that a receipt's content has to bear."""

    def __init__(self, identify: Callable[[Receipt], str]) -> None:
        self._identify = identify
        self._seen = {""}

    def problem(self, ident: str, body: Receipt) -> str:
        """Return what is wrong with the next receipt, kept under ``ident``, or ""."""
        if body.get("id") != ident or self._identify(body) != ident:
            return f"({ident[:19]}) was changed after it was written"
        if body.get("previous") not in self._seen:
            return f"({ident[:19]}) names one before it that is not there"
        self._seen.add(ident)
        return ""


def broken_link(path: Path, identify: Callable[[Receipt], str]) -> tuple[int, str]:
    """Return (how many receipts there are, what is wrong with the chain or ""), without changing a byte.

    ``identify`` gives the id that a receipt's content has to bear. Two chains stand in one file after a restore on
    a machine with receipts of its own, so each has to name one that stands before it, not the very last.
    """
    number = 0
    try:
        with closing(open_reading(path)) as database:
            if found := fault(database):
                return 0, f"the file is damaged: {found}"
            links = Links(identify)
            for ident, text in database.execute("SELECT id, body FROM receipts ORDER BY number"):
                number += 1
                if problem := links.problem(ident, json.loads(text)):
                    return number, f"receipt {number} {problem}"
    except (sqlite3.Error, ValueError, StoreError) as exc:
        return number, f"it cannot be read after receipt {number}: {exc}"
    return number, ""


class Receipts:
    """The chain of receipts of one repository."""

    def __init__(self, folder: Path) -> None:
        self.database = open_database(receipts_file(folder), _SCHEMA, _FORMAT)
        self.database.execute(f"PRAGMA busy_timeout={int(WAIT_SECONDS * 1000)}")

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    def append(self, seal: Callable[[str], Receipt]) -> tuple[Receipt, bool]:
        """Append the receipt that ``seal`` makes from its predecessor's id. Returns it, and whether it was stored."""
        try:
            self.database.execute("BEGIN IMMEDIATE")
            try:
                receipt = seal(self.last())
                values = (receipt["id"], receipt["time"], json.dumps(receipt, ensure_ascii=False))
                self.database.execute("INSERT OR IGNORE INTO receipts (id, made, body) VALUES (?, ?, ?)", values)
                self.database.execute("COMMIT")
            except BaseException:
                self.database.execute("ROLLBACK")
                raise
        except sqlite3.Error:
            return seal(""), False
        return receipt, True

    def last(self) -> str:
        """Return the id of the newest receipt, or ""."""
        row = self.database.execute("SELECT id FROM receipts ORDER BY number DESC LIMIT 1").fetchone()
        return str(row[0]) if row else ""

    def get(self, ident: str) -> list[Receipt]:
        """Return the receipts whose id starts with ``ident`` ("sha256:" may be left out), at most two."""
        if not ident.isascii():
            return []  # nor could a lone surrogate be looked up
        prefix = "sha256:" + ident.removeprefix("sha256:").replace("%", "").replace("_", "")
        rows = self.database.execute("SELECT body FROM receipts WHERE id LIKE ? LIMIT 2", (prefix + "%",))
        return [json.loads(row[0]) for row in rows]

    def newest(self, limit: int, skip: int = 0) -> list[Receipt]:
        """Return the newest receipts first, after leaving out the newest ``skip``."""
        rows = self.database.execute("SELECT body FROM receipts ORDER BY number DESC LIMIT ? OFFSET ?", (limit, skip))
        return [json.loads(row[0]) for row in rows]

    def count(self) -> int:
        """Return how many receipts there are."""
        return int(self.database.execute("SELECT COUNT(*) FROM receipts").fetchone()[0])

    def chain(self) -> list[Receipt]:
        """Return all receipts, oldest first."""
        return [json.loads(row[0]) for row in self.database.execute("SELECT body FROM receipts ORDER BY number")]

    def restore(self, chain: Iterable[Receipt]) -> int:
        """Add the receipts that are not here yet, in their order, all or none. Returns how many that were.

        Raises `StoreError` when the database cannot be written.
        """
        with writing(self.database):
            before = self.database.execute("SELECT COUNT(*) FROM receipts").fetchone()[0]
            values = ((one["id"], one["time"], json.dumps(one, ensure_ascii=False)) for one in chain)
            self.database.executemany("INSERT OR IGNORE INTO receipts (id, made, body) VALUES (?, ?, ?)", values)
            after = self.database.execute("SELECT COUNT(*) FROM receipts").fetchone()[0]
        return int(after - before)
