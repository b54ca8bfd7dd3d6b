"""The one algorithm: list the tree, parse unseen blobs, embed unseen passages, publish the snapshot.

Renames, amends, rebases, resets and branch switches need no code of their own (decision-0002).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from seed.assemble import Wanted, assemble
from seed.base import EMPTY, Base, Plan, base_of, plan
from seed.blobs import Progress, read, version
from seed.embed.base import Embedder
from seed.errors import SidecarError
from seed.git.candidates import Candidate
from seed.git.repository import Repository
from seed.git.tree import (
    CONFIGURATION,
    Entry,
    UnreadableBlobError,
    configuration,
    difference,
    has_object,
    is_record_path,
    read_blob,
    subtree,
)
from seed.planes import complete, publish_vectors
from seed.policy import Policy
from seed.store.engine import Engine

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
    configured = configuration(repo, want.tree)
    policy, glossary, fault = read_policy(repo, configured)
    base = _base(store, version(policy))
    base, todo = _plan(repo, base, want)
    blobs = list(dict.fromkeys(entry.blob for entry, _ in todo.files))
    known = store.stored(blobs, version(policy))
    unseen = [blob for blob in blobs if blob not in known]
    missing = [blob for blob in (*unseen, *(e.blob for e in configured)) if not has_object(repo, blob)]
    known |= read(repo, store, unseen, policy, progress, deadline)
    snapshot, lengths = assemble(want, todo, known, policy, glossary, fault, version(policy), base)
    if missing:  # noted first: a kill in between must not leave a snapshot that is never looked at again
        store.note(_MISSING + want.key, " ".join(missing))
    store.publish(snapshot, lengths)
    if not missing and store.noted(_MISSING + want.key):
        store.note(_MISSING + want.key)
    return len(unseen)


def _base(store: Engine, parsed: str) -> Base:
    """Return the newest snapshot of the same version of parsed files, to take heads over from."""
    loaded = store.load()
    return base_of(*loaded) if loaded and loaded[0].version == parsed else EMPTY


def _plan(repo: Repository, base: Base, want: Wanted) -> tuple[Base, Plan]:
    """Return the base and what to do with it; none is left where its tree is gone, as after an amend and a gc."""
    try:
        told = difference(repo, base.tree, want.tree)
    except SidecarError:
        base, told = EMPTY, difference(repo, "", want.tree)
    gone, new = ([entry for entry in side if is_record_path(entry.path)] for side in (told.gone, told.new))
    return base, plan(base, gone, new, [(Entry(c.path, c.blob), c.ref) for c in want.candidates])


def published(repo: Repository, store: Engine, key: str) -> bool:
    """Tell whether a snapshot is there, and nothing that was missing in this clone has arrived since."""
    return store.has(key) and not any(has_object(repo, oid) for oid in store.noted(_MISSING + key).split())


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
