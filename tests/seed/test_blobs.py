from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from seed import blobs, seeder
from seed.errors import BusyError, UnfinishedError
from seed.git.repository import Repository, open_repository
from seed.policy import Policy
from seed.store.lock import exclusive
from seed.store.store import Store

Commit = Callable[..., str]
Text = Callable[..., str]
FILES = 300


@pytest.fixture
def many(repository: Path, commit: Commit, record_text: Text) -> Repository:
    commit({f"knowledge/{n}.yaml": record_text(f"d-{n}") for n in range(FILES)})
    return open_repository(repository)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "store")
    yield opened
    opened.close()


def wanted(repo: Repository) -> seeder.Wanted:
    return seeder.wanted(repo, str(repo.git.head.target))


def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a second pass at every look at the clock."""
    clock = count()
    monkeypatch.setattr(blobs.time, "monotonic", lambda: float(next(clock)))


def test_reading_stops_at_the_deadline_and_goes_on_from_there(
    many: Repository, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Past the deadline nothing is published, what was read is kept, and the next attempts come to the end."""
    want = wanted(many)
    told = []
    for _ in range(10):
        ticking(monkeypatch)
        try:
            seeder.publish_words(many, store, want, deadline=20.0)
            break
        except UnfinishedError as exc:
            told.append(exc.message)
            assert not store.has(want.key)
    assert told[:2] == ["84 of 300 new files are read", "84 of 216 new files are read"]
    assert len(told) == 3
    assert len(store.load(want.key)[0].heads) == FILES  # type: ignore[index]


def test_a_few_files_are_read_however_little_time_there_is(many: Repository, store: Store) -> None:
    """A deadline in the past still lets the first files be read, so that every attempt comes further."""
    with pytest.raises(UnfinishedError, match="64 of 300"):
        seeder.publish_words(many, store, wanted(many), deadline=0.0)


def test_records_of_a_tree_are_read_within_the_budget(many: Repository, store: Store) -> None:
    """Another branch's records keep to the budget, too; while another process seeds they are read for this answer."""
    tree = wanted(many).tree
    with pytest.raises(UnfinishedError):
        blobs.records(many, store, tree, Policy(), budget=0.0)
    with exclusive(store.lock_path, 1):
        assert len(blobs.records(many, store, tree, Policy(), budget=0.0)) == FILES
        with pytest.raises(BusyError), exclusive(store.lock_path, 0):
            pass
    assert len(blobs.records(many, store, tree, Policy())) == FILES
