from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("psycopg")

from evals.bench.filling import TOY, VERSION, sha, unseen
from seed.store.postgres import statistics
from seed.store.postgres.store import PostgresStore

Open = Callable[..., PostgresStore]
Sql = Callable[..., list[Any]]
EXPLAIN = "EXPLAIN SELECT 1 FROM sidecar.{} WHERE workspace = 'shop' AND repository = %s {} AND sha = ANY(%s)"


def looked_up(database: str, opened: Open, sql: Sql) -> list[bool]:
    """Return whether passages and vectors are found by the keys of their texts, once they were filled in one go."""
    sql(database, "ALTER TABLE sidecar.passages SET (autovacuum_enabled = off)")
    sql(database, "ALTER TABLE sidecar.vectors SET (autovacuum_enabled = off)")
    store = opened(database)
    store.register(TOY.identity)
    with store.exclusive(5):
        store.add([unseen("a", *(f"word{n}" for n in range(3000)))], VERSION)
        store.add_vectors(TOY.identity, {sha(f"word{n}"): TOY.question("q") for n in range(3000)})
    wanted, found = [sha(f"other{n}") for n in range(20)], []
    for table, more in (("passages", ""), ("vectors", f"AND identity = '{TOY.identity.digest}'")):
        plan = "\n".join(line for (line,) in sql(database, EXPLAIN.format(table, more), store.key[1], wanted))
        found.append("sha = ANY" in plan.partition("Index Cond:")[2].partition("\n")[0])
    return found


def test_texts_of_a_new_repository_are_found_by_their_key(database: str, opened: Open, sql: Sql) -> None:
    """Right after the first seeding no lookup walks through the repository, though nothing has been vacuumed."""
    opened(database)
    assert looked_up(database, opened, sql) == [True, True]


def test_without_statistics_they_would_not_be(
    database: str, opened: Open, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: a planner that was told nothing takes a repository for one row and walks through it."""
    opened(database)
    monkeypatch.setattr(statistics, "_LEAST", 10**9)
    assert looked_up(database, opened, sql) != [True, True]
