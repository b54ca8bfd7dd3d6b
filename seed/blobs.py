"""Parse the files of a commit into the store: each blob once, within a budget, whoever asks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from seed import text
from seed.assemble import title_terms
from seed.errors import BusyError, StoreError, UnfinishedError
from seed.git.repository import Repository
from seed.git.tree import Entry, UnreadableBlobError, has_object, is_record_path, list_files, read_blob
from seed.passages import PROJECTION, cut
from seed.policy import Policy
from seed.reader import parse_record
from seed.record import SCHEMA_VERSION, Parsed, Problem, Record
from seed.store.engine import Engine
from seed.store.parsed import Stored, Unseen
from seed.store.paths import STORE_FORMAT

Progress = Callable[[str, int, int], None]
_FEW = 64
"""So many new files are read however little time there is: a fraction of a second that makes an answer current."""
_SHORT_WAIT = 0.2
"""Seconds that an answer waits for another seeding process before it parses a few files for itself."""


def version(policy: Policy) -> str:
    """Return the cache version of parsed blobs: parser, cut and size of passages, words."""
    return f"{SCHEMA_VERSION}/{PROJECTION}/{policy.passage_chars}/{STORE_FORMAT}"


def read(
    repo: Repository,
    store: Engine,
    unseen: Sequence[str],
    policy: Policy,
    progress: Progress | None = None,
    deadline: float | None = None,
) -> dict[str, Stored]:
    """Parse blobs into the store and return what it holds of them. The caller holds the seeding lock.

    Raises `UnfinishedError` past the deadline, once what was parsed until then is stored.
    """
    found: dict[str, Stored] = {}
    for at in range(0, len(unseen), 256):
        part = unseen[at : at + 256]
        here = [blob for blob in part if has_object(repo, blob)]
        store.add((_parse(repo, blob, policy) for blob in _until(deadline, here, max(_FEW - at, 0))), version(policy))
        found.update(store.stored(here, version(policy)))
        if missing := sum(blob not in found for blob in here):
            done = at + len(here) - missing
            raise UnfinishedError(f"{done} of {len(unseen)} new files are read", "run 'sidecar seed', or ask again")
        # What a partial clone lacks may arrive later, so that it is missing is never kept as what the file says.
        gone = {blob: _parse(repo, blob, policy).problems for blob in part if blob not in found}
        found.update({blob: Stored(None, problems) for blob, problems in gone.items()})
        if progress:
            progress("reading", min(at + 256, len(unseen)), len(unseen))
    return found


def _until(deadline: float | None, blobs: Sequence[str], few: int) -> Iterator[str]:
    for number, blob in enumerate(blobs):
        if deadline is not None and number >= few and time.monotonic() >= deadline:
            return
        yield blob


def records(
    repo: Repository, store: Engine, tree: str, policy: Policy, budget: float | None = None
) -> list[tuple[Entry, Record | None]]:
    """Return the records of a knowledge tree (without bodies; None: unreadable), by path, through the store's cache.

    What is unseen is parsed, and kept unless another process is seeding just now. Raises `UnfinishedError` when that
    takes over ``budget`` seconds.
    """
    deadline = None if budget is None else time.monotonic() + budget
    entries = [entry for entry in list_files(repo, tree) if is_record_path(entry.path)]
    known = store.stored([entry.blob for entry in entries], version(policy))
    unseen = list(dict.fromkeys(entry.blob for entry in entries if entry.blob not in known))
    parsed = {blob: stored.record for blob, stored in known.items()}
    if unseen:
        try:
            with store.exclusive(_SHORT_WAIT):
                found = read(repo, store, unseen, policy, deadline=deadline)
                parsed |= {blob: stored.record for blob, stored in found.items()}
        except StoreError as exc:
            if isinstance(exc, UnfinishedError) and not isinstance(exc, BusyError):
                raise
            parsed |= {blob: _parse(repo, blob, policy).record for blob in unseen}
    return [(entry, parsed[entry.blob]) for entry in entries]


def _parse(repo: Repository, blob: str, policy: Policy) -> Unseen:
    try:
        parsed = parse_record(read_blob(repo, blob))
    except UnreadableBlobError as exc:
        parsed = Parsed(None, (Problem(1, exc.reason, exc.fix, fatal=True),))
    return as_unseen(blob, parsed, policy)


def as_unseen(blob: str, parsed: Parsed, policy: Policy) -> Unseen:
    """Return what a store keeps of a parsed blob: its passages, and the words of each of its documents."""
    record = parsed.record
    if record is None:
        return Unseen(blob, None, parsed.problems, (), (), "", text.terms(""))
    passages = tuple(cut(record.title, record.body, policy.passage_chars))
    title = " ".join((record.title, record.id, *record.tags, *record.paths))
    body_terms = tuple(text.terms(p.text[p.skip :]) for p in passages)
    return Unseen(blob, record, parsed.problems, passages, body_terms, title, title_terms(record))
