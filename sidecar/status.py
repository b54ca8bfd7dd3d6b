"""What a session stands on, as one object: repository, commits, coverage and embedders."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from seed.errors import EmbedderError
from sidecar.quote import one_line
from sidecar.session import Session, View

MAX_UNREADABLE = 20


def status(session: Session, budget: float = 2.0) -> dict[str, Any]:
    """Return the state of a repository and its snapshot. Raises `SidecarError` where nothing can be seeded at all."""
    view = session.view(vectors=False, budget=budget)
    snapshot = view.corpus.snapshot
    bad = [{"path": one_line(u.path), "line": u.problem.line, "reason": u.problem.reason} for u in snapshot.unreadable]
    return {
        "format": 1,
        "repository": session.repo.name,
        "folder": str(session.folder.resolve()),
        "bare": session.repo.bare,
        "commit": view.commit,
        "head": view.head,
        "stale": view.stale,
        "degraded": view.degraded,
        "records": sum(1 for h in view.corpus.heads if not h.origin),
        "candidates": sum(1 for h in view.corpus.heads if h.origin),
        "unreadable": bad[:MAX_UNREADABLE],
        "unreadable_total": len(bad),
        "embedders": _embedders(session, view),
        "policy": snapshot.policy.digest,
        "policy_fault": snapshot.policy_fault,
        "engine": session.store.name,
        "store": str(session.store.folder),
        "kept": str(session.kept),
    }


def _embedders(session: Session, view: View) -> list[dict[str, Any]]:
    """Return each embedder's identity and how many records have all their vectors; no model is loaded for it."""
    try:
        found = session.embedders(view.corpus.snapshot.policy)
    except EmbedderError as exc:
        return [{"fault": str(exc)}]
    states, snapshot = [], view.corpus.snapshot
    for embedder in found:
        stored = session.store.plane(snapshot.key, embedder.identity)
        missing = len(set(snapshot.owners[stored[0] < 0].tolist())) if stored else len(snapshot.heads)
        embedded = len(snapshot.heads) - missing
        states.append({"identity": embedder.identity.digest, **asdict(embedder.identity), "embedded": embedded})
    return states
