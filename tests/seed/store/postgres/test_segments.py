from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("psycopg")

from evals.bench.filling import VERSION, filled, unseen
from seed.store.postgres import binary, near, words
from seed.store.postgres.schema import MIGRATIONS
from seed.store.postgres.shards import split
from seed.store.postgres.store import PostgresStore

Open = Callable[..., PostgresStore]
Sql = Callable[..., list[Any]]
SAID = st.dictionaries(st.sampled_from(["a", "b", "\0", "\ufffd", "語", "\U00020000"]), st.integers(1, 300), max_size=6)


@given(st.dictionaries(st.integers(1, 2**31 - 1), SAID, max_size=8).filter(lambda said: any(said.values())))
def test_postings_are_grouped_as_they_would_be_one_by_one(said: dict[int, dict[str, int]]) -> None:
    """Each term has every document that says it, with its count up to 255; what the database writes alike is added."""
    expected: dict[str, Counter[int]] = {}
    for pid, terms in said.items():
        for term, count in terms.items():
            expected.setdefault(words.plain(term), Counter())[pid] += count
    terms, ends, pids, counts = words.grouped({pid: Counter(found) for pid, found in said.items()})
    assert terms == sorted(expected)
    for term, begin, stop in zip(terms, [0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        found = dict(zip(pids[begin:stop].tolist(), counts[begin:stop].tolist(), strict=True))
        assert found == {pid: min(count, 255) for pid, count in expected[term].items()}


def seeded(added: list[int]) -> tuple[dict[int, int], int, int]:
    """Return (postings of each segment, the most segments there ever were, postings written again) after seedings."""
    sizes: dict[int, int] = {}
    most = again = 0
    for number, size in enumerate(added):
        sizes[2 * number] = size
        chosen = words.due(sizes)
        assert len(chosen) != 1
        if chosen:
            again += sum(sizes[one] for one in chosen)
            sizes[2 * number + 1] = sum(sizes.pop(one) for one in chosen)
        most = max(most, len(sizes))
    return sizes, most, again


@pytest.mark.parametrize("size", [70_000, 20_000, 1_000_000])
def test_writing_again_grows_with_the_logarithm_of_what_is_there(size: int) -> None:
    """A million passages in equal parts are written once more for each tier, and never lie in many segments."""
    added = [size] * (90_000_000 // size)
    sizes, most, again = seeded(added)
    assert sum(sizes.values()) == sum(added)
    assert most <= 4 * words.FAN
    assert again <= 4 * sum(added)


def test_small_seedings_leave_a_large_segment_alone() -> None:
    """A thousand small commits after a large import write a small part of it again, and stay few segments."""
    sizes, most, again = seeded([50_000_000, *[300] * 1000])
    assert 50_000_000 in sizes.values()
    assert most <= 3 * words.FAN
    assert again < 5_000_000


def test_seedings_of_any_size_stay_few_segments() -> None:
    """Whatever sizes come in whatever order, each tier has less than its fan of segments."""
    draw = np.random.default_rng(5)
    sizes, most, again = seeded([int(10 ** draw.uniform(0, 6)) for _ in range(3000)])
    assert most <= 6 * words.FAN
    assert again <= 6 * sum(sizes.values())


@pytest.mark.parametrize("spread", [False, True])
def test_a_database_of_the_first_version_is_brought_up_to_date(
    database: str, opened: Open, sql: Sql, monkeypatch: pytest.MonkeyPatch, *, spread: bool
) -> None:
    """Words of version 1 are found in version 2 with their sizes noted, also where tables are spread over servers."""
    monkeypatch.setattr("seed.store.postgres.migrate.migrate.__kwdefaults__", {"steps": MIGRATIONS[:1]})
    store = opened(database)
    if spread:
        with store.database.borrowed() as connection:
            split(connection, {}, {})
    columns = "workspace, repository, term, segment, pids, counts"
    insert = f"INSERT INTO sidecar.postings ({columns}) VALUES (%s, %s, %s, 1, %s, %s)"  # noqa: S608 - our own names
    sql(database, insert, *store.key, "alpha", [7, 9], [1, 2])
    sql(
        database,
        "INSERT INTO sidecar.repositories (workspace, repository, next_pid, segments) VALUES (%s, %s, 10, 1)",
        *store.key,
    )
    monkeypatch.undo()
    store = opened(database)
    filled(store, "later")
    pids, counts = store.postings("alpha")
    assert dict(zip(pids.tolist(), counts.tolist(), strict=True)) == {7: 1, 9: 2, 10: 2}
    assert sql(database, "SELECT sizes::jsonb FROM sidecar.repositories")[0][0]["1"] == 2
    for number in range(words.FAN):
        filled(store, f"later{number}")
    assert len(store.postings("alpha")[0]) == 3 + words.FAN
    assert sql(database, "SELECT * FROM sidecar.postings WHERE segment = 1") == []


def test_a_collection_leaves_one_segment_whose_size_is_known(database: str, opened: Open, sql: Sql) -> None:
    """After documents were dropped the noted sizes are those of what is there, also when nothing is."""
    store = opened(database)
    for number in range(3):
        with store.exclusive(5):
            store.add([unseen(f"f{number}", "one two")], VERSION)
    wanted = np.array([store.cuts("f1", VERSION)[0].pid], dtype=np.uint32)
    for documents, size in ((wanted, 2), (np.empty(0, np.uint32), 0)):
        store.database.write(lambda c, documents=documents: words.keep(c, store.key, documents))
        assert sql(database, "SELECT COALESCE(sum(cardinality(pids)), 0) FROM sidecar.postings") == [(size,)]
        (noted,) = sql(database, "SELECT sizes::jsonb FROM sidecar.repositories")
        assert sum(noted[0].values()) == size


def test_an_index_is_built_with_what_the_server_was_given(database: str, opened: Open) -> None:
    """The memory for building is the server's own setting where that is more than ours, and ours otherwise."""
    store = opened(database)
    with store.database.borrowed() as connection:
        for given, used in (("64MB", "512MB"), ("2GB", "2GB")):
            connection.execute(f"SET maintenance_work_mem = '{given}'")
            connection.execute(near._MEMORY, (near._BUILD_MEMORY,))
            assert connection.execute("SHOW maintenance_work_mem").fetchone() == (used,)


def test_vectors_are_read_in_pieces_that_fit_together(
    database: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However small the pieces of a stream are cut, every vector is what was written."""
    from evals.bench.filling import TOY, sha

    made = {sha(f"t{n}"): TOY.question(f"t{n} of {n}") for n in range(40)}
    store = opened(database)
    store.register(TOY.identity)
    with store.exclusive(5):
        store.add_vectors(TOY.identity, made)
    for piece in (1, 100, 1 << 20):
        monkeypatch.setattr(binary, "_PIECE", piece)
        matrix = opened(database).matrix(TOY.identity)
        rows = store.rows(TOY.identity, list(made))
        assert matrix is not None
        assert all(np.array_equal(matrix[rows[name]], vector) for name, vector in made.items())
        asked = np.array([39, 0, 7], np.int32)
        assert np.array_equal(store.read_vectors(TOY.identity, asked), matrix[asked])
