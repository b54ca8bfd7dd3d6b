"""`sidecar gc`: which snapshots of a repository are worth keeping, and the collection of the rest."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from seed.errors import SidecarError
from seed.git.hooks import worktree_folders
from seed.git.repository import head_commit, open_repository
from seed.transcript.segments import SCHEMES
from sidecar.floors import question_sha, shipped_probes
from sidecar.library import Projected
from sidecar.session import Session
from sidecar.shelf import fallback_note

_WAIT_SECONDS = 10.0


def collect(folder: Path, *, dry_run: bool = False) -> dict[str, Any]:
    """Drop all but the snapshots of every worktree's HEAD and the newest one. Returns counts and bytes.

    Raises `SidecarError` when another process seeds, or the disk refuses.
    """
    with closing(Session(folder)) as session, session.store.exclusive(_WAIT_SECONDS):
        keep = kept(session)
        done = session.store.collect(keep, question_shas(), sentence_embedders(session), dry_run=dry_run)
    return {"format": 1, "dry_run": dry_run, "kept": len(keep), **asdict(done)}


def kept(session: Session) -> list[str]:
    """Return the keys of the published snapshots to keep: each worktree's HEAD, what it falls back on, the newest."""
    published = [key for key, _, _ in session.store.snapshots()]
    heads = {session.wanted().key}
    for place in worktree_folders(session.repo.common):
        try:
            repo = open_repository(place)
            heads |= {session.wanted(head_commit(repo)).key, session.store.noted(fallback_note(repo))}
        except SidecarError:
            continue  # a worktree that was deleted by hand
    return [key for key in published if key in heads or key == published[0]]


def sentence_embedders(session: Session) -> set[str]:
    """Return the identities of the vectors of sessions' sentences: they belong to no commit, and took long to make.

    On a server they may be those of sessions that another machine keeps.
    """
    embedders = session.embedders(session.policy(session.wanted()))
    return {Projected(one, scheme).identity.digest for one in embedders for scheme in SCHEMES}


def question_shas() -> list[bytes]:
    """Return under what the store keeps the vectors of the shipped probes, which belong to no record."""
    return [question_sha(text) for texts in shipped_probes().values() for text in texts]
