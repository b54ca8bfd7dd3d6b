from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("psycopg")

from evals.bench.filling import TOY, VERSION, published, sha, unseen
from seed.errors import StoreError, UnreachableError
from seed.store.postgres import server
from seed.store.postgres.store import PostgresStore

Open = Callable[..., PostgresStore]
Sql = Callable[..., list[Any]]
END = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE application_name LIKE 'sidecar %' AND datname = current_database()"
)


def test_a_lost_connection_is_replaced(database: str, opened: Open, sql: Sql) -> None:
    """When the server ends our connections, the next read and the next write go over new ones."""
    store = opened(database)
    published(store, "one", "a")
    sql(database, END)
    assert store.load("one") is not None
    sql(database, END)
    store.note("n", "v")
    assert store.noted("n") == "v"


def test_nothing_is_written_under_a_lock_that_was_lost(database: str, opened: Open, sql: Sql) -> None:
    """A holder whose connection is gone has lost the lock: its next write fails, another holder goes on."""
    store, other = opened(database), opened(database)
    with store.exclusive(1):
        sql(database, END)
        with other.exclusive(1):
            other.note("n", "theirs")
            with pytest.raises(UnreachableError):
                store.note("n", "ours")
    assert other.noted("n") == "theirs"
    published(store, "one", "a")


def test_two_places_never_have_one_generation(database: str, opened: Open) -> None:
    """What a machine keeps by generation of one workspace or database is never taken for another's."""
    one, two = opened(database, workspace="one"), opened(database, workspace="two")
    for store in (one, two):
        published(store, "one", "a")
    assert one.generation() != two.generation()


def test_a_statement_has_its_time(database: str, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement that takes too long is ended by the server and told as one line."""
    monkeypatch.setattr(server, "STATEMENT_SECONDS", 1)
    store = opened(database)
    with pytest.raises(StoreError, match="took too long"):
        store.database.read(lambda connection: connection.execute("SELECT pg_sleep(20)"), fresh=True)
    assert store.noted("n") == ""


def test_writers_without_a_lock_never_number_alike(database: str, opened: Open) -> None:
    """Machines that add the same files at once, even past the lock, leave each passage and each vector once."""
    stores = [opened(database) for _ in range(4)]
    for store in stores:
        store.register(TOY.identity)
    faults: list[BaseException] = []

    def work(store: PostgresStore) -> None:
        try:
            for number in range(12):
                store.add([unseen(f"f{number}", f"common word{number}", "of all")], VERSION)
                store.add_vectors(TOY.identity, {sha(f"f{n}"): TOY.question(f"f{n}") for n in range(number)})
        except BaseException as exc:  # noqa: BLE001 - the test asks for none of any kind
            faults.append(exc)

    threads = [threading.Thread(target=work, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    store = stores[0]
    assert sorted(store.postings("common")[1].tolist()) == [1] * 12
    assert len(store.postings("all")[0]) == 1
    known = store.stored([f"f{n}" for n in range(12)], VERSION)
    pids = {cut.pid for held in known.values() for cut in held.cuts}
    texts = store.texts(pids)
    assert {text for _, text, _ in texts.values()} == {f"T. common word{n}" for n in range(12)} | {"T. of all"}
    matrix, rows = store.matrix(TOY.identity), store.rows(TOY.identity, [sha(f"f{n}") for n in range(11)])
    assert matrix is not None
    assert sorted(rows.values()) == list(range(11)) == list(range(len(matrix)))
    assert all((matrix[rows[sha(f"f{n}")]] == TOY.question(f"f{n}")).all() for n in range(11))


def test_no_message_holds_a_password(tmp_path: Path, opened: Open) -> None:
    """However an address fails, what is said of it names the server and no user or password."""
    for url in (
        f"postgresql://me:secret@/d?host={tmp_path}",
        "postgresql://me:secret@127.0.0.1:1/d",
        "postgresql://me:secret@[::/d",
    ):
        with pytest.raises(StoreError) as caught:
            opened(url)
        assert "secret" not in str(caught.value)
