"""Kill a process at the n-th write of its store: before a statement, or halfway through the bytes of a file."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_STATEMENT = re.compile(
    r"\s*(BEGIN IMMEDIATE|COMMIT|VACUUM|INSERT|UPDATE|DELETE|CREATE)\b(?:.*?\b(?:INTO|FROM|EXISTS)\b)?\s*(\w+)?"
)
_FILES = ("write", "fsync", "replace", "ftruncate", "pwrite", "unlink")
_BARE = ("BEGIN IMMEDIATE", "COMMIT", "VACUUM")
Work = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a process: at which write it was struck ("" for none), how many it made, and what it returned."""

    struck: str
    writes: int
    returned: Any


class Tripwire:
    """Counts the writes of this process, and kills it with signal 9 at number ``at`` (0 for never)."""

    def __init__(self, at: int, tell: int) -> None:
        self.at, self.tell, self.count = at, tell, 0
        self.say = os.write

    def arm(self) -> None:
        """Watch SQLite's statements and the calls that change files."""
        connect = sqlite3.connect

        def watched(path: Any, *args: Any, **keys: Any) -> sqlite3.Connection:  # noqa: ANN401 - sqlite3's own signature
            database: sqlite3.Connection = connect(path, *args, **keys)
            name = Path(str(path)).name.partition("?")[0]
            database.set_trace_callback(lambda text: self.statement(name, text))
            return database

        sqlite3.connect = watched  # type: ignore[assignment]
        for name in _FILES:
            setattr(os, name, self.wrapped(name, getattr(os, name)))

    def statement(self, database: str, text: str) -> None:
        """Count a statement that writes; reading ones pass."""
        if match := _STATEMENT.match(text):
            verb, table = match.groups()
            self.step(f"{database}: {verb}" + (f" {table}" if table and verb not in _BARE else ""))

    def wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        """Return a system call that counts; a write that is struck leaves half of its bytes."""

        def call(*args: Any, **keys: Any) -> Any:  # noqa: ANN401 - stands for any of them
            if name == "write" and self.count + 1 == self.at:
                real(args[0], bytes(args[1])[: len(args[1]) // 2])
            self.step(f"file: {name}")
            return real(*args, **keys)

        return call

    def step(self, label: str) -> None:
        """Count one write, and strike when it is the one."""
        self.count += 1
        if self.count == self.at:
            self.say(self.tell, json.dumps({"struck": label, "writes": self.count}).encode())
            os.kill(os.getpid(), signal.SIGKILL)


def forked(work: Work, at: int = 0) -> Outcome:
    """Run work in a process of its own, struck at its ``at``-th write. An exception comes back as its text."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        _child(work, at, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        told = [json.loads(line) for line in stream.read().split(b"\n") if line]
    os.waitpid(child, 0)
    merged: dict[str, Any] = {"struck": "", "writes": 0, "returned": None}
    for part in told:
        merged |= part
    return Outcome(**merged)


def _child(work: Work, at: int, writing: int) -> None:
    wire = Tripwire(at, writing)
    say = os.write
    wire.arm()
    try:
        returned = work()
    except Exception as exc:  # noqa: BLE001 - whatever it was, the parent judges it
        returned = {"error": f"{type(exc).__name__}: {exc}"}
    wire.at = 0
    say(writing, b"\n" + json.dumps({"returned": returned, "writes": wire.count}).encode())
    os._exit(0)
