"""Which vector belongs to which sentence, kept beside the segments: opening a library looks up a few, not all.

A file is a checksum and then int32 as they lie in memory, one a sentence. Everything is rebuildable.
"""

from __future__ import annotations

import hashlib
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seed.embed.base import Embedder
from seed.embed.identity import Identity
from seed.store.engine import Engine
from seed.transcript import files
from sidecar.library import Library, Progress, embed, rows

Rows = NDArray[np.int32]
KEPT = 4
_LOOKED_UP = 256
_CHECK_BYTES = 4


def seeded(
    folder: Path, store: Engine, library: Library, embedder: Embedder, budget: float, progress: Progress | None = None
) -> tuple[Rows, str]:
    """Return the row (s,) of each sentence's vector, -1 for none, and what was left undone, or "".

    What has no vector gets one first, for at most ``budget`` seconds.
    """
    path = _place(folder, store, library, embedder.identity)
    held = kept(path, store, library, embedder.identity)
    if held is not None:
        return held, ""
    left = embed(store, library, embedder, budget, progress)
    held = rows(store, library, embedder.identity)
    if (held >= 0).all():
        keep(path, held)
    return held, left


def _place(folder: Path, store: Engine, library: Library, identity: Identity) -> Path:
    """Return the file of a library's rows: its name holds what they depend on."""
    named = f"{library.key} {identity.digest} {store.generation()}"
    return folder / f"{hashlib.sha256(named.encode()).hexdigest()[:32]}.rows"


def kept(path: Path, store: Engine, library: Library, identity: Identity) -> Rows | None:
    """Return the row (s,) of each sentence's vector as they were kept; None where they must be looked up again.

    A store that lost vectors at the end of its file gives their rows to other texts. So the last rows, which go
    first, and others at even distances are compared with the store.
    """
    try:
        data = path.read_bytes()
    except OSError:
        return None
    size = int(library.counts.sum())
    if len(data) != _CHECK_BYTES + 4 * size or _check(data[_CHECK_BYTES:]) != data[:_CHECK_BYTES]:
        return None
    held = np.frombuffer(data, "<i4", offset=_CHECK_BYTES)
    some = np.union1d(np.argsort(held)[-_LOOKED_UP:], np.arange(0, size, size // _LOOKED_UP + 1))
    named = {library.sha(int(n)): int(held[n]) for n in some}
    if store.rows(identity, list(named)) != named or int(held.max(initial=-1)) >= store.held(identity):
        return None
    return held


def keep(path: Path, held: Rows) -> None:
    """Keep rows; of other libraries the latest stay. A disk that refuses costs only time."""
    data = held.astype("<i4").tobytes()
    with suppress(OSError):
        files.private_folder(path.parent)
        files.write_atomically(path, [_check(data), data])
        latest = sorted(path.parent.glob("*.rows"), key=lambda one: one.stat().st_mtime_ns, reverse=True)
        for old in latest[KEPT:]:
            old.unlink(missing_ok=True)


def _check(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(_CHECK_BYTES, "little")
