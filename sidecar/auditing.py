"""Gather what an audit judges from the snapshot, the branches and HEAD's tree: the edge of `sidecar.audit`."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC
from typing import TYPE_CHECKING, Any

from seed.git.repository import Repository
from seed.git.tree import find
from sidecar.audit import CHECKS, Facts, Held, audit, cron
from sidecar.contradictions import listing, standing
from sidecar.pending import committed, pending
from sidecar.query import Query
from sidecar.scans import load

if TYPE_CHECKING:
    from sidecar.provider import Provider

_LINE = re.compile(r":\d+(?:-\d+)?$")


def report(provider: Provider, *, budget: float = 2.0) -> dict[str, Any]:
    """Return what to work through: ``{findings, counts, cron, ...}``. Raises `SidecarError` where nothing is seeded."""
    session, now = provider.session, provider.clock().astimezone(UTC)
    view = session.view(vectors=False, budget=budget)
    corpus, today = view.corpus, now.date()
    admitted = corpus.admit(Query(listing=True, statuses=("all",)), today).results.tolist()
    records = [Held(corpus.heads[n], corpus.status(n, today)) for n in admitted if not corpus.heads[n].origin]
    scanned, told = load(session.store), listing(provider, budget=budget)
    current = standing(corpus, today)
    waiting = {one.record.id: max((now - committed(session.repo, one.commit)[1]).days, 0)
               for one in pending(session.repo)}  # fmt: skip
    facts = Facts(
        records,
        waiting,
        [one["id"] for one in told["recorded"] if one["state"] == "open"],
        [" / ".join(pair["ids"]) for pair in told["hints"]],
        sorted(head.record.id for key, head in current.heads.items() if key not in scanned.seen),
        bool(scanned.seen),
        _gone(session.repo, view.commit),
    )
    findings = audit(facts, today)
    counts = {check: sum(1 for one in findings if one["check"] == check) for check in CHECKS}
    folder = str(session.folder.resolve())
    return {"format": 1, "repository": session.repo.name, "commit": view.commit, "stale": view.stale,
            "records": len(records), "findings": findings, "counts": counts, "cron": cron(folder)}  # fmt: skip


def _gone(repo: Repository, commit: str) -> Callable[[str], bool]:
    """Return whether a path, less a line number behind it, names nothing in a commit."""

    def gone(path: str) -> bool:
        plain = _LINE.sub("", path.strip()).removeprefix("./").strip("/")
        return bool(commit and plain and plain != ".") and find(repo, commit, plain) is None

    return gone
