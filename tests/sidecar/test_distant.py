"""A repository too large to be read by every process: an index gives candidates, the same rule weighs them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

pytest.importorskip("psycopg")

from seed import text
from seed.embed.base import ToyEmbedder
from seed.store.address import URL, WORKSPACE
from seed.store.postgres import near
from seed.store.postgres.store import PostgresStore
from sidecar.distant import Distant
from sidecar.provider import Provider
from sidecar.query import Query
from sidecar.rank import term_groups

Commit = Callable[..., str]
POLICY = (
    "format: 1\nengine: postgresql\nembedder: {model: toy, languages: 'off'}\n"
    f"floors: [{{embedder: '{ToyEmbedder().identity.digest}', on: fused, value: 0.05}}]\n"
)
WORDS = (
    "amber basalt cedar dune ember fjord glade heath islet jetty kelp lagoon mesa nook oasis plain quay reef".split()
)


@pytest.fixture
def large(
    repository: Path,
    commit: Commit,
    record_text: Callable[..., str],
    postgres_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """Return a repository of many records on a server, where a few passages count as many already."""
    monkeypatch.setenv(URL, postgres_url)
    monkeypatch.setenv(WORKSPACE, f"w-{uuid4().hex[:12]}")
    draw = np.random.default_rng(3)
    files = {"knowledge/policy.yaml": POLICY}
    for number in range(120):
        title = " ".join(draw.choice(WORDS, 3))
        body = "\n\n".join(f"## Part {n}\n\n{' '.join(draw.choice(WORDS, 40))}." for n in range(3))
        files[f"knowledge/r{number}.yaml"] = record_text(f"decision-{number}", title=title, body=body)
    commit(files)
    monkeypatch.setattr(near, "EXACT_ROWS", 100)
    return repository


def opened(folder: Path) -> Provider:
    now = datetime(2026, 11, 29, tzinfo=UTC)
    return Provider(folder, embedders=lambda _policy: [ToyEmbedder()], clock=lambda: now)


def results(answer: dict[str, Any]) -> list[tuple[str, float, float]]:
    return [(r["id"], r["score"], r["evidence"]["cosine"]) for r in answer["results"]]


def scans(url: str) -> int:
    """Return how often any index of vectors was used on the server."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT pg_stat_force_next_flush()")
        query = "SELECT COALESCE(sum(idx_scan), 0) FROM pg_stat_user_indexes WHERE indexrelname LIKE 'near_%'"
        row = connection.execute(query).fetchone()
        return int(row[0]) if row else 0


def test_the_index_finds_what_comparing_everything_finds(
    large: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first records, their scores and their cosines are those of the exact search, and coverage is whole."""
    questions = [Query(f"{a} {b} of the {c}", limit=10) for a, b, c in zip(WORDS, WORDS[3:], WORDS[7:], strict=False)]
    with closing(opened(large)) as exact:
        monkeypatch.setattr(near, "EXACT_ROWS", 10**9)
        exact.seed()
        wanted = [results(exact.recall(query)) for query in questions]
    monkeypatch.setattr(near, "EXACT_ROWS", 100)
    with closing(opened(large)) as far:
        far.seed()  # which builds the index
        view = far.session.view()
        plane = far.meaning._nearbys.find(view.corpus, ToyEmbedder(), "en")
        assert isinstance(plane, Distant)
        answers = [far.recall(query) for query in questions]
        assert scans(postgres_url) > 0  # not read and sorted, which would find the same
        assert [results(answer) for answer in answers] == wanted
        assert answers[0]["coverage"]["embedded"] == 120
        assert not far.session._planes  # nothing was loaded whole
    assert all(wanted)


def test_without_an_index_everything_is_compared(large: Path) -> None:
    """Where nobody has built the index, or it is not whole, the exact search answers."""
    with closing(opened(large)) as provider:
        provider.recall(Query("amber reef"))
        assert provider.session._planes


def test_words_are_weighed_on_the_server_as_here(large: Path) -> None:
    """The documents that say most of a question, by BM25 with the snapshot's statistics, are the same in SQL."""
    with closing(opened(large)) as provider:
        provider.seed()
        corpus = provider.session.view().corpus
        store = provider.session.store
        assert isinstance(store, PostgresStore)
        index = store.index(corpus.snapshot.key, ToyEmbedder().identity, 10**6)
        assert index is not None
        documents = corpus.documents
        lengths = np.concatenate([documents.lengths, documents.title_lengths])
        numbers = np.concatenate([documents.pids, documents.titles])
        terms = [group[0] for group in term_groups("amber reef of the lagoon", {})]
        weighed: dict[int, float] = {}
        for term in terms:
            held = {int(p): int(n) for p, n in zip(*store.postings(term), strict=True) if p in numbers}
            idf = np.log(1 + (len(numbers) - len(held) + 0.5) / (len(held) + 0.5))
            for pid, count in held.items():
                length = lengths[np.flatnonzero(numbers == pid)[0]]
                part = idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / lengths.mean()))
                weighed[pid] = weighed.get(pid, 0.0) + float(part)
        _, found = index.candidates(ToyEmbedder().question("amber"), terms, len(numbers), float(lengths.mean()))
        best = sorted(weighed, key=lambda pid: (-round(weighed[pid], 9), pid))[: len(found)]
        assert len(found) == min(len(weighed), near.LEAST)
        assert sorted(found.tolist()) == sorted(best)


def test_an_old_snapshot_is_searched_by_its_own_rows(
    large: Path, commit: Commit, record_text: Callable[..., str]
) -> None:
    """The index holds vectors of every commit; what a snapshot does not have never comes back from it."""
    with closing(opened(large)) as provider:
        provider.seed()
        before = results(provider.recall(Query("amber basalt cedar", limit=10)))
        gone = before[0][0]
        number = gone.removeprefix("decision-")
        commit({f"knowledge/r{number}.yaml": record_text(gone, title="quite another matter", body="Nothing of it.")})
        provider.seed()
        after = results(provider.recall(Query("amber basalt cedar", limit=10)))
        assert gone not in [ident for ident, _, _ in after]
        assert text.words("amber")


def test_a_role_that_owns_nothing_leaves_the_index_to_the_owner(large: Path, postgres_url: str) -> None:
    """Seeding by a role without the right to build an index goes on without it."""
    import psycopg

    name = f"r{uuid4().hex[:10]}"
    with closing(opened(large)) as owner:
        workspace = owner.session.store.key[0] if isinstance(owner.session.store, PostgresStore) else ""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN")
        connection.execute("SELECT sidecar.admit(%s, %s)", (name, [workspace]))
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv(URL, postgres_url.replace("postgres@", f"{name}@"))
                with closing(opened(large)) as provider:
                    assert provider.seed()["missing"] == 0
                    assert provider.recall(Query("amber reef"))["results"]
                    assert provider.session._planes
        finally:
            connection.execute(f"DROP OWNED BY {name}")
            connection.execute(f"DROP ROLE {name}")


@pytest.mark.parametrize(("documents", "expected"), [(0, 200), (100_000, 200), (400_000, 800), (10**9, 1600)])
def test_more_records_have_more_candidates(documents: int, expected: int) -> None:
    """The number follows the size of the repository, within two bounds."""
    assert near.wanted(documents) == expected
