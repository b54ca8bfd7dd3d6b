"""Which vector belongs to which sentence, kept beside the segments: what was looked up once is not asked for again.

Two kinds of files, each a checksum and then numbers as they lie in memory. ``*.rows`` is for an embedder and a
generation of the store, whatever the sessions: the names of texts (32 bytes each, ordered by their first 8) and their
rows (int32). ``*.held`` are the rows of one library in order, so that nothing is looked for. Everything is rebuildable.
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
        differ = _words(self.names)[at] ^ _words(names)[order]
        same = (differ[:, 0] | differ[:, 1] | differ[:, 2] | differ[:, 3]) == 0
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
    ready = _place(folder, store, identity, library.key).with_suffix(".held")
    if (held := opened(ready, store, identity, library.names)) is not None:
        return held
    path = _place(folder, store, identity)
    known = kept(path, store, identity)
    held = known.of(library.names)
    if (new := held < 0).any():
        found = looked_up(store, identity, listed(library.names[new]))
        held[new] = found.of(library.names[new])
        if len(found.rows):
            keep(path, known.with_more(found.names, found.rows))
    if not (held < 0).any():
        _write(ready, held.astype("<i4").tobytes())
    return held


def opened(path: Path, store: Engine, identity: Identity, names: Names) -> Rows | None:
    """Return the rows (s,) of a whole library as they were kept, None where they have to be found by name."""
    data = _read(path)
    if not data or len(data) != _ROW_BYTES * len(names):
        return None
    held = np.frombuffer(data, "<i4")
    return held if _as_in_store(store, identity, names, held) else None


def looked_up(store: Engine, identity: Identity, names: list[bytes]) -> Known:
    """Return those of these texts that have a vector, as the store says."""
    held = store.held(identity)
    found = {name: row for name, row in store.rows(identity, list(set(names))).items() if row < held}
    joined = np.frombuffer(b"".join(found), np.uint8).reshape(-1, _NAME_BYTES)
    return NONE.with_more(joined, np.fromiter(found.values(), np.int32, len(found)))


def _place(folder: Path, store: Engine, identity: Identity, library: str = "") -> Path:
    """Return the file of an embedder's rows: its name holds what they depend on."""
    named = f"{identity.digest} {store.generation()} {library}"
    return folder / f"{hashlib.sha256(named.encode()).hexdigest()[:32]}.rows"


def kept(path: Path, store: Engine, identity: Identity) -> Known:
    """Return the rows that were kept, by name; none where they must be looked up again."""
    data = _read(path)
    size, rest = divmod(len(data), _NAME_BYTES + _ROW_BYTES)
    if rest or not size:
        return NONE
    names = np.frombuffer(data, np.uint8, size * _NAME_BYTES).reshape(size, _NAME_BYTES)
    held = np.frombuffer(data, "<i4", size, names.nbytes)
    return Known(names, held) if _as_in_store(store, identity, names, held) else NONE


def _as_in_store(store: Engine, identity: Identity, names: Names, held: Rows) -> bool:
    """Tell whether rows (s,) are those of the store, by comparing a few.

    A store that lost vectors at the end of its file gives their rows to other texts. So the last rows, which go
    first, and others at even distances are compared.
    """
    size = len(held)
    last = np.argpartition(held, -_LOOKED_UP)[-_LOOKED_UP:] if size > _LOOKED_UP else np.arange(size)
    some = np.union1d(last, np.arange(0, size, size // _LOOKED_UP + 1))
    named = dict(zip(listed(names[some]), held[some].tolist(), strict=True))
    return store.rows(identity, list(named)) == named and int(held.max()) < store.held(identity)


def keep(path: Path, known: Known) -> None:
    """Keep rows by name."""
    _write(path, known.names.tobytes() + known.rows.astype("<i4").tobytes())


def _read(path: Path) -> bytes | memoryview:
    """Return what a file holds behind its checksum; nothing where it is missing or damaged."""
    try:
        data = memoryview(path.read_bytes())
    except OSError:
        return b""
    whole = zlib.crc32(data[_CHECK_BYTES:]).to_bytes(_CHECK_BYTES, "little") == data[:_CHECK_BYTES]
    return data[_CHECK_BYTES:] if whole else b""


def _write(path: Path, data: bytes) -> None:
    """Write a file; of others of its kind the latest stay. A disk that refuses costs only time."""
    with suppress(OSError):
        files.private_folder(path.parent)
        files.write_atomically(path, [zlib.crc32(data).to_bytes(_CHECK_BYTES, "little"), data])
        latest = sorted(path.parent.glob(f"*{path.suffix}"), key=lambda one: one.stat().st_mtime_ns, reverse=True)
        for old in latest[KEPT:]:
            old.unlink(missing_ok=True)


def _words(names: Names) -> NDArray[np.uint64]:
    return np.ascontiguousarray(names).view("<u8")


def _keys(names: Names) -> NDArray[np.uint64]:
    return np.ascontiguousarray(_words(names)[:, 0])
