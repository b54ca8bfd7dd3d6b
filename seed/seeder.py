"""The one algorithm: list the tree, parse unseen blobs, embed unseen passages, publish the snapshot.

Renames, amends, rebases, resets and branch switches need no code of their own (decision-0002).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seed.assemble import EMPTY, Base, Wanted, assemble, base_of
from seed.blobs import Progress, read, version
from seed.embed.base import Embedder
from seed.errors import SidecarError
from seed.git.candidates import Candidate
from seed.git.repository import Repository
from seed.git.tree import (
    CONFIGURATION,
    Entry,
    UnreadableBlobError,
    has_object,
    is_record_path,
    list_files,
    read_blob,
    subtree,
)
from seed.policy import Policy
from seed.store.engine import Engine

_BATCH = 32
"""Passages whose vectors are made durable together: about a second of work is lost by a kill."""
_LOOK_BACK = 4
"""Newest snapshots that are asked for the rows of passages: after a switch of branches the last may be another one."""
_MISSING = "missing:"

Choose = Callable[[Policy], Sequence[Embedder]]


@dataclass(frozen=True, slots=True)
class Seeded:
    """What one seeding did: the snapshot's key, and what was new."""

    key: str
    records: int
    parsed: int
    embedded: int
    missing: int
    seconds: float


def wanted(repo: Repository, commit: str, candidates: Sequence[Candidate] = ()) -> Wanted:
    """Return what the snapshot of a commit consists of; cheap: two tree objects are read."""
    return Wanted(commit, subtree(repo, commit) if commit else "", tuple(candidates))


def read_policy(repo: Repository, entries: Sequence[Entry]) -> tuple[Policy, dict[str, tuple[str, ...]], str]:
    """Return (policy, glossary, fault) of a listed tree; a broken file leaves the shipped default in force."""
    configured = {entry.path: entry.blob for entry in entries if entry.path in CONFIGURATION}
    if not configured:
        return Policy(), {}, ""
    from seed.schema import parse_glossary, parse_policy

    policy, glossary, fault = Policy(), {}, ""
    try:
        if blob := configured.get(CONFIGURATION[0]):
            policy = parse_policy(read_blob(repo, blob))
        if blob := configured.get(CONFIGURATION[1]):
            glossary = parse_glossary(read_blob(repo, blob))
    except SidecarError as exc:
        fault = str(exc)
    except UnreadableBlobError as exc:
        fault = exc.reason
    return policy, glossary, fault


def publish_words(
    repo: Repository, store: Engine, want: Wanted, progress: Progress | None = None, deadline: float | None = None
) -> int:
    """Parse what is unseen and publish the snapshot with words alone. Returns how many blobs were new.

    What the newest snapshot has already is taken over. Raises `UnfinishedError` when ``deadline``, a time.monotonic()
    moment, passes before all is read. The caller holds the seeding lock.
    """
    entries = list_files(repo, want.tree)
    policy, glossary, fault = read_policy(repo, entries)
    files = [(e, "") for e in entries if is_record_path(e.path)]
    files += [(Entry(c.path, c.blob), c.ref) for c in want.candidates]
    base = _base(store, version(policy))
    changed = [file for file, place in zip(files, base.places(files), strict=True) if place < 0]
    blobs = list(dict.fromkeys(entry.blob for entry, _ in changed))
    known = store.stored(blobs, version(policy))
    unseen = [blob for blob in blobs if blob not in known]
    known |= read(repo, store, unseen, policy, progress, deadline)
    snapshot, lengths = assemble(want, files, known, policy, glossary, fault, version(policy), base)
    store.publish(snapshot, lengths)
    configured = [e.blob for e in entries if e.path in CONFIGURATION]
    missing = [blob for blob in (*unseen, *configured) if not has_object(repo, blob)]
    if missing or store.noted(_MISSING + want.key):
        store.note(_MISSING + want.key, " ".join(missing))
    return len(unseen)


def _base(store: Engine, parsed: str) -> Base:
    """Return the newest snapshot of the same version of parsed files, to take heads over from."""
    loaded = store.load()
    return base_of(*loaded) if loaded and loaded[0].version == parsed else EMPTY


def published(repo: Repository, store: Engine, key: str) -> bool:
    """Tell whether a snapshot is there, and nothing that was missing in this clone has arrived since."""
    return store.has(key) and not any(has_object(repo, oid) for oid in store.noted(_MISSING + key).split())


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
        order = np.argsort(loaded[0].pids, kind="stable")
        known = loaded[0].pids[order]
        at = np.minimum(np.searchsorted(known, pids), len(known) - 1)
        return np.where(known[at] == pids, before[0][order[at]], -1).astype(np.int32)
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
        if len(held) >= _BATCH:
            store.add_vectors(embedder.identity, held)
            held = {}
        if progress:
            progress("embedding", done, len(missing))
        if deadline is not None and time.monotonic() >= deadline:
            break
    store.add_vectors(embedder.identity, held)
    return done


def seed(
    repo: Repository,
    store: Engine,
    want: Wanted,
    choose: Choose,
    *,
    budget: float | None = None,
    wait: float = 60.0,
    progress: Progress | None = None,
) -> Seeded:
    """Publish the snapshot of ``want``, first with words alone, then with the vectors of the chosen embedders.

    ``choose`` names them from the snapshot's own policy. ``budget`` seconds bound reading and embedding, ``wait``
    seconds the wait for another seeding process. Raises `UnfinishedError` when not all records could be read in time,
    `StoreError` when the lock stays held or the disk refuses, `EmbedderError` when a model does not load; the words
    are published before that.
    """
    start = time.monotonic()
    deadline = None if budget is None else start + budget
    with store.exclusive(wait):
        parsed = 0 if published(repo, store, want.key) else publish_words(repo, store, want, progress, deadline)
        loaded = store.load(want.key)
        snapshot = loaded[0] if loaded else None
        embedded = missing = 0
        for embedder in choose(snapshot.policy) if snapshot else ():
            if not complete(store, want.key, embedder):
                done, left = publish_vectors(store, want.key, embedder, deadline, progress)
                embedded, missing = embedded + done, missing + left
    records = len(snapshot.heads) if snapshot else 0
    return Seeded(want.key, records, parsed, embedded, missing, time.monotonic() - start)


def complete(store: Engine, key: str, embedder: Embedder) -> bool:
    """Tell whether every passage of a published snapshot has its vector under this embedder, which can be read."""
    plane = store.plane(key, embedder.identity)
    if plane is None:
        return False
    return bool(((plane[0] >= 0) & (plane[0] < store.held(embedder.identity))).all())
