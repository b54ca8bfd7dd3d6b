"""Open the store's SQLite file: private, in WAL mode, of this format, and made anew when it is damaged."""

from __future__ import annotations

import json
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from seed.errors import DamagedStoreError, StoreError
from seed.store.paths import STORE_FORMAT, private_folder

SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS blobs (
  oid TEXT NOT NULL, version TEXT NOT NULL, parsed TEXT NOT NULL, PRIMARY KEY (oid, version)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS passages (
  pid INTEGER PRIMARY KEY, sha BLOB NOT NULL UNIQUE, length INTEGER NOT NULL, skip INTEGER NOT NULL,
  text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS postings (
  segment INTEGER NOT NULL, term TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (segment, term)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS segments (number INTEGER PRIMARY KEY, bytes INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS vectors (
  identity TEXT NOT NULL, sha BLOB NOT NULL, row INTEGER NOT NULL, check_sum INTEGER NOT NULL,
  PRIMARY KEY (identity, sha)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS vectors_by_row ON vectors (identity, row);
CREATE TABLE IF NOT EXISTS identities (identity TEXT PRIMARY KEY, parts TEXT NOT NULL, dimension INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS snapshots (
  number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, commit_id TEXT NOT NULL, made REAL NOT NULL,
  policy TEXT NOT NULL, heads BLOB NOT NULL, pids BLOB NOT NULL, owners BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS planes (
  key TEXT NOT NULL, identity TEXT NOT NULL, rows BLOB NOT NULL, floors TEXT NOT NULL DEFAULT '{}',
  PRIMARY KEY (key, identity)) WITHOUT ROWID;
INSERT OR IGNORE INTO meta VALUES ('generation', abs(random()) % 1000000000);
"""
# The generation names the vector files: a database that is made anew never counts rows in an older one's files.
_BUSY_MS = 5000
DatabaseFault = sqlite3.Error
"""What the database itself raises, for callers that have to go on whatever it is."""
P = ParamSpec("P")
R = TypeVar("R")


def open_database(path: Path, schema: str = SCHEMA, store_format: int = STORE_FORMAT) -> sqlite3.Connection:
    """Open (and create) a database file of 0600 in a folder of 0700. Raises `StoreError`."""
    private_folder(path.parent)
    try:
        return _connect(path, schema, store_format)
    except sqlite3.DatabaseError as exc:
        raise StoreError(
            f"{path} cannot be used: {exc}", "see 'sidecar doctor'; a free, writable disk is needed"
        ) from None


def open_disposable(path: Path) -> sqlite3.Connection:
    """Open the store; one that is no database any more is set aside and made anew, since Git is the truth."""
    private_folder(path.parent)
    try:
        return _connect(path, SCHEMA, STORE_FORMAT)
    except sqlite3.OperationalError as exc:
        raise StoreError(
            f"{path} cannot be used: {exc}", "free the disk or set SIDECAR_HOME to a writable folder"
        ) from None
    except sqlite3.DatabaseError:
        set_aside(path)
        return open_database(path)


def open_reading(path: Path) -> sqlite3.Connection:
    """Open a database without changing a byte of it, for whoever looks and does not use. Raises `StoreError`.

    Without a write-ahead log nobody is writing, and SQLite may leave its own companions out.
    """
    log = path.with_name(path.name + "-wal")
    alone = not log.exists() or not log.stat().st_size
    try:
        database = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if alone else ''}", uri=True, check_same_thread=False
        )
    except sqlite3.Error as exc:
        raise StoreError(f"{path} cannot be read: {exc}", "check its permissions") from None
    try:
        _format(database, path, STORE_FORMAT)
    except (sqlite3.Error, StoreError) as exc:
        database.close()
        raise exc if isinstance(exc, StoreError) else StoreError(f"{path} cannot be read: {exc}") from None
    return database


def set_aside(path: Path) -> None:
    """Rename a damaged database and its companions, so that nothing reads half of it."""
    stamp = time.strftime("%Y%m%dT%H%M%S")
    for suffix in ("-wal", "-shm", ""):
        piece = path.with_name(path.name + suffix)
        if piece.exists():
            piece.replace(piece.with_name(f"{piece.name}.damaged-{stamp}"))


def _connect(path: Path, schema: str, store_format: int) -> sqlite3.Connection:
    if not path.exists():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    database = sqlite3.connect(path, timeout=_BUSY_MS / 1000, isolation_level=None, check_same_thread=False)
    try:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        if _format(database, path, store_format) < store_format:
            database.executescript(f"BEGIN IMMEDIATE; {schema} PRAGMA user_version={store_format}; COMMIT;")
    except BaseException:
        database.close()
        raise
    return database


def _format(database: sqlite3.Connection, path: Path, known: int) -> int:
    found = int(database.execute("PRAGMA user_version").fetchone()[0])
    if found > known:
        raise StoreError(f"{path} has format {found}, newer than this sidecar's {known}", "update the sidecar")
    return found


def guarded(method: Callable[P, R]) -> Callable[P, R]:
    """Let nothing but `StoreError` out of a method that reads or writes the store.

    A file that is damaged in the middle opens well and fails later: that is a `DamagedStoreError`.
    """

    @wraps(method)
    def inner(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(*args, **kwargs)
        except (sqlite3.DatabaseError, zlib.error, json.JSONDecodeError) as exc:
            if isinstance(exc, sqlite3.OperationalError) and "decode" not in str(exc):
                raise StoreError(f"the store cannot be used: {exc}", "see 'sidecar doctor'") from None
            if type(exc) in (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError):
                raise  # a fault of ours and not of the file
            raise DamagedStoreError(f"the store is damaged: {exc}", "delete the store folder; Git has it all") from None

    return inner


@contextmanager
def writing(database: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Run the block in one immediate transaction; any exception rolls all of it back."""
    try:
        database.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as exc:
        raise StoreError(f"the store cannot be written: {exc}", "wait for the other writer, or free the disk") from None
    try:
        yield database
    except sqlite3.OperationalError as exc:
        database.rollback()
        raise StoreError(f"the store cannot be written: {exc}", "free the disk or set SIDECAR_HOME elsewhere") from None
    except BaseException:
        database.rollback()
        raise
    database.commit()
