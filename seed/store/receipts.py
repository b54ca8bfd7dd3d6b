"""Receipts in a database of their own under kept/: one short transaction appends, never under the seeding lock."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seed.store.database import open_database

_SCHEMA = """
CREATE TABLE IF NOT EXISTS receipts (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, made TEXT NOT NULL, body TEXT NOT NULL);
"""
_FORMAT = 1
WAIT_SECONDS = 0.2

Receipt = dict[str, Any]


class Receipts:
    """The chain of receipts of one repository."""

    def __init__(self, folder: Path) -> None:
        self.database = open_database(folder / "receipts.db", _SCHEMA, _FORMAT)
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
        prefix = "sha256:" + ident.removeprefix("sha256:").replace("%", "").replace("_", "")
        rows = self.database.execute("SELECT body FROM receipts WHERE id LIKE ? LIMIT 2", (prefix + "%",))
        return [json.loads(row[0]) for row in rows]

    def newest(self, limit: int) -> list[Receipt]:
        """Return the newest receipts first."""
        rows = self.database.execute("SELECT body FROM receipts ORDER BY number DESC LIMIT ?", (limit,))
        return [json.loads(row[0]) for row in rows]

    def chain(self) -> list[Receipt]:
        """Return all receipts, oldest first."""
        return [json.loads(row[0]) for row in self.database.execute("SELECT body FROM receipts ORDER BY number")]
