"""Bytes turned into texts, numbers and JSON, so that a fuzzer that mutates bytes reaches typed arguments. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

WORDS = (
    "", "orders", "decision-1", "decision-0", "fact-1", "shop/store.py", "../x", "/etc/passwd", "all", "accepted",
    "HEAD", "2026-01-01", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "訂單存在哪裡", "\ud800", "\x00",
    "\u202eevil", "a" * 5000, "%", "main", "whole-turn", "user_confirmed", "{}", '{"embedder": "x", "vector": [1]}',
    "turns", "1",
)  # fmt: skip
"""Texts that matter somewhere: ids, paths, dates at the ends of time, what no terminal should see."""
KEYS = ("id", "kind", "title", "status", "date", "body", "tags", "paths", "source", "supersedes", "refutes", "trust",
        "valid_until", "proposed_by", "workspace", "format", "conflict")  # fmt: skip


@dataclass(slots=True)
class Draw:
    """Reads choices from bytes; past their end every choice is the first one."""

    data: bytes
    at: int = 0
    errors: str = "surrogateescape"

    def number(self, below: int) -> int:
        """Return a number from 0 to ``below`` - 1."""
        return int.from_bytes(self._taken(2), "little") % below

    def text(self) -> str:
        """Return a word that matters, or raw bytes as text; ``errors`` says what becomes of those that are no UTF-8."""
        if self.number(2) == 0:
            return WORDS[self.number(len(WORDS))].encode("utf-8", "surrogatepass").decode("utf-8", self.errors)
        return self._taken(self.number(400)).decode("utf-8", self.errors)

    def json(self, depth: int = 3) -> Any:  # noqa: ANN401 - JSON of any kind
        """Return any JSON value, at most ``depth`` deep."""
        made: tuple[Callable[[], Any], ...] = (
            self.text,
            lambda: self.number(1 << 16) - 100,
            lambda: None,
            lambda: self.number(2) == 1,
            lambda: [self.json(depth - 1) for _ in range(self.number(5))],
            lambda: {self.key(): self.json(depth - 1) for _ in range(self.number(8))},
        )
        return made[self.number(len(made) if depth else 4)]()

    def key(self) -> str:
        """Return a key of records, or any text."""
        at = self.number(2 * len(KEYS))
        return KEYS[at] if at < len(KEYS) else self.text()

    def fitting(self, schema: dict[str, Any]) -> Any:  # noqa: ANN401 - as above
        """Return a value that mostly fits the schema of an argument."""
        if self.number(16) == 1:
            return self.json()
        if "enum" in schema:
            return schema["enum"][self.number(len(schema["enum"]))]
        made: dict[str, Callable[[], Any]] = {
            "string": self.text,
            "integer": lambda: self.number(1 << 12) - 2,
            "boolean": lambda: self.number(2) == 1,
            "array": lambda: [self.fitting(schema.get("items", {})) for _ in range(self.number(4))],
            "object": lambda: {self.key(): self.json() for _ in range(self.number(10))},
        }
        return made.get(schema.get("type", ""), self.json)()

    def _taken(self, size: int) -> bytes:
        taken = self.data[self.at : self.at + size]
        self.at += size
        return taken
