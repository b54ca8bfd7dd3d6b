"""One repository, open: its store, the snapshot it answers from, and how fresh that is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from seed import seeder
from seed.assemble import Wanted
from seed.embed.base import Embedder
from seed.embed.choose import choose
from seed.errors import EmbedderError, SidecarError, StoreError
from seed.git.candidates import candidates
from seed.git.repository import Repository, head_commit, open_repository
from seed.git.tree import list_files
from seed.policy import Policy
from seed.store.paths import kept_folder, store_folder
from seed.store.store import Store
from sidecar import corpus as core
from sidecar.corpus import Corpus, Plane, build

Progress = Callable[[str, int, int], None]
Adjust = Callable[[Policy], Policy]


def as_committed(policy: Policy) -> Policy:
    """Return the policy of the commit unchanged: what every session but an evaluation answers with."""
    return policy


@dataclass(frozen=True, slots=True)
class View:
    """What an answer is given from: the corpus, the commit it stands for, and whether HEAD has moved on."""

    corpus: Corpus
    commit: str
    head: str
    stale: bool
    degraded: str
    wanted: Wanted


class Session:
    """Keeps the store open and the loaded snapshot in memory between questions. Not safe for several threads.

    ``adjust`` changes the commit's policy before it counts: an evaluation removes one rule, or takes a base's policy.
    """

    def __init__(self, folder: Path, *, embedders: seeder.Choose = choose, adjust: Adjust = as_committed) -> None:
        self.folder = folder
        self.adjust = adjust
        self.repo: Repository = open_repository(folder)
        self.choose = embedders
        self.store = Store(store_folder(self.repo.name, self.repo.common))
        self._corpus: Corpus | None = None
        self._planes: dict[tuple[str, str], Plane] = {}
        self._complete: set[tuple[str, str]] = set()
        self._embedders: dict[str, tuple[Embedder, ...]] = {}

    @property
    def kept(self) -> Path:
        """Return the folder of receipts and transcripts of this repository."""
        return kept_folder(self.repo.name, self.repo.common)

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def wanted(self, commit: str = "") -> Wanted:
        """Return what the snapshot of a commit (HEAD by default) consists of, candidates included."""
        at = commit or head_commit(self.repo)
        return seeder.wanted(self.repo, at, candidates(self.repo, at))

    def policy(self, want: Wanted) -> Policy:
        """Return the policy in force for a commit, read from its tree; nothing needs to be seeded for it."""
        return self.adjust(seeder.read_policy(self.repo, list_files(self.repo, want.tree))[0])

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
        budget: float = 2.0,
        progress: Progress | None = None,
    ) -> View:
        """Return the freshest view that ``budget`` seconds allow; what is missing is seeded first.

        ``second`` asks for the vectors of the second model too. Past the budget, or when seeding fails, the last
        good snapshot answers and says that it is stale. Raises `SidecarError` when there is none at all.
        """
        target = want or self.wanted()
        degraded = ""
        if not self._ready(target.key, second):
            degraded = self._seed(target, second, budget, progress)
        corpus = self._load(target.key)
        if corpus is not None:
            return View(
                corpus,
                target.commit,
                target.commit,
                stale=False,
                degraded=degraded or self._fault(corpus),
                wanted=target,
            )
        corpus = self._corpus or self._load("")
        if corpus is None:
            raise StoreError(
                f"nothing is seeded yet and seeding did not finish: {degraded}",
                "run 'sidecar seed' and see what it says",
            )
        snapshot = corpus.snapshot
        return View(corpus, snapshot.commit, target.commit, stale=True, degraded=degraded, wanted=target)

    def _fault(self, corpus: Corpus) -> str:
        return f"the shipped policy is in force: {corpus.snapshot.policy_fault}" if corpus.snapshot.policy_fault else ""

    def _ready(self, key: str, second: bool) -> bool:
        if not self.store.has(key):
            return False
        corpus = self._load(key)
        needed = self.needed(corpus.snapshot.policy, second=second) if corpus else ()
        for embedder in needed:
            mark = (key, embedder.identity.digest)
            if mark not in self._complete:
                if not seeder.complete(self.store, key, embedder):
                    return False
                self._complete.add(mark)
        return True

    def needed(self, policy: Policy, *, second: bool) -> tuple[Embedder, ...]:
        """Return the embedders whose vectors a policy needs; with ``second`` those for other languages too."""
        if policy.fusion == "lexical":
            return ()
        found = self.embedders(policy)
        return found if second else found[:1]

    def _seed(self, want: Wanted, second: bool, budget: float, progress: Progress | None) -> str:
        start = time.monotonic()
        try:
            done = seeder.seed(
                self.repo,
                self.store,
                want,
                lambda policy: self.needed(self.adjust(policy), second=second),
                budget=budget,
                wait=budget,
                progress=progress,
            )
        except (StoreError, EmbedderError) as exc:
            return str(exc)
        finally:
            self._planes.clear()
        if done.missing:
            spent = time.monotonic() - start
            return f"{done.missing} passages are not embedded yet (stopped after {spent:.1f} s of {budget:g} s)"
        return ""

    def _load(self, key: str) -> Corpus | None:
        if self._corpus is not None and key and self._corpus.snapshot.key == key:
            return self._corpus
        loaded = self.store.load(key)
        if loaded is None:
            return None
        snapshot, lengths = loaded
        snapshot = replace(snapshot, policy=self.adjust(snapshot.policy))
        self._corpus = build(snapshot, lengths, self.store.postings)
        self._planes.clear()
        return self._corpus

    def plane(self, corpus: Corpus, embedder: Embedder) -> Plane | None:
        """Return the vectors of an embedder over a corpus, or None where none are stored."""
        mark = (corpus.snapshot.key, embedder.identity.digest)
        if mark not in self._planes:
            stored = self.store.plane(mark[0], embedder.identity)
            matrix = self.store.matrix(embedder.identity)
            if stored is None or matrix is None:
                return None
            rows = np.where(stored[0] < len(matrix), stored[0], -1).astype(np.int32)
            self._planes[mark] = core.plane(
                embedder.identity.digest, matrix, rows, corpus.documents.owners, len(corpus.heads)
            )
        return self._planes[mark]


def open_session(folder: Path, embedders: seeder.Choose = choose, adjust: Adjust = as_committed) -> Session:
    """Open a session on the repository that holds ``folder``. Raises `SidecarError`."""
    try:
        return Session(folder, embedders=embedders, adjust=adjust)
    except OSError as exc:
        raise SidecarError(f"{folder} cannot be read: {exc.strerror}", "check its permissions") from None
