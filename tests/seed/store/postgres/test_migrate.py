from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

pytest.importorskip("psycopg")

from seed.errors import StoreError
from seed.store.address import Address
from seed.store.postgres.connect import Database
from seed.store.postgres.migrate import migrate, version
from seed.store.postgres.schema import MIGRATIONS, TABLES, VERSION
from seed.store.postgres.store import PostgresStore

Open = Callable[..., PostgresStore]
Sql = Callable[..., list[Any]]


def test_the_first_to_come_makes_the_tables_and_the_next_finds_them(database: str, opened: Open, sql: Sql) -> None:
    """An empty database gets every table and its version, and opening it again changes nothing."""
    opened(database)
    opened(database)
    assert sql(database, "SELECT version FROM sidecar.versions") == [(n + 1,) for n in range(VERSION)]
    query = "SELECT relname FROM pg_class WHERE relnamespace = 'sidecar'::regnamespace AND relkind = 'r'"
    assert {name for (name,) in sql(database, query)} == {*TABLES, "access", "versions"}


def test_workspace_and_repository_lead_every_key(database: str, opened: Open, sql: Sql) -> None:
    """Every index of a table with rows of a repository begins with workspace and repository."""
    opened(database)
    query = (
        "SELECT c.relname, pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid"
        " WHERE c.relnamespace = 'sidecar'::regnamespace"
    )
    found = [(table, text) for table, text in sql(database, query) if table in TABLES]
    assert {table for table, _ in found} == set(TABLES)
    assert all("(workspace, repository" in text for _, text in found)


def test_a_newer_database_is_refused_by_name(database: str, opened: Open, sql: Sql) -> None:
    """A database of a later sidecar is neither read nor changed, and the way out is said."""
    opened(database)
    sql(database, "INSERT INTO sidecar.versions (version) VALUES (99)")
    with pytest.raises(StoreError, match=f"version 99, newer than this sidecar's {VERSION}") as caught:
        opened(database)
    assert caught.value.fix == "update the sidecar"


def test_a_step_that_fails_leaves_the_version_before_it(database: str, sql: Sql) -> None:
    """Each step is one transaction: what comes before a failing one stays, and nothing of the failing one."""
    steps = (
        *MIGRATIONS,
        "CREATE TABLE sidecar.later (a integer)",
        "CREATE TABLE sidecar.broken (a integer); SELECT 1/0",
    )
    with closing(Database(Address(database))) as found:
        with pytest.raises(StoreError, match="division by zero"):
            migrate(found, steps=steps)
        with found.borrowed() as connection:
            assert version(connection) == VERSION + 1
        assert sql(database, "SELECT to_regclass('sidecar.later'), to_regclass('sidecar.broken')") == [
            ("sidecar.later", None)
        ]
        assert migrate(found, steps=steps[:-1]) == VERSION + 1


def test_machines_that_start_at_once_make_one_database(database: str, opened: Open, sql: Sql) -> None:
    """Several first openings at the same moment end in one version and no error."""
    faults: list[BaseException] = []

    def start() -> None:
        try:
            opened(database)
        except BaseException as exc:  # noqa: BLE001 - the test asks for none of any kind
            faults.append(exc)

    threads = [threading.Thread(target=start) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert sql(database, "SELECT count(*) FROM sidecar.versions") == [(VERSION,)]
