"""The public Python API: ask a repository's records, get an answer with a receipt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seed import seeder
from seed.embed.choose import choose
from seed.errors import StoreError
from seed.git.repository import head_commit, inside, resolve
from seed.git.tree import list_files, subtree
from seed.git.worktree import WorkingTree
from seed.store import portable
from seed.store.engine import Chain
from sidecar import answer as answers
from sidecar import compose, contradictions, cursor, reading, status
from sidecar import receipt as receipts
from sidecar.answer import Answer
from sidecar.base import Bases
from sidecar.compose import Decided
from sidecar.corpus import Corpus, Statuses
from sidecar.meaning import Meaning
from sidecar.query import Query, checked
from sidecar.recall import recall
from sidecar.session import Adjust, Progress, View, as_committed, open_session

if TYPE_CHECKING:
    from sidecar.address import Addresser

Clock = Callable[[], datetime]


def _now() -> datetime:
    return datetime.now(UTC)


class Provider:
    """Answers questions on one repository. Every surface (command line, MCP, pages) is an adapter of it."""

    def __init__(
        self,
        folder: Path | str = ".",
        *,
        embedders: seeder.Choose = choose,
        clock: Clock = _now,
        adjust: Adjust = as_committed,
    ) -> None:
        self.session = open_session(Path(folder), embedders, adjust)
        self.clock = clock
        self.any_session = False
        """Whether sessions of other repositories may be kept too: a flag of the server, never an argument."""
        self._working_tree = WorkingTree(self.session.repo)
        self.meaning = Meaning(self.session)
        self.bases = Bases(self.session.repo, lambda: self.session.store)

    def close(self) -> None:
        """Close store and receipts."""
        self.session.close()

    def recall(
        self, query: Query, *, detail: str = "full", budget: float = 2.0, progress: Progress | None = None
    ) -> Answer:
        """Answer a query: the records that still apply, each with its evidence, or the verdict "none".

        ``budget`` seconds bound the seeding that a moved HEAD makes necessary. Raises `SidecarError` for arguments
        that cannot be meant and where nothing was ever seeded.
        """
        asked = self._placed(checked(query))

        def work() -> tuple[Answer, dict[str, Any]]:
            see = partial(self.session.view, vectors=bool(asked.phrasings), budget=budget, progress=progress)
            view = see(second=self.meaning.needs_second(asked))
            if view.corpus.cjk and asked.phrasings:
                view = see(second=True)
            self.bases.budget = budget
            base = self.bases.find(view.commit, view.corpus.snapshot.policy)
            if base and view.stale and not self.bases.in_time(base, view.corpus.snapshot.policy):
                base = None  # the answer says that it is of an older commit, and which
            return self.answer(asked, replace(view, base=base), self.clock())

        full, body = self.session.healing(work)
        sealed, stored = self._kept(body)
        full["receipt"] = {"id": sealed["id"], "stored": stored}
        return answers.brief(full) if detail == "brief" else full

    def propose(
        self,
        record: Mapping[str, object] | str | bytes,
        *,
        agent: str = "",
        session: str = "",
        work: str = "",
        onto: str = "",
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Commit a record as a candidate on a branch of its own (see `sidecar.propose.propose`)."""
        from sidecar.propose import propose, proposer

        return propose(self, record, proposer(agent, session, work), onto=onto, dry_run=dry_run)

    def revise(
        self, ident: str, change: Mapping[str, object], *, agent: str = "", session: str = "", propose: bool = False
    ) -> dict[str, Any]:
        """Amend a candidate; for a record in Git answer `memory/file-backed` (see `sidecar.revise.revise`)."""
        from sidecar.propose import proposer
        from sidecar.revise import revise

        return revise(self, ident, change, proposer(agent, session), propose=propose)

    def forget(
        self, ident: str, reason: str, *, agent: str = "", session: str = "", propose: bool = False
    ) -> dict[str, Any]:
        """Withdraw a candidate; for a record in Git answer `memory/file-backed` (see `sidecar.revise.forget`)."""
        from sidecar.propose import proposer
        from sidecar.revise import forget

        return forget(self, ident, reason, proposer(agent, session), propose=propose)

    def context(
        self, task: str, paths: Sequence[str] = (), *, budget: int = 2000, workspace: str = "", seconds: float = 2.0
    ) -> dict[str, Any]:
        """Return what bears on a task within ``budget`` tokens (see `sidecar.gather.gather`)."""
        from sidecar.gather import gather

        return gather(self, task, paths, budget=budget, workspace=workspace, seconds=seconds)

    def show(
        self,
        name: str,
        *,
        at: str = "",
        section: str = "",
        start: str = "",
        budget: float = 2.0,
        size: int = reading.BODY_CHARS,
    ) -> Answer:
        """Return one record by id or path of its file, whatever its status: facts, body, lineage and history.

        ``at`` is a revision, ``section`` a heading of the body, ``start`` the cursor of an earlier page, and
        ``size`` how many characters of the body a page has. Raises `SidecarError` where there is no such record,
        section or revision.
        """

        def work() -> Answer:
            return reading.show(
                self.session,
                self.bases,
                name,
                self.clock(),
                at=at,
                section=section,
                start=start,
                budget=budget,
                size=size,
            )

        return self.session.healing(work)

    def status(self) -> dict[str, Any]:
        """Return what answers stand on: repository, commits, coverage, embedders. Raises `SidecarError`."""
        return status.status(self.session)

    @cached_property
    def addresser(self) -> Addresser:
        """Return what finds places in the sessions kept; what it loaded serves the next question."""
        from sidecar.address import Addresser

        return Addresser(self)

    def unembedded(self) -> str:
        """Return, once, the scheme by which the last question to the sessions lacked vectors; "" where it had all."""
        if "addresser" not in vars(self):
            return ""
        scheme, self.addresser.waiting = self.addresser.waiting, ""
        return scheme

    @property
    def behind(self) -> bool:
        """Tell whether the last answer was stale or lacked vectors because its budget ran out."""
        return self.session.behind

    def seed(
        self, revision: str = "HEAD", *, cache: str = "", second: bool = True, progress: Progress | None = None
    ) -> dict[str, Any]:
        """Publish the snapshot of a commit with everything it needs. Returns what was done. Raises `SidecarError`.

        ``cache`` names a folder of portable vectors, read before and written after; ``second`` leaves the model for
        other languages out when it is False.
        """
        return self.session.healing(lambda: self._seed(revision, cache, second, progress))

    def _seed(self, revision: str, cache: str, second: bool, progress: Progress | None) -> dict[str, Any]:
        session = self.session
        head = head_commit(session.repo)
        commit = head if revision == "HEAD" else resolve(session.repo, revision)
        want = session.wanted(commit)
        needed = session.needed(session.policy(want), second=second)
        cached = sum(portable.fill(session.store, Path(cache), e.identity) for e in needed) if cache else 0
        done = seeder.seed(session.repo, session.store, want, lambda _: needed, progress=progress)
        for embedder in needed:
            session.store.prepare(embedder.identity)
        view = session.view(want, second=second, budget=0.0)
        self.meaning.warm(view.corpus)
        for embedder in needed if cache else ():
            portable.save(session.store, Path(cache), embedder.identity)
        return {
            "format": 1,
            "commit": commit,
            "records": done.records,
            "parsed": done.parsed,
            "embedded": done.embedded,
            "missing": done.missing,
            "unreadable": len(view.corpus.snapshot.unreadable),
            "seconds": round(done.seconds, 3),
            "cached": cached,
            "cache": cache,
        }

    def answer(
        self, query: Query, view: View, now: datetime, *, workspace: str | None = None
    ) -> tuple[Answer, dict[str, Any]]:
        """Return (full answer without its receipt, the receipt's body) for a view and a moment.

        ``workspace`` overrides the one that the session's folder gives (a replay asks with the recorded one).
        """
        corpus, today = view.corpus, now.astimezone(UTC).date()
        replayed = workspace is not None
        workspace = self.workspace(query, corpus) if workspace is None else workspace
        asked = self.meaning.ask(query, corpus)
        stand = "" if replayed else f"{today} {asked.stand}"
        start = cursor.start_of(query, corpus.snapshot.key, stand)
        ranked = recall(
            corpus,
            query,
            asked.phrases,
            corpus.snapshot.policy,
            today,
            start=start,
            workspace=workspace,
            unchanged=self._unchanged(query.since),
        )
        shown = [corpus.facets["id"].one(hit.ordinal) for hit in ranked.hits]
        ranked = replace(ranked, conflicts=contradictions.by_record(self.session, corpus, today, shown))
        since = self.bases.since(view.base, corpus.snapshot.policy, today)
        decided = Decided(
            query,
            view,
            asked,
            ranked,
            start,
            stand,
            workspace,
            Statuses(corpus, today),
            since,
            self._working_tree.uncommitted(),
        )
        full = compose.full(self.session, decided)
        return full, compose.receipt_body(decided, full, now)

    def _kept(self, body: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """Return a receipt and whether it was stored; an answer goes out also where it cannot be."""
        try:
            return self.receipts.append(lambda previous: receipts.seal(body, previous))
        except StoreError:
            return receipts.seal(body, ""), False

    @property
    def receipts(self) -> Chain:
        """Return the chain of receipts, opened at the first use."""
        return self.session.shelf.receipts()

    def workspace(self, query: Query, corpus: Corpus) -> str:
        """Return the workspace asked for, else the one whose folder the session started in, else ""."""
        if query.workspace:
            return query.workspace
        try:
            here = self.session.folder.resolve().relative_to(self.session.repo.root).as_posix()
        except ValueError:
            return ""
        inside = [
            (folder, name)
            for name, folder in corpus.snapshot.policy.workspaces.items()
            if (here + "/").startswith(folder + "/")
        ]
        return max(inside, key=lambda pair: len(pair[0]))[1] if inside else ""

    def _placed(self, query: Query) -> Query:
        """Return the query with absolute paths as repository paths, and ``since`` as the commit it names today."""
        repo = self.session.repo
        place = partial(inside, repo)
        since = resolve(repo, query.since) if query.since else ""
        return replace(query, path=place(query.path), paths=tuple(map(place, query.paths)), since=since)

    def _unchanged(self, commit: str) -> frozenset[str]:
        """Return the blobs under knowledge/ of a commit: what has them still is no news since then."""
        repo = self.session.repo
        return frozenset(e.blob for e in list_files(repo, subtree(repo, commit))) if commit else frozenset()
