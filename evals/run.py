"""Ask every question of a set through the provider, in a store of its own, and keep what came back."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals.controls import Setup, remembering, without
from evals.labels import Review, reviews
from evals.questions import Question
from seed.text import is_cjk
from sidecar.plane import CEILING
from sidecar.provider import Provider
from sidecar.query import Query
from sidecar.session import Progress
from sidecar.version import VERSION

LIMIT = 10
_PATIENCE = 24 * 3600.0
"""Seconds that seeding may take: an evaluation is complete or it is none."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What one wording of a question brought: ids in order with score and cosine, and the evidence before the floor."""

    verdict: str
    results: tuple[str, ...]
    against: tuple[str, ...]
    scores: tuple[float, ...]
    floor: float
    milliseconds: float
    confidence: float | None = None
    cosine: float | None = None
    ranked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """All replies, question by question and language by language, with what they were given from."""

    replies: tuple[tuple[Question, Mapping[str, Reply]], ...]
    reviews: tuple[Review, ...]
    stamp: dict[str, Any]
    seeded: dict[str, Any]
    records: int


@contextmanager
def isolated(*, reuse: bool = False) -> Iterator[None]:
    """Give the block an empty store of its own that is gone afterwards; with ``reuse`` the user's store is used."""
    if reuse:
        yield
        return
    before = os.environ.get("SIDECAR_HOME")
    with tempfile.TemporaryDirectory(prefix="sidecar-eval-", ignore_cleanup_errors=True) as folder:
        os.environ["SIDECAR_HOME"] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ["SIDECAR_HOME"]
            else:
                os.environ["SIDECAR_HOME"] = before


def run(
    folder: Path,
    questions: Sequence[Question],
    setup: Setup,
    *,
    statuses: tuple[str, ...] = (),
    cache: str = "",
    progress: Progress | None = None,
) -> Run:
    """Ask every wording of every question. ``statuses`` is the default for questions that name none.

    ``cache`` is a folder of portable vectors. All questions are asked at one moment, so that a run over midnight is
    one run. Raises `SidecarError`.
    """
    now = datetime.now(UTC)
    asked = [replace(q, statuses=setup.statuses or q.statuses or statuses) for q in questions]
    second = any(is_cjk(text) for q in asked for text in q.texts.values())
    setup = remembering(setup)
    floorless = without("floor", setup)
    with opened(folder, setup, now) as provider, opened(folder, floorless, now) as open_door:
        seeded = provider.seed(cache=cache, second=second, progress=progress)
        replies = []
        for at, question in enumerate(asked, 1):
            replies.append((question, {lang: _reply(provider, open_door, question, lang) for lang in question.texts}))
            if progress:
                progress("asking", at, len(asked))
        view = provider.session.view(budget=_PATIENCE)
        found = reviews(view.corpus, asked, now.date())
        stamp = _stamp(provider, setup)
    return Run(tuple(replies), found, stamp, seeded, len(view.corpus.heads))


@contextmanager
def opened(folder: Path, setup: Setup, now: datetime | None = None) -> Iterator[Provider]:
    """Open the provider of a folder under a setup, at one moment, and close it again. Raises `SidecarError`."""
    moment = now or datetime.now(UTC)
    provider = Provider(folder, embedders=setup.embedders, adjust=setup.adjust, clock=lambda: moment)
    try:
        yield provider
    finally:
        provider.close()


def _reply(provider: Provider, open_door: Provider, question: Question, language: str) -> Reply:
    """Ask as users do, then once more without the floor: how much evidence there was decides the curve."""
    query = Query(question.texts[language], limit=LIMIT, statuses=question.statuses)
    start = time.perf_counter()
    answer = _complete(provider, query)
    spent = (time.perf_counter() - start) * 1000
    ranked, confidence, cosine = _evidence(open_door, query)
    return Reply(
        answer["verdict"],
        tuple(r["id"] for r in answer["results"]),
        tuple(r["id"] for r in answer["decided_against"]),
        tuple(r["score"] for r in answer["results"]),
        answer["revision"]["floor"],
        spent,
        confidence,
        cosine,
        ranked,
    )


def _complete(provider: Provider, query: Query) -> dict[str, Any]:
    """Return the answer with all of its first ten results: a page can be cut short to stay within its bytes."""
    answer = provider.recall(query, budget=_PATIENCE)
    page = answer
    while page["has_more"] and len(answer["results"]) < query.limit:
        left = query.limit - len(answer["results"])
        page = provider.recall(replace(query, limit=left, cursor=page["next_cursor"]), budget=_PATIENCE)
        answer["results"] += page["results"]
    return answer


def _evidence(open_door: Provider, query: Query) -> tuple[tuple[str, ...], float, float]:
    """Return (first ten ids, best evidence, best cosine) for a query, through a provider without a floor.

    An exact token passes every floor, unless it is a bare number (decision-0014). What stands beside the results
    shows no evidence there, so rejected records are asked for by name.
    """
    answer = _complete(open_door, query)
    results = answer["results"]
    ranked = tuple(r["id"] for r in results)
    if answer["decided_against"]:
        results = results + open_door.recall(replace(query, statuses=("rejected",)), budget=_PATIENCE)["results"]
    exact = any(c.isalpha() for r in results for token in r["evidence"]["exact"] for c in token)
    confidence = CEILING if exact else max((r["evidence"]["fused"] for r in results), default=0.0)
    return ranked, confidence, max((r["evidence"]["cosine"] for r in results), default=0.0)


def _stamp(provider: Provider, setup: Setup) -> dict[str, Any]:
    view = provider.session.view(budget=_PATIENCE)
    policy = view.corpus.snapshot.policy
    identities = [embedder.identity.digest for embedder in setup.embedders(policy)]
    return {
        "version": VERSION,
        "commit": view.commit,
        "knowledge_tree": view.corpus.snapshot.tree,
        "candidates": view.corpus.snapshot.candidates,
        "policy": policy.digest,
        "embedder": identities[0],
        "embedders": identities,
    }
