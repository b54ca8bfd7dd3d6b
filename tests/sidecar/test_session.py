from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from seed.errors import UnreachableError
from seed.store.address import Address
from sidecar.provider import Provider
from sidecar.query import Query

Commit = Callable[..., str]
Text = Callable[..., str]
PAGE = 4096


def store_file(home: Path) -> Path:
    (found,) = home.rglob("store.db")
    with sqlite3.connect(found) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return found


@pytest.mark.parametrize("seed", range(12))
def test_a_store_damaged_anywhere_is_rebuilt_from_git(
    repository: Path,
    private_home: Path,
    commit: Commit,
    record_text: Text,
    provider: Provider,
    embedder: object,
    seed: int,
) -> None:
    """Whichever page of the database is overwritten, the next question gets the same answer."""
    commit({f"knowledge/{n}.yaml": record_text(f"d-{n}", title=f"Title word{n}") for n in range(40)})
    query = Query("word3")
    before = [result["id"] for result in provider.recall(query)["results"]]
    provider.close()
    file = store_file(private_home)
    data = bytearray(file.read_bytes())
    chance = random.Random(seed)  # noqa: S311 - which page to damage
    at = chance.randrange(len(data) // PAGE) * PAGE
    data[at : at + PAGE] = chance.randbytes(PAGE)
    file.write_bytes(data)
    again = Provider(repository, embedders=lambda _policy: [embedder], clock=provider.clock)  # type: ignore[list-item]
    assert [result["id"] for result in again.recall(query)["results"]] == before == ["d-3"]
    again.close()


def test_a_damaged_store_is_set_aside_once(
    repository: Path, private_home: Path, commit: Commit, record_text: Text, provider: Provider, embedder: object
) -> None:
    """Of two sessions that meet the damage, one sets the file aside and the other takes what was made anew."""
    commit({"knowledge/a.yaml": record_text("a")})
    other = Provider(repository, embedders=lambda _policy: [embedder], clock=provider.clock)  # type: ignore[list-item]
    for opened in (provider, other):
        opened.recall(Query("title"))
    provider.session.store.start_anew()
    other.session.store.start_anew()
    assert len(list(private_home.rglob("store.db.damaged-*"))) == 1
    for opened in (provider, other):
        assert opened.recall(Query("title"))["coverage"]["records"] == 1
    other.close()


def test_a_question_loads_nothing_that_writes_or_reads_sessions() -> None:
    """What answers a question imports no editor of records, no importer, no format of sessions and no TOML."""
    code = (
        "import sys, sidecar.provider, sidecar.cli.recall_cmd\n"
        "idle = ('seed.edit', 'seed.importers', 'seed.transcript.formats', 'sidecar.draft', 'tomllib', 'fastembed')\n"
        "print([name for name in idle if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("replicas", "failures", "stood_in"), [(1, 1, 0), (1, 2, 1), (0, 1, 1)])
def test_another_server_is_asked_before_the_embedded_store_stands_in(
    provider: Provider, monkeypatch: pytest.MonkeyPatch, replicas: int, failures: int, stood_in: int
) -> None:
    """With replicas a reading that lost its server is done once more; only then, or without any, the store changes."""
    session, left, stand_ins = provider.session, [failures], list[UnreachableError]()
    monkeypatch.setattr(session.shelf, "address", Address("postgresql://localhost/x", ("url",) * replicas))
    monkeypatch.setattr(session.shelf, "stand_in", stand_ins.append)

    def work() -> str:
        left[0] -= 1
        if left[0] >= 0:
            raise UnreachableError("a server is gone")
        return "answered"

    assert session.healing(work) == "answered"
    assert len(stand_ins) == stood_in
