"""Look at a store without changing it: what `sidecar doctor` tells about it and what `sidecar gc` may drop."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seed.store import snapshots as packed
from seed.store import vectors
from seed.store.database import guarded
from seed.store.engine import Spare
from seed.store.parsed import numbers

_PRIVATE = 0o077


@dataclass(frozen=True, slots=True)
class Loose:
    """What no kept snapshot refers to: blob ids with their versions, passage numbers, vectors by (identity, sha)."""

    blobs: tuple[tuple[str, str], ...]
    passages: tuple[int, ...]
    vectors: tuple[tuple[str, bytes], ...]

    @property
    def total(self) -> int:
        """Return how many rows that is."""
        return len(self.blobs) + len(self.passages) + len(self.vectors)


@guarded
def store_format(database: sqlite3.Connection) -> int:
    """Return the format that a store's file says it has. Raises `StoreError`."""
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def fault(database: sqlite3.Connection, *, thorough: bool = False) -> str:
    """Return what SQLite finds wrong with a file, or ""; ``thorough`` compares indexes with their tables too."""
    try:
        found = str(database.execute(f"PRAGMA {'integrity' if thorough else 'quick'}_check(1)").fetchone()[0])
    except sqlite3.DatabaseError as exc:
        return str(exc)
    return "" if found == "ok" else found


@guarded
def snapshots(database: sqlite3.Connection) -> list[tuple[str, str, float]]:
    """Return (key, commit, seconds since the epoch) of every snapshot, newest first. Raises `StoreError`."""
    return database.execute("SELECT key, commit_id, made FROM snapshots ORDER BY number DESC").fetchall()


@guarded
def documents(database: sqlite3.Connection, keys: Iterable[str]) -> NDArray[np.uint32]:
    """Return the sorted numbers of the passages and titles that snapshots are made of. Raises `StoreError`."""
    parts = [np.empty(0, dtype=np.uint32)]
    for key in keys:
        row = database.execute("SELECT heads, pids, owners FROM snapshots WHERE key = ?", (key,)).fetchone()
        if row is not None:
            parts += packed.documents(*row)
    return np.unique(np.concatenate(parts))


@guarded
def loose(
    database: sqlite3.Connection,
    keys: Sequence[str],
    keep: NDArray[np.uint32],
    spare: Spare = ((), ()),
) -> Loose:
    """Return what the snapshots ``keys``, whose documents are ``keep``, do not refer to.

    ``spare`` is (texts as sha256 whose vectors stay under the embedders that these snapshots use, embedders whose
    vectors all stay). A parsed blob stays while all its passages do. Raises `StoreError`.
    """
    held = set(keep.tolist())
    blobs = []
    for oid, version, parsed in database.execute("SELECT oid, version, parsed FROM blobs"):
        if not numbers(parsed) <= held:
            blobs.append((oid, version))
    rows = database.execute("SELECT pid, sha FROM passages").fetchall()
    wanted = {sha for pid, sha in rows if pid in held} | set(spare[0])
    used = {identity for key, identity in database.execute("SELECT key, identity FROM planes") if key in keys}
    every = database.execute("SELECT identity, sha FROM vectors")
    return Loose(
        tuple(blobs),
        tuple(pid for pid, _ in rows if pid not in held),
        tuple(
            (identity, sha)
            for identity, sha in every
            if (sha not in wanted or identity not in used) and identity not in spare[1]
        ),
    )


@guarded
def damaged_vectors(database: sqlite3.Connection, folder: Path) -> dict[str, int]:
    """Return identity -> how many of its vectors do not match their checksum or are cut off. Raises `StoreError`."""
    identities = database.execute("SELECT identity, dimension FROM identities").fetchall()
    found = {identity: len(vectors.damaged(database, folder, identity, size)) for identity, size in identities}
    return {identity: count for identity, count in found.items() if count}


def open_to_others(folder: Path) -> list[Path]:
    """Return what lies in a folder, itself included, and can be read or changed by other users."""
    every = [folder, *folder.rglob("*")] if folder.is_dir() else []
    return [path for path in every if not path.is_symlink() and stat.S_IMODE(path.stat().st_mode) & _PRIVATE]


def size(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
