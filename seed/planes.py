"""Give the passages of a published snapshot their vectors: what is known already, what is embedded now."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from seed.blobs import Progress
from seed.embed.base import Embedder
from seed.errors import SidecarError
from seed.store.engine import Engine

BATCH = 32
"""Passages whose vectors are made durable together: about a second of work is lost by a kill."""
_LOOK_BACK = 4
"""Newest snapshots that are asked for the rows of passages: after a switch of branches the last may be another one."""


def publish_vectors(
    store: Engine,
    key: str,
    embedder: Embedder,
    deadline: float | None = None,
    progress: Progress | None = None,
) -> tuple[int, int]:
    """Embed what has no vector yet and publish the plane. Returns (embedded now, still missing).

    ``deadline`` is a time.monotonic() moment; past it the plane is published with what there is. The caller
    holds the seeding lock.
    """
    loaded = store.load(key)
    if loaded is None:
        raise SidecarError("the snapshot to embed is not published", "run 'sidecar seed'")
    pids = loaded[0].pids
    store.register(embedder.identity)
    store.heal(embedder.identity)
    plane = _rows_before(store, key, embedder, pids)
    unknown = np.unique(pids[plane < 0])
    texts = store.texts(unknown.tolist())
    rows = store.rows(embedder.identity, [sha for sha, _, _ in texts.values()])
    missing = {sha: text for sha, text, _ in texts.values() if sha not in rows}
    done = _embed(store, embedder, missing, deadline, progress)
    if done:
        rows |= store.rows(embedder.identity, list(missing))
    if len(unknown):
        found = np.array([rows.get(texts[pid][0], -1) for pid in unknown.tolist()], dtype=np.int32)
        plane[plane < 0] = found[np.searchsorted(unknown, pids[plane < 0])]
    store.save_plane(key, embedder.identity, plane)
    return done, len(missing) - done


def _rows_before(store: Engine, key: str, embedder: Embedder, pids: NDArray[np.uint32]) -> NDArray[np.int32]:
    """Return the rows (n,) of passages that the newest snapshots have a vector of already, -1 for the others."""
    rows = np.full(len(pids), -1, dtype=np.int32)
    for other in [name for name, _, _ in store.snapshots()[:_LOOK_BACK]]:
        before = store.plane(other, embedder.identity)
        if before is not None and other == key:
            return before[0].copy()
        loaded = store.load(other) if before is not None and len(before[0]) else None
        if before is None or loaded is None:
            continue
        known = loaded[0].pids
        table = np.full(int(max(known.max(initial=0), pids.max(initial=0))) + 1, -1, dtype=np.int32)
        table[known] = before[0]
        return table[pids]
    return rows


def _embed(
    store: Engine,
    embedder: Embedder,
    missing: dict[bytes, str],
    deadline: float | None,
    progress: Progress | None,
) -> int:
    if not missing:
        return 0
    done = 0
    held: dict[bytes, NDArray[np.float32]] = {}
    for sha, vector in zip(missing, embedder.passages(list(missing.values())), strict=True):
        held[sha] = vector
        done += 1
        if len(held) >= BATCH:
            store.add_vectors(embedder.identity, held)
            held = {}
        if progress:
            progress("embedding", done, len(missing))
        if deadline is not None and time.monotonic() >= deadline:
            break
    store.add_vectors(embedder.identity, held)
    return done


def complete(store: Engine, key: str, embedder: Embedder) -> bool:
    """Tell whether every passage of a published snapshot has its vector under this embedder, which can be read."""
    plane = store.plane(key, embedder.identity)
    if plane is None:
        return False
    return bool(((plane[0] >= 0) & (plane[0] < store.held(embedder.identity))).all())
