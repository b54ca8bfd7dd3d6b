"""One repository, open: its store, the snapshot it answers from, and how fresh that is."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from seed import seeder
from seed.assemble import Wanted
from seed.embed.base import Embedder
from seed.embed.choose import choose
from seed.errors import (
    DamagedStoreError,
    EmbedderError,
    SidecarError,
    StoreError,
    UnfinishedError,
    UnreachableError,
    UnseededError,
)
from seed.git.candidates import candidates
from seed.git.repository import Repository, head_commit, open_repository, resolve
from seed.git.tree import configuration
from seed.planes import complete
from seed.policy import Policy
from seed.store.engine import Engine
from seed.store.paths import kept_folder
from sidecar.base import Base
from sidecar.corpus import Corpus, build
from sidecar.planes import Opened, Planes
from sidecar.shelf import Shelf, fallback_note

Progress = Callable[[str, int, int], None]
Adjust = Callable[[Policy], Policy]
T = TypeVar("T")
_EMBEDDING_WAIT = 0.05


def as_committed(policy: Policy) -> Policy:
    """Return the policy of the commit unchanged: what every session but an evaluation answers with."""
    return policy


@dataclass(frozen=True, slots=True)
class View:
    """What an answer is given from: the corpus, the commit it stands for, and whether HEAD has moved on.

    ``base`` is the default branch to compare with, None where nothing is compared.
    """

    corpus: Corpus
    commit: str
    head: str
    stale: bool
    degraded: str
    wanted: Wanted
    base: Base | None = None


class Session:
    """Keeps the store open and the loaded snapshot in memory between questions. Not safe for several threads.

    ``adjust`` changes the commit's policy before it counts: an evaluation removes one rule, or takes a base's policy.
    """

    def __init__(self, folder: Path, *, embedders: seeder.Choose = choose, adjust: Adjust = as_committed) -> None:
        self.folder = folder
        self.adjust = adjust
        self.repo: Repository = open_repository(folder)
        self.choose = embedders
        self.shelf = Shelf(self.repo)
        self._line = fallback_note(self.repo)
        self._corpus: Corpus | None = None
        self._planes = Planes()
        self._complete: set[tuple[str, str]] = set()
        self._generation = -1
        self._embedders: dict[str, tuple[Embedder, ...]] = {}
        self.behind = False
        """Whether the last view was stale or lacked vectors, so that more seeding would better the next answer."""

    @property
    def store(self) -> Engine:
        """Return the store that answers just now."""
        return self.shelf.store

    @property
    def kept(self) -> Path:
        """Return the folder of receipts and transcripts of this repository."""
        return kept_folder(self.repo.name, self.repo.common)

    def close(self) -> None:
        """Close the store."""
        self.shelf.close()

    def healing(self, work: Callable[[], T]) -> T:
        """Run work on the store; when it proves damaged or its server is away, go on from Git and run it once more."""
        if self.shelf.look_again():
            self._forget()
        try:
            return work()
        except DamagedStoreError:
            self.store.start_anew()
        except UnreachableError as exc:
            if self.shelf.replicated:  # the one that died is asked last now
                with suppress(UnreachableError):
                    self._forget()
                    return work()
            self.shelf.stand_in(exc)
        self._forget()
        return work()

    def _forget(self) -> None:
        """Drop what was loaded: its numbers mean nothing in a store that was made anew or compacted."""
        self._generation = self.store.generation()
        self._corpus = None
        self._planes.clear()
        self._complete.clear()

    def wanted(self, commit: str = "") -> Wanted:
        """Return what the snapshot of a commit (HEAD by default) consists of, candidates included."""
        at = commit or head_commit(self.repo)
        return seeder.wanted(self.repo, at, candidates(self.repo, at))

    def policy(self, want: Wanted) -> Policy:
        """Return the policy in force for a commit, read from its tree; nothing needs to be seeded for it."""
        return self.adjust(seeder.read_policy(self.repo, configuration(self.repo, want.tree))[0])

    def embedders(self, policy: Policy) -> tuple[Embedder, ...]:
        """Return the embedders of a policy; they are made once and load their models at the first text."""
        key = f"{policy.model}/{policy.languages}/{policy.passage_chars}"
        if key not in self._embedders:
            self._embedders[key] = tuple(self.choose(policy))
        return self._embedders[key]

    def view(
        self,
        want: Wanted | None = None,
        *,
        second: bool = False,
        vectors: bool = True,
        budget: float = 2.0,
        progress: Progress | None = None,
    ) -> View:
        """Return the freshest view that ``budget`` seconds allow; what is missing is seeded first.

        ``second`` asks for the vectors of the second model too, and without ``vectors`` the words are enough. Past
        the budget, or when seeding fails, the last good snapshot answers and says that it is stale. Raises
        `SidecarError` when there is none at all.
        """
        target = want or self.wanted()
        degraded = ""
        self.behind = False
        if self.store.generation() != self._generation:
            self._forget()
        needed = partial(self.needed, second=second, vectors=vectors)
        if not self._ready_or_degraded(target.key, needed):
            degraded = self._seed(target, lambda policy: needed(self.adjust(policy)), budget, progress)
        corpus = self._load(target.key)
        if corpus is not None:
            self._remember(target)
            reason = degraded or self._fault(corpus)
            return View(corpus, target.commit, target.commit, stale=False, degraded=reason, wanted=target)
        # Only what this very worktree has stood on: another branch, or an old revision, may hold what was overturned.
        known = self.store.noted(self._line)
        corpus = self._load(known) if known else None
        self.behind = True
        if corpus is None:
            raise UnseededError(
                f"nothing is seeded here yet: {degraded}",
                "run 'sidecar seed' and see what it says",
            )
        snapshot = corpus.snapshot
        return View(corpus, snapshot.commit, target.commit, stale=True, degraded=degraded, wanted=target)

    def _remember(self, target: Wanted) -> None:
        """Note the snapshot of HEAD as the one to fall back on; without a writable store there is none."""
        if target.commit == head_commit(self.repo) and self.store.noted(self._line) != target.key:
            with suppress(StoreError):
                self.store.note(self._line, target.key)

    def past(self, revision: str, budget: float = 2.0) -> View:
        """Return the view of a revision, with words alone and without candidates, which belong to HEAD.

        It never becomes the snapshot that a later question falls back on. Raises `SidecarError`.
        """
        found = self.view(seeder.wanted(self.repo, resolve(self.repo, revision)), vectors=False, budget=budget)
        if found.stale:
            raise StoreError(f"the records of {revision} could not be read: {found.degraded}", "try again in a while")
        return found

    def _fault(self, corpus: Corpus) -> str:
        if corpus.snapshot.policy_fault:
            return f"the shipped policy is in force: {corpus.snapshot.policy_fault}"
        return self.shelf.degraded(corpus.snapshot.policy.engine)

    def _ready_or_degraded(self, key: str, needed: seeder.Choose) -> bool:
        try:
            return self._ready(key, needed)
        except EmbedderError:
            return False  # seeding says why, and the words answer

    def _ready(self, key: str, needed: seeder.Choose) -> bool:
        if not seeder.published(self.repo, self.store, key):
            return False
        corpus = self._load(key)
        for embedder in needed(corpus.snapshot.policy) if corpus else ():
            mark = (key, embedder.identity.digest)
            if mark not in self._complete:
                if not complete(self.store, key, embedder):
                    return False
                self._complete.add(mark)
        return True

    def needed(self, policy: Policy, *, second: bool, vectors: bool = True) -> tuple[Embedder, ...]:
        """Return the embedders whose vectors a policy needs; with ``second`` those for other languages too."""
        if policy.fusion == "lexical" or not vectors:
            return ()
        found = self.embedders(policy)
        return found if second else found[:1]

    def _seed(self, want: Wanted, needed: seeder.Choose, budget: float, progress: Progress | None) -> str:
        start = time.monotonic()
        # Whoever holds the lock while the words are there is embedding: nothing is gained by waiting for that.
        wait = min(budget, _EMBEDDING_WAIT) if self.store.has(want.key) else budget
        try:
            done = seeder.seed(self.repo, self.store, want, needed, budget=budget, wait=wait, progress=progress)
        except DamagedStoreError:
            raise
        except UnfinishedError as exc:
            return f"{exc.message} (stopped after {time.monotonic() - start:.1f} s of {budget:g} s)"
        except (StoreError, EmbedderError) as exc:
            return str(exc)
        finally:
            self._planes.clear()
        if done.missing:
            self.behind = True
            spent = time.monotonic() - start
            return f"{done.missing} passages are not embedded yet (stopped after {spent:.1f} s of {budget:g} s)"
        return ""

    def _load(self, key: str) -> Corpus | None:
        if self._corpus is not None and key and self._corpus.snapshot.key == key:
            return self._corpus
        loaded = self.store.load(key)
        if loaded is None:
            return None
        snapshot = replace(loaded[0], policy=self.adjust(loaded[0].policy))
        self._corpus = build(snapshot, loaded[1], self.store.postings)
        self._planes.clear()
        return self._corpus

    def embedded(self, corpus: Corpus) -> NDArray[np.bool_]:
        """Return which records (m,) have all their passages embedded by the main model; none is loaded for it."""
        missing = np.ones(len(corpus.heads), dtype=bool)
        try:
            embedders = self.needed(corpus.snapshot.policy, second=False)
        except EmbedderError:
            return ~missing
        stored = self.store.plane(corpus.snapshot.key, embedders[0].identity) if embedders else None
        if stored is not None:
            missing = np.bincount(corpus.documents.owners, stored[0] < 0, minlength=len(corpus.heads)) > 0
        return ~missing

    def plane(self, corpus: Corpus, embedder: Embedder, language: str) -> Opened | None:
        """Return the vectors of an embedder over a corpus, charged by the probes of a language; None without any."""
        return self._planes.find(self.store, corpus, embedder, language)


def open_session(folder: Path, embedders: seeder.Choose = choose, adjust: Adjust = as_committed) -> Session:
    """Open a session on the repository that holds ``folder``. Raises `SidecarError`."""
    try:
        return Session(folder, embedders=embedders, adjust=adjust)
    except OSError as exc:
        raise SidecarError(f"{folder} cannot be read: {exc.strerror}", "check its permissions") from None
