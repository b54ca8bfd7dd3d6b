from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

pytest.importorskip("psycopg")

from evals.bench.filling import TOY, VERSION, published, sha, unseen
from seed.errors import StoreError
from seed.store.address import Address
from seed.store.postgres.opening import open_receipts
from seed.store.postgres.schema import TABLES
from seed.store.postgres.store import PostgresStore

Open = Callable[..., PostgresStore]
Sql = Callable[..., list[Any]]


@pytest.fixture
def roles(database: str, opened: Open, sql: Sql) -> Iterator[tuple[str, str]]:
    """Return the addresses of two roles: the first may see the workspace shop, the second bank."""
    opened(database)
    names = [f"r{uuid4().hex[:10]}" for _ in range(2)]
    for name, workspace in zip(names, ("shop", "bank"), strict=True):
        sql(database, f"CREATE ROLE {name} LOGIN")
        sql(database, "SELECT sidecar.admit(%s, %s)", name, [workspace])
    yield (database.replace("postgres@", f"{names[0]}@"), database.replace("postgres@", f"{names[1]}@"))
    for name in names:
        sql(database, f"DROP OWNED BY {name}")
        sql(database, f"DROP ROLE {name}")


def test_a_role_sees_its_workspaces_alone(database: str, roles: tuple[str, str], opened: Open, sql: Sql) -> None:
    """Two roles work side by side; neither sees or counts a row of the other's, in any table."""
    shop, bank = opened(roles[0], workspace="shop"), opened(roles[1], workspace="bank")
    published(shop, "one", "a", "b")
    published(bank, "one", "c")
    for url, workspace in zip(roles, ("shop", "bank"), strict=True):
        receipts = open_receipts(Address(url, (), workspace), shop.key[1])
        assert receipts.append(lambda previous: {"id": "sha256:1", "time": "t", "previous": previous})[1]
        receipts.close()
        opened(url, workspace=workspace).note("n", "v")
    for table in TABLES:
        assert {name for (name,) in sql(database, f"SELECT workspace FROM sidecar.{table}")} == {"shop", "bank"}, table  # noqa: S608
        for url, workspace in zip(roles, ("shop", "bank"), strict=True):
            assert {name for (name,) in sql(url, f"SELECT workspace FROM sidecar.{table}")} == {workspace}, table  # noqa: S608
    assert sql(roles[0], "SELECT workspace FROM sidecar.access") == [("shop",)]
    assert opened(roles[0], workspace="bank").load() is None
    held = shop.matrix(TOY.identity)
    assert held is not None
    assert len(held) == 4


def test_a_role_writes_into_its_workspaces_alone(roles: tuple[str, str], opened: Open, sql: Sql) -> None:
    """What a role writes for another workspace is refused, and it can neither admit itself nor change the access."""
    bank = opened(roles[0], workspace="bank")
    with pytest.raises(StoreError, match="row-level security"):
        published(bank, "one", "a")
    for statement in (
        "SELECT sidecar.admit(current_user, ARRAY['bank'])",
        "INSERT INTO sidecar.access VALUES (current_user, 'bank')",
        "ALTER TABLE sidecar.vectors DISABLE ROW LEVEL SECURITY",
        "DROP POLICY tenant ON sidecar.vectors",
    ):
        with pytest.raises(Exception, match=r"permission denied|must be owner"):
            sql(roles[0], statement)
    assert sql(roles[1], "UPDATE sidecar.snapshots SET key = 'x' WHERE workspace = 'shop' RETURNING key") == []


def test_without_the_rule_a_role_would_see_everything(
    database: str, roles: tuple[str, str], opened: Open, sql: Sql, tmp_path: Path
) -> None:
    """Negative control: with row-level security off, one role sees the other's rows."""
    published(opened(roles[1], workspace="bank"), "one", "c")
    assert sql(roles[0], "SELECT count(*) FROM sidecar.blobs") == [(0,)]
    sql(database, "ALTER TABLE sidecar.blobs DISABLE ROW LEVEL SECURITY")
    assert sql(roles[0], "SELECT count(*) FROM sidecar.blobs") == [(1,)]
    assert tmp_path.exists()


def test_a_role_that_was_not_admitted_is_told_what_to_do(database: str, opened: Open, sql: Sql) -> None:
    """Whoever has no rights on the tables reads one line with the statement that the owner has to run."""
    opened(database)
    name = f"r{uuid4().hex[:10]}"
    sql(database, f"CREATE ROLE {name} LOGIN")
    try:
        with pytest.raises(StoreError, match="admit"):
            opened(database.replace("postgres@", f"{name}@"))
    finally:
        sql(database, f"DROP ROLE {name}")


def test_a_role_fills_a_large_repository(roles: tuple[str, str], opened: Open) -> None:
    """What a table's owner alone may do is passed over: texts, vectors and merged words come in as for the owner."""
    shop = opened(roles[0], workspace="shop")
    shop.register(TOY.identity)
    for number in range(10):
        with shop.exclusive(5):
            shop.add([unseen(f"f{number}", *(f"all of{number} t{n}" for n in range(150)))], VERSION)
            shop.add_vectors(TOY.identity, {sha(f"{number} {n}"): TOY.question("q") for n in range(150)})
    assert shop.held(TOY.identity) == 1500
    assert len(shop.postings("all")[0]) == 1500
    assert len(shop.postings("t7")[0]) == 10
