"""The one algorithm: list the tree, parse unseen blobs, embed unseen passages, publish the snapshot.

Renames, amends, rebases, resets and branch switches need no code of their own (decision-0002).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from seed import text
from seed.assemble import EMPTY, Base, Wanted, assemble, base_of, title_terms
from seed.embed.base import Embedder
from seed.errors import SidecarError, StoreError
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
from seed.passages import PROJECTION, cut
from seed.planes import Progress, complete, publish_vectors
from seed.policy import Policy
from seed.reader import parse_record
from seed.record import SCHEMA_VERSION, Parsed, Problem, Record
from seed.store.engine import Engine
from seed.store.parsed import Stored, Unseen
from seed.store.paths import STORE_FORMAT

_MISSING = "missing:"
_SHORT_WAIT = 0.2
"""Seconds that an answer waits for another seeding process before it parses a few files for itself."""

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


def version(policy: Policy) -> str:
    """Return the cache version of parsed blobs: parser, cut and size of passages, words."""
    return f"{SCHEMA_VERSION}/{PROJECTION}/{policy.passage_chars}/{STORE_FORMAT}"


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


def publish_words(repo: Repository, store: Engine, want: Wanted, progress: Progress | None = None) -> int:
    """Parse what is unseen and publish the snapshot with words alone. Returns how many blobs were new.

    What the newest snapshot has already is taken over. The caller holds the seeding lock.
    """
    entries = list_files(repo, want.tree)
    policy, glossary, fault = read_policy(repo, entries)
    files = [(e, "") for e in entries if is_record_path(e.path)]
    files += [(Entry(c.path, c.blob), c.ref) for c in want.candidates]
    base = _base(store, version(policy))
    changed = [file for file, place in zip(files, base.places(files), strict=True) if place < 0]
    blobs = list(dict.fromkeys(entry.blob for entry, _ in changed))
    known = store.stored(blobs, version(policy))
    new = [blob for blob in blobs if blob not in known]
    known |= _read(repo, store, new, policy, progress)
    snapshot, lengths = assemble(want, files, known, policy, glossary, fault, version(policy), base)
    store.publish(snapshot, lengths)
    configured = [e.blob for e in entries if e.path in CONFIGURATION]
    missing = [blob for blob in (*new, *configured) if not has_object(repo, blob)]
    if missing or store.noted(_MISSING + want.key):
        store.note(_MISSING + want.key, " ".join(missing))
    return len(new)


def _base(store: Engine, parsed: str) -> Base:
    """Return the newest snapshot of the same version of parsed files, to take heads over from."""
    loaded = store.load()
    return base_of(*loaded) if loaded and loaded[0].version == parsed else EMPTY


def published(repo: Repository, store: Engine, key: str) -> bool:
    """Tell whether a snapshot is there, and nothing that was missing in this clone has arrived since."""
    return store.has(key) and not any(has_object(repo, oid) for oid in store.noted(_MISSING + key).split())


def _read(
    repo: Repository, store: Engine, new: Sequence[str], policy: Policy, progress: Progress | None = None
) -> dict[str, Stored]:
    """Parse blobs into the store and return what it holds of them. The caller holds the seeding lock."""
    found: dict[str, Stored] = {}
    for at in range(0, len(new), 256):
        part = new[at : at + 256]
        here = [blob for blob in part if has_object(repo, blob)]
        store.add((_parse(repo, blob, policy) for blob in here), version(policy))
        found.update(store.stored(here, version(policy)))
        # What a partial clone lacks may arrive later, so that it is missing is never kept as what the file says.
        gone = {blob: _parse(repo, blob, policy).problems for blob in part if blob not in found}
        found.update({blob: Stored(None, problems) for blob, problems in gone.items()})
        if progress:
            progress("reading", min(at + 256, len(new)), len(new))
    return found


def records(repo: Repository, store: Engine, tree: str, policy: Policy) -> list[tuple[Entry, Record | None]]:
    """Return the records of a knowledge tree (without bodies; None: unreadable), by path, through the store's cache.

    What is unseen is parsed, and kept unless another process is seeding just now.
    """
    entries = [entry for entry in list_files(repo, tree) if is_record_path(entry.path)]
    known = store.stored([entry.blob for entry in entries], version(policy))
    new = list(dict.fromkeys(entry.blob for entry in entries if entry.blob not in known))
    read = {blob: stored.record for blob, stored in known.items()}
    if new:
        try:
            with store.exclusive(_SHORT_WAIT):
                read |= {blob: stored.record for blob, stored in _read(repo, store, new, policy).items()}
        except StoreError:
            read |= {blob: _parse(repo, blob, policy).record for blob in new}
    return [(entry, read[entry.blob]) for entry in entries]


def _parse(repo: Repository, blob: str, policy: Policy) -> Unseen:
    try:
        parsed = parse_record(read_blob(repo, blob))
    except UnreadableBlobError as exc:
        parsed = Parsed(None, (Problem(1, exc.reason, exc.fix, fatal=True),))
    return unseen(blob, parsed, policy)


def unseen(blob: str, parsed: Parsed, policy: Policy) -> Unseen:
    """Return what a store keeps of a parsed blob: its passages, and the words of each of its documents."""
    record = parsed.record
    if record is None:
        return Unseen(blob, None, parsed.problems, (), (), "", text.terms(""))
    passages = tuple(cut(record.title, record.body, policy.passage_chars))
    title = " ".join((record.title, record.id, *record.tags, *record.paths))
    body_terms = tuple(text.terms(p.text[p.skip :]) for p in passages)
    return Unseen(blob, record, parsed.problems, passages, body_terms, title, title_terms(record))


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

    ``choose`` names them from the snapshot's own policy. ``budget`` seconds bound the embedding, ``wait`` seconds
    the wait for another seeding process. Raises `StoreError` when the lock stays held or the disk refuses,
    `EmbedderError` when a model does not load; the words are published before that.
    """
    start = time.monotonic()
    deadline = None if budget is None else start + budget
    with store.exclusive(wait):
        parsed = 0 if published(repo, store, want.key) else publish_words(repo, store, want, progress)
        loaded = store.load(want.key)
        snapshot = loaded[0] if loaded else None
        embedded = missing = 0
        for embedder in choose(snapshot.policy) if snapshot else ():
            if not complete(store, want.key, embedder):
                done, left = publish_vectors(store, want.key, embedder, deadline, progress)
                embedded, missing = embedded + done, missing + left
    records = len(snapshot.heads) if snapshot else 0
    return Seeded(want.key, records, parsed, embedded, missing, time.monotonic() - start)
