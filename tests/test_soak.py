from __future__ import annotations

import asyncio
import json
import os
import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from evals.bench import crowd, damage, load
from evals.bench.faults import forked
from evals.bench.project import Project, losses, made
from evals.bench.reliability import page
from evals.bench.soak import Tally, kills
from seed.errors import DamagedStoreError
from seed.store import vectors

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path: Path, private_home: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return a made project; the variable it sets is put back afterwards."""
    monkeypatch.setenv("SIDECAR_HOME", str(private_home))
    return made(tmp_path / "soak")


def test_a_killed_writer_loses_nothing(project: Project) -> None:
    """After kill -9 at random writes the next answer is right, and receipts, vectors and sessions are whole."""
    tally = Tally()
    assert kills(project, 25, 300.0, random.Random(7), tally) == 25  # noqa: S311 - which write is struck, no secret
    assert tally.what == []
    assert sum(tally.tries.values()) == 25


def test_the_strike_is_real(project: Project) -> None:
    """A process is killed at exactly the write that was meant, its later ones are not made, and it returns nothing."""
    path = project.folder.parent / "struck"

    def work() -> int:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(descriptor, b"first.")
        os.write(descriptor, b"second.")
        return 1

    assert forked(work).writes == 2
    path.unlink()
    done = forked(work, at=2)
    assert (done.struck, done.returned) == ("file: write", None)
    assert path.read_bytes() == b"first.sec"


def test_every_kind_of_damage_ends_as_promised(project: Project) -> None:
    """Each damage and obstacle is healed, told or answered from the last snapshot, as its row promises."""
    tally = Tally()
    damage.every(project.folder.parent / "damage", tally)
    assert tally.what == []
    assert tally.tries.keys() == {kind.name for kind in damage.KINDS}


def test_two_servers_and_eight_clients_never_get_a_torn_answer(project: Project) -> None:
    """While HEAD moves and seeding processes are killed, every answer holds one edition, its commit's."""
    seen = load.run(project, 6.0)
    assert seen["answers"] > load.CLIENTS
    assert seen["wrong"] == 0, seen["first_wrong"]


def test_a_crowd_never_gets_a_wrong_answer(project: Project) -> None:
    """Servers on stdin and stdout, Git with hooks and command lines, killed at random: no answer is wrong, no loss."""
    seen = crowd.run(project, 30)
    assert seen["operations"] == 30
    assert seen["done"].keys() == {"MCP call", "command line", "git commit"}
    assert (seen["wrong"], seen["lost"]) == (0, []), seen["first_wrong"]


def test_a_wrong_answer_in_a_crowd_is_noticed(project: Project) -> None:
    """Negative control: a record missing, two editions in one answer, and an old one that passes for HEAD are seen."""
    crowded = crowd.Crowd(project, 0, random.Random(1))  # noqa: S311 - moments, no secret
    first = str(project.repo.git.head.target)
    project.commit()
    text = "Orders live in edition{} of store 1."
    for editions, before in ((range(1, 1), 1), ([1] * 5 + [2], 1), ([1] * 6, 2)):
        answer = {
            "revision": {"commit": first, "stale": False},
            "receipt": {"stored": False},
            "results": [{"passage": {"text": text.format(number)}} for number in editions],
        }
        asyncio.run(crowded.judge("test", answer, before))
    assert [line.split(": ")[1][:14] for line in crowded.wrong] == [
        "edition 1 has ",
        "edition 1 has ",
        "edition 1 pass",
    ]


def test_losses_are_noticed(project: Project) -> None:
    """Negative control: a receipt that is gone, a chain that is cut and a vector that was changed are all losses."""
    assert losses(project) == []
    project.acknowledged.add("sha256:never stored")
    assert "is gone" in losses(project)[0]
    project.acknowledged.clear()
    (receipts,) = (project.folder.parent / "home" / "kept").glob("*/receipts.db")
    database = sqlite3.connect(receipts)
    database.execute("DELETE FROM receipts WHERE number = 1")
    database.commit()
    database.close()
    assert "not there" in losses(project)[0]


def test_a_row_with_other_bytes_would_be_noticed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: vectors that are not what was written are refused as damage, also after a rebuild."""
    losses(project)
    project.commit()
    real = vectors.write
    monkeypatch.setattr(vectors, "write", lambda path, offset, data: real(path, offset, bytes(len(data))))
    with pytest.raises(DamagedStoreError):
        losses(project)


def test_the_page_tells_what_was_measured() -> None:
    """The page holds every kind with its tries and losses, and no figure that the results do not have."""
    machine = {"system": "Linux", "python": "3.11", "cores": 2}
    figures: dict[str, Any] = {"servers": 2, "clients": 8, "seconds": 6.0, "answers": 10, "editions": 3, "killed": 1}
    figures |= {"stale": 0, "wrong": 0, "per_second": 1.7, "p50_ms": 5.0, "p99_ms": 9.0}
    gone, killed = {"kind": "the store is gone", "tries": 4, "lost": 0}, {"kind": "kill -9 at x", "tries": 6, "lost": 1}
    crowded = {
        "operations": 7,
        "done": {"gc": 7},
        "killed": {"server": 2},
        "seconds": 3.0,
        "wrong": 0,
        "stale": 1,
        "lost": [],
    }
    result = {
        "crowd": crowded,
        "kills": 6,
        "machine": machine,
        "seconds": 9.0,
        "losses": [],
        "load": figures,
        "kinds": [gone, killed],
    }
    text = page(json.loads(json.dumps(result)))
    assert "2 kinds of faults, 10 tries, 1 with a loss" in text
    assert "| the store is gone | folder deleted |" in text
    assert "| kill -9 at x | signal 9" in text
    assert "7 operations (7 of gc) in 3 s, with signal 9 at random moments (2 of server)" in text
    assert "p99 9.0 ms" in text
