"""`python -m evals.bench.postgres`: kill the primary, a replica or a shard under load, and write what came of it."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from evals.bench.outage import Load, Told
from evals.bench.servers import Cluster, Server
from seed.store.address import REPLICAS, URL, WORKSPACE, Address
from seed.store.postgres.connect import Database
from seed.store.postgres.opening import connected
from seed.store.postgres.shards import split

_SECONDS = 4.0
_VARIABLES = (URL, REPLICAS, WORKSPACE)


@contextmanager
def configured(url: str, *replicas: str, workspace: str = "load") -> Iterator[None]:
    """Configure an address for the block, as a user's environment does."""
    before = {name: os.environ.get(name) for name in _VARIABLES}
    os.environ.update({URL: url, REPLICAS: " ".join(replicas), WORKSPACE: workspace})
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def either(first: Server, second: Server) -> str:
    """Return the address of whichever of two servers takes writes."""
    return f"postgresql://postgres@/postgres?host={first.socket},{second.socket}&target_session_attrs=read-write"


def primary_restarts(folder: Path, seconds: float = _SECONDS) -> Told:
    """Kill the only server under load and start it again: crash recovery has to bring back what was acknowledged."""
    with closing(Cluster()) as cluster:
        server = cluster.server("one")
        with configured(server.url()):
            load = Load(folder / "restart")
            with load.running():
                time.sleep(seconds)
                server.kill()
                time.sleep(seconds / 2)
                server.start()
                time.sleep(seconds)
            return load.settle()


def primary_fails_over(folder: Path, seconds: float = _SECONDS) -> Told:
    """Kill the primary under load for good; its synchronous replica, which is read from too, becomes the primary."""
    with closing(Cluster()) as cluster:
        first = cluster.server("first", synchronous_standby_names="*")
        second = cluster.standby("second", first)
        with configured(either(first, second), second.url()):
            load = Load(folder / "failover")
            with load.running():
                time.sleep(seconds)
                first.kill()
                time.sleep(seconds / 2)
                second.configure({"synchronous_standby_names": ""})
                second.promote()
                cluster.run("pg_ctl", "-D", str(second.data), "reload")
                time.sleep(seconds)
            return load.settle()


def replica_dies(folder: Path, seconds: float = _SECONDS) -> Told:
    """Kill the replica that is read from: the primary is read from instead."""
    with closing(Cluster()) as cluster:
        first = cluster.server("first")
        second = cluster.standby("second", first)
        with configured(first.url(), second.url()):
            load = Load(folder / "replica")
            with load.running():
                time.sleep(seconds)
                second.kill()
                time.sleep(seconds)
                second.start()
                time.sleep(seconds / 2)
            return load.settle()


def sharded(cluster: Cluster) -> list[Server]:
    """Return three servers with the tables split by workspace: the first is asked, and holds what is named nowhere."""
    servers = [cluster.server(name) for name in ("shard0", "shard1", "shard2")]
    for server in servers:
        connected(Address(server.url())).close()
    options = {s.name: {"host": str(s.socket), "dbname": "postgres", "user": "postgres"} for s in servers[1:]}
    with closing(Database(Address(servers[0].url()))) as database, database.borrowed() as connection:
        split(connection, options, {"one": "shard1", "two": "shard2"})
    return servers


def shard_dies(folder: Path, seconds: float = _SECONDS) -> dict[str, Told]:
    """Kill one shard of three under load on every one: its own workspace alone notices, and loses nothing."""
    with closing(Cluster()) as cluster:
        servers = sharded(cluster)
        loads = {name: Load(folder / name) for name in ("here", "one", "two")}
        for name, load in loads.items():
            with configured(servers[0].url(), workspace=name):
                load.start()
        time.sleep(seconds)
        servers[1].kill()
        time.sleep(seconds)
        servers[1].start()
        time.sleep(seconds)
        found = {}
        for name, load in loads.items():
            load.stop()
            with configured(servers[0].url(), workspace=name):
                found[name] = load.settle()
        return found


SCENARIOS: dict[str, Callable[[Path], Told | dict[str, Told]]] = {
    "primary killed and started again": primary_restarts,
    "primary killed, synchronous replica promoted": primary_fails_over,
    "replica killed": replica_dies,
    "one shard of three killed": shard_dies,
}


def main() -> int:
    """Run every scenario, print its figures, and return 1 where something was lost or wrong."""
    found: dict[str, Any] = {}
    bad = 0
    for name, scenario in SCENARIOS.items():
        with tempfile.TemporaryDirectory() as folder:
            told = scenario(Path(folder))
        each = told if isinstance(told, dict) else {"": told}
        for workspace, one in each.items():
            key = f"{name}{f', workspace {workspace}' if workspace else ''}"
            found[key] = one.figures()
            bad += len(one.wrong) + len(one.lost)
            print(key, json.dumps(found[key]), *one.wrong[:3], *sorted(one.reasons)[:4], sep="\n  ")
    print(json.dumps({"format": 1, "scenarios": found}))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
