"""The public Python API: ask a repository's records, get an answer with a receipt."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from seed import seeder
from seed.embed.base import Embedder
from seed.embed.choose import choose
from seed.errors import EmbedderError
from seed.git.repository import head_commit, resolve
from seed.git.tree import list_files, subtree
from seed.git.worktree import uncommitted
from seed.store.receipts import Receipts
from seed.text import is_cjk
from sidecar import answer as answers
from sidecar import cursor, reading, status
from sidecar import receipt as receipts
from sidecar.answer import Answer, Hit, Ranked
from sidecar.corpus import Corpus, Plane
from sidecar.floors import InForce, in_force
from sidecar.query import Query, checked
from sidecar.quote import one_line, safe
from sidecar.rank import Phrase
from sidecar.recall import recall
from sidecar.session import Progress, View, open_session
from sidecar.version import VERSION

Clock = Callable[[], datetime]


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The phrasings with their vectors and floors, and the identity and floor that the receipt names."""

    phrases: tuple[Phrase, ...]
    plane: Plane | None
    embedder: str
    floor: InForce
    degraded: str


class Provider:
    """Answers questions on one repository. Every surface (command line, MCP, pages) is an adapter of it."""

    def __init__(self, folder: Path | str = ".", *, embedders: seeder.Choose = choose, clock: Clock = _now) -> None:
        self.session = open_session(Path(folder), embedders)
        self.clock = clock
        self._receipts: Receipts | None = None
        self._vectors: dict[tuple[str, str], Any] = {}

    def close(self) -> None:
        """Close store and receipts."""
        self.session.close()
        if self._receipts is not None:
            self._receipts.close()

    def recall(
        self, query: Query, *, detail: str = "full", budget: float = 2.0, progress: Progress | None = None
    ) -> Answer:
        """Answer a query: the records that still apply, each with its evidence, or the verdict "none".

        ``budget`` seconds bound the seeding that a moved HEAD makes necessary. Raises `SidecarError` for arguments
        that cannot be meant and where nothing was ever seeded.
        """
        inside = self.session.inside
        asked = checked(replace(query, path=inside(query.path), paths=tuple(map(inside, query.paths))))
        second = any(is_cjk(text) for text in asked.phrasings)
        view = self.session.view(second=second, vectors=bool(asked.phrasings), budget=budget, progress=progress)
        full, body = self.answer(asked, view, self.clock())
        sealed, stored = self.receipts.append(lambda previous: receipts.seal(body, previous))
        full["receipt"] = {"id": sealed["id"], "stored": stored}
        return answers.brief(full) if detail == "brief" else full

    def show(self, name: str, *, at: str = "", section: str = "", start: str = "", budget: float = 2.0) -> Answer:
        """Return one record by id or path of its file, whatever its status: facts, body, lineage and history.

        ``at`` is a revision, ``section`` a heading of the body, ``start`` the cursor of an earlier page. Raises
        `SidecarError` where there is no such record, section or revision.
        """
        return reading.show(self.session, name, self.clock(), at=at, section=section, start=start, budget=budget)

    def status(self) -> dict[str, Any]:
        """Return what answers stand on: repository, commits, coverage, embedders. Raises `SidecarError`."""
        return status.status(self.session)

    @property
    def behind(self) -> bool:
        """Tell whether the last answer was stale or lacked vectors because its budget ran out."""
        return self.session.behind

    def seed(self, revision: str = "HEAD", *, cache: str = "", progress: Progress | None = None) -> dict[str, Any]:
        """Publish the snapshot of a commit with everything it needs. Returns what was done. Raises `SidecarError`."""
        session = self.session
        head = head_commit(session.repo)
        commit = head if revision == "HEAD" else resolve(session.repo, revision)
        want = session.wanted(commit)
        done = seeder.seed(session.repo, session.store, want, session.embedders, progress=progress)
        view = session.view(want, second=True, budget=0.0)
        for text in ("en", "中文"):
            if view.corpus.heads:
                self._meaning(text, view.corpus)  # computes the floor where policy names none
        return {"format": 1, "commit": commit, "records": done.records, "parsed": done.parsed, "embedded": done.embedded,
                "missing": done.missing, "unreadable": len(view.corpus.snapshot.unreadable), "seconds": round(done.seconds, 3),
                "cache": cache}  # fmt: skip

    def answer(self, query: Query, view: View, now: datetime) -> tuple[Answer, dict[str, Any]]:
        """Return (full answer without its receipt, the receipt's body) for a view and a moment."""
        corpus, today = view.corpus, now.astimezone(UTC).date()
        workspace = self.workspace(query, corpus)
        asked = self._ask(query, view)
        start = cursor.decode(query.cursor, _about(query, corpus))
        unchanged = self._unchanged(query.since)
        ranked = recall(corpus, query, asked.phrases, corpus.snapshot.policy, today, start=start, workspace=workspace,
                        unchanged=unchanged)  # fmt: skip
        statuses = {head.record.id.casefold(): corpus.status(n, today) for n, head in enumerate(corpus.heads)}
        full = self._full(query, view, ranked, asked, start, workspace, statuses)
        return full, self._receipt_body(query, view, full, asked, now, workspace)

    @property
    def receipts(self) -> Receipts:
        """Return the chain of receipts, opened at the first use."""
        if self._receipts is None:
            self._receipts = Receipts(self.session.kept)
        return self._receipts

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

    def _unchanged(self, revision: str) -> frozenset[str]:
        """Return the blobs under knowledge/ of a revision: what has them still is no news since then."""
        if not revision:
            return frozenset()
        repo = self.session.repo
        return frozenset(e.blob for e in list_files(repo, subtree(repo, resolve(repo, revision))))

    # --- meaning ----------------------------------------------------------------------------------------------

    def _ask(self, query: Query, view: View) -> _Asked:
        corpus = view.corpus
        policy = corpus.snapshot.policy
        if not query.phrasings or not corpus.heads:
            phrases = tuple(Phrase(text, None, 1.0) for text in query.phrasings)
            return _Asked(phrases, None, "", InForce(1.0, "probes"), "")
        found, degraded = [], ""
        named: _Asked | None = None
        for text in query.phrasings:
            try:
                asked = self._meaning(text, corpus)
            except EmbedderError as exc:
                degraded = str(exc)
                floor = in_force(self.session.store, corpus, None, None, policy, chinese=is_cjk(text))
                asked = _Asked((Phrase(text, None, floor.value),), None, "", floor, degraded)
            found += asked.phrases
            named = named or asked
        first = named or _Asked((), None, "", InForce(1.0, "probes"), "")
        return replace(first, phrases=tuple(found), degraded=degraded)

    def _meaning(self, text: str, corpus: Corpus) -> _Asked:
        policy = corpus.snapshot.policy
        embedder = self._embedder_for(text, corpus)
        plane = self.session.plane(corpus, embedder) if embedder is not None else None
        floor = in_force(self.session.store, corpus, plane, embedder, policy, chinese=is_cjk(text))
        if embedder is None or plane is None:
            return _Asked((Phrase(text, None, floor.value),), None, "", floor, "")
        return _Asked(
            (Phrase(text, plane.cosines(self._vector(embedder, text)), floor.value),),
            plane,
            embedder.identity.digest,
            floor,
            "",
        )

    def _embedder_for(self, text: str, corpus: Corpus) -> Embedder | None:
        """The second model serves questions written in CJK; the main one every other (decision-0008)."""
        policy = corpus.snapshot.policy
        if policy.fusion == "lexical":
            return None
        embedders = self.session.embedders(policy)
        return embedders[-1] if is_cjk(text) else embedders[0]

    def _vector(self, embedder: Embedder, text: str) -> Any:  # noqa: ANN401 - an array, typed where it is used
        key = (embedder.identity.digest, text)
        if key not in self._vectors:
            if len(self._vectors) > 512:  # noqa: PLR2004 - a bound on memory, no figure of the design
                self._vectors.clear()
            self._vectors[key] = embedder.question(text)
        return self._vectors[key]

    # --- the answer -------------------------------------------------------------------------------------------

    def _full(
        self,
        query: Query,
        view: View,
        ranked: Ranked,
        asked: _Asked,
        start: int,
        workspace: str,
        statuses: dict[str, str],
    ) -> Answer:
        corpus = view.corpus
        heads = corpus.heads
        texts = self.session.store.texts(int(corpus.snapshot.pids[h.passage]) for h in ranked.hits if h.passage >= 0)
        items = [answers.item(heads[h.ordinal], h, self._passage(corpus, h, texts), statuses) for h in ranked.hits]
        results = answers.fit(items)
        if ranked.retrieval == "listing":
            results = [answers.unscored(item) for item in results]
        shown = start + len(results)
        more = shown < ranked.total
        records = sum(1 for head in heads if not head.origin)
        embedded = (
            int(asked.plane.embedded(corpus.documents.owners, len(heads)).sum()) if asked.plane is not None else 0
        )
        full: Answer = {
            "format": 1, "verdict": ranked.verdict, "retrieval": ranked.retrieval, "results": results,
            "decided_against": [answers.side_item(heads[h.ordinal], h.status, answers.why(h)) for h in ranked.against],
            "retired": [answers.side_item(heads[n], statuses[heads[n].record.id.casefold()]) for n in ranked.retired],
            "open_items": [],
            "withheld": {"superseded": 0, "candidate": 0, "below_floor": 0, **ranked.withheld, "uncommitted": uncommitted(self.session.repo)},
            "coverage": {"records": records, "embedded": min(embedded, records),
                         "searched": min(embedded, records) if ranked.retrieval in ("hybrid", "dense") else records,
                         "unreadable": len(corpus.snapshot.unreadable)},
            "revision": self._revision(view, asked, workspace),
            "total": ranked.total, "has_more": more, "next_cursor": cursor.encode(shown, _about(query, corpus)) if more else "",
            "receipt": {"id": "", "stored": False},
        }  # fmt: skip
        if reason := view.degraded or asked.degraded:
            full["degraded"] = reason
        if ranked.verdict == "none":
            full["note"] = _none_note(full, corpus, ranked)
            full["nearest"] = [{"id": heads[n].record.id, "note": "below the floor"} for n in ranked.nearest]
        return full

    def _passage(self, corpus: Corpus, hit: Hit, texts: dict[int, tuple[bytes, str, int]]) -> dict[str, Any]:
        if hit.passage < 0:
            return {}
        head = corpus.heads[hit.ordinal]
        first = int((corpus.documents.owners < hit.ordinal).sum())
        cuts = self.session.store.cuts(head.blob, seeder.version(corpus.snapshot.policy))
        cut = cuts[hit.passage - first]
        _, text, skip = texts[cut.pid]
        return {
            "text": safe(text[skip:]),
            "section": one_line(cut.section),
            "start": cut.start,
            "end": cut.end,
        }

    def _revision(self, view: View, asked: _Asked, workspace: str) -> dict[str, Any]:
        snapshot = view.corpus.snapshot
        return {
            "commit": view.commit, "head": view.head, "stale": view.stale, "base": None, "knowledge_tree": snapshot.tree,
            "candidates": snapshot.candidates, "embedder": asked.embedder, "floor": asked.floor.value,
            "floor_source": asked.floor.source, "policy": self._policy_digest(view.corpus, asked),
            "repository": self.session.repo.name, "workspace": workspace,
        }  # fmt: skip

    def _policy_digest(self, corpus: Corpus, asked: _Asked) -> str:
        floors = ",".join(f"{phrase.floor:.6f}" for phrase in asked.phrases)
        return "sha256:" + hashlib.sha256(f"{corpus.snapshot.policy.digest}\n{floors}".encode()).hexdigest()

    def _receipt_body(
        self, query: Query, view: View, full: Answer, asked: _Asked, now: datetime, workspace: str
    ) -> dict[str, Any]:
        snapshot = view.corpus.snapshot
        pairs = sorted({(c.ref, c.commit) for c in view.wanted.candidates}) if not view.stale else []
        return {
            "format": 1, "question": query.question, "also": list(query.also), "arguments": receipts.arguments(query),
            "workspace": workspace, "commit": view.commit, "knowledge_tree": snapshot.tree, "candidates": [list(p) for p in pairs],
            "embedder": asked.embedder, "policy": full["revision"]["policy"], "provider": VERSION, "coverage": full["coverage"],
            "time": now.astimezone(UTC).isoformat(timespec="milliseconds"), "verdict": full["verdict"],
            "returned": receipts.returned(full),
        }  # fmt: skip


