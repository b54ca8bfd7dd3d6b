"""Which vector belongs to which sentence, kept beside the segments: what was looked up once is not asked for again.

A file for each embedder and generation of the store, whatever the sessions: a checksum, then as they lie in memory
the names of texts (32 bytes each, ordered by their first 8) and their rows (int32). Everything is rebuildable.
"""

from __future__ import annotations

import hashlib
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seed.embed.base import Embedder
from seed.embed.identity import Identity
from seed.store.engine import Engine
from seed.transcript import files
from sidecar.library import Library, Names, Progress, embed, listed

Rows = NDArray[np.int32]
KEPT = 8
_LOOKED_UP = 256
_CHECK_BYTES, _NAME_BYTES, _ROW_BYTES = 4, 32, 4


@dataclass(frozen=True, slots=True)
class Known:
    """Texts with a vector: what names each, ``names`` (k, 32), ordered by the first 8 bytes, and its ``rows`` (k,)."""

    names: Names
    rows: Rows

    def of(self, names: Names) -> Rows:
        """Return the row (s,) of each text by its name (s, 32); -1 for one that is not among these."""
        if not len(self.rows):
            return np.full(len(names), -1, np.int32)
        order = np.argsort(_keys(names))  # in order the search is several times quicker than at random
        at = np.minimum(np.searchsorted(_keys(self.names), _keys(names)[order]), len(self.rows) - 1)
        same = (_words(self.names)[at] == _words(names)[order]).all(axis=1)
        found = np.empty(len(names), np.int32)
        found[order] = np.where(same, self.rows[at], -1)
        return found

    def with_more(self, names: Names, rows: Rows) -> Known:
        """Return these and others, by their names (s, 32) and rows (s,)."""
        every, held = np.concatenate([self.names, names]), np.concatenate([self.rows, rows])
        order = np.argsort(_keys(every), kind="stable")
        return Known(every[order], held[order])


NONE = Known(np.zeros((0, _NAME_BYTES), np.uint8), np.zeros(0, np.int32))


def seeded(
    folder: Path, store: Engine, library: Library, embedder: Embedder, budget: float, progress: Progress | None = None
) -> tuple[Rows, str]:
    """Return the row (s,) of each sentence's vector, -1 for none, and what was left undone, or "".

    What has no vector gets one first, for at most ``budget`` seconds: by one process at a time, since two would
    embed the same sentences.
    """
    held = rows(folder, store, library, embedder.identity)
    missing = held < 0
    if not missing.any():
        return held, ""
    with files.alone(files.private_folder(folder) / ".embedding") as mine:
        if not mine:
            count = len(set(listed(library.names[missing])))
            return held, f"{count} sentences are not embedded yet: another process is embedding them"
        left = embed(store, library, missing, embedder, budget, progress)
    return rows(folder, store, library, embedder.identity), left


def rows(folder: Path, store: Engine, library: Library, identity: Identity) -> Rows:
    """Return the row (s,) of each sentence's vector, -1 for none; what is not known yet is looked up, and kept."""
    path = _place(folder, store, identity)
    known = kept(path, store, identity)
    held = known.of(library.names)
    if (new := held < 0).any():
        found = looked_up(store, identity, listed(library.names[new]))
        held[new] = found.of(library.names[new])
        if len(found.rows):
            keep(path, known.with_more(found.names, found.rows))
    return held


def looked_up(store: Engine, identity: Identity, names: list[bytes]) -> Known:
    """Return those of these texts that have a vector, as the store says."""
    held = store.held(identity)
    found = {name: row for name, row in store.rows(identity, list(set(names))).items() if row < held}
    joined = np.frombuffer(b"".join(found), np.uint8).reshape(-1, _NAME_BYTES)
    return NONE.with_more(joined, np.fromiter(found.values(), np.int32, len(found)))


def _place(folder: Path, store: Engine, identity: Identity) -> Path:
    """Return the file of an embedder's rows: its name holds what they depend on."""
    named = f"{identity.digest} {store.generation()}"
    return folder / f"{hashlib.sha256(named.encode()).hexdigest()[:32]}.rows"


def kept(path: Path, store: Engine, identity: Identity) -> Known:
    """Return the rows that were kept; none where they must be looked up again.

    A store that lost vectors at the end of its file gives their rows to other texts. So the last rows, which go
    first, and others at even distances are compared with the store.
    """
    try:
        data = path.read_bytes()
    except OSError:
        return NONE
    size, rest = divmod(len(data) - _CHECK_BYTES, _NAME_BYTES + _ROW_BYTES)
    if rest or size < 1 or _check(memoryview(data)[_CHECK_BYTES:]) != data[:_CHECK_BYTES]:
        return NONE
    names = np.frombuffer(data, np.uint8, size * _NAME_BYTES, _CHECK_BYTES).reshape(size, _NAME_BYTES)
    held = np.frombuffer(data, "<i4", size, _CHECK_BYTES + names.nbytes)
    last = np.argpartition(held, -_LOOKED_UP)[-_LOOKED_UP:] if size > _LOOKED_UP else np.arange(size)
    some = np.union1d(last, np.arange(0, size, size // _LOOKED_UP + 1))
    named = dict(zip(listed(names[some]), held[some].tolist(), strict=True))
    if store.rows(identity, list(named)) != named or int(held.max()) >= store.held(identity):
        return NONE
    return Known(names, held)


def keep(path: Path, known: Known) -> None:
    """Keep rows; of other embedders and generations the latest stay. A disk that refuses costs only time."""
    data = known.names.tobytes() + known.rows.astype("<i4").tobytes()
    with suppress(OSError):
        files.private_folder(path.parent)
        files.write_atomically(path, [_check(data), data])
        latest = sorted(path.parent.glob("*.rows"), key=lambda one: one.stat().st_mtime_ns, reverse=True)
        for old in latest[KEPT:]:
            old.unlink(missing_ok=True)


def _check(data: bytes | memoryview) -> bytes:
    return zlib.crc32(data).to_bytes(_CHECK_BYTES, "little")


def _words(names: Names) -> NDArray[np.uint64]:
    return np.ascontiguousarray(names).view("<u8")


def _keys(names: Names) -> NDArray[np.uint64]:
    return np.ascontiguousarray(_words(names)[:, 0])