def _none_note(full: Answer, corpus: Corpus, ranked: Ranked) -> str:
    coverage = full["coverage"]
    if not corpus.heads:
        return "No records: this commit has no knowledge/ folder with records. 'sidecar new decision TITLE' starts one."
    if full["retrieval"] == "listing":
        return "No record qualifies."
    if full["retrieval"] == "hybrid" and coverage["embedded"] < coverage["records"]:
        lead = f"Nothing in the part searched ({coverage['embedded']} of {coverage['records']} records)."
    else:
        lead = "No record answers this."
    below = ranked.withheld.get("below_floor", 0)
    near = (
        f" Nearest, but below the floor: {one_line(corpus.heads[ranked.nearest[0]].record.title, 100)}."
        if ranked.nearest
        else ""
    )
    return f"{lead} {below} records were below the floor.{near} If you decide it now, propose a record."


def _about(query: Query, corpus: Corpus) -> str:
    plain = receipts.arguments(replace(query, cursor="", limit=1))
    return receipts.canonical([corpus.snapshot.key, query.question, list(query.also), plain])


def default_folder() -> Path:
    """Return the folder a session starts in: $SIDECAR_REPO, else the current one."""
    return Path(os.environ.get("SIDECAR_REPO", "."))


def phrasings(question: str, also: Sequence[str]) -> tuple[str, ...]:
    """Return a question with its other phrasings."""
    return (question, *also)
