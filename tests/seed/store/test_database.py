from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from seed.errors import StoreError
from seed.store.database import open_database, open_disposable, open_reading, writing
from seed.store.paths import STORE_FORMAT, kept_folder, private_folder, repository_key, store_folder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_the_store_is_for_its_owner_alone(tmp_path: Path, mask: int) -> None:
    """Every folder that is made has 0700 and every file 0600, whatever the umask, SQLite's companions included."""
    before = os.umask(mask)
    try:
        database = open_database(tmp_path / "home/store/v1/x/store.db")
        with writing(database):
            database.execute("INSERT INTO meta VALUES ('a', 'b')")
        made = list((tmp_path / "home").rglob("*"))
        assert {mode(path) for path in (tmp_path / "home", *made) if path.is_dir()} == {0o700}
        assert {mode(path) for path in made if path.is_file()} == {0o600}
        assert len([path for path in made if path.is_file()]) >= 2
        database.close()
    finally:
        os.umask(before)


def test_a_newer_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    """A database of a later sidecar is neither read nor set aside."""
    path = tmp_path / "store.db"
    database = open_database(path)
    database.execute(f"PRAGMA user_version={STORE_FORMAT + 1}")
    database.close()
    for opening in (open_database, open_disposable):
        with pytest.raises(StoreError, match="newer") as caught:
            opening(path)
        assert "update" in caught.value.fix
    assert [p.name for p in tmp_path.iterdir() if "damaged" in p.name] == []


def test_what_is_no_database_any_more_is_set_aside_and_made_anew(tmp_path: Path) -> None:
    """The store can be rebuilt from Git, so a damaged one is moved out of the way and never read again."""
    path = tmp_path / "store.db"
    path.write_bytes(b"garbage " * 1000)
    database = open_disposable(path)
    assert database.execute("SELECT COUNT(*) FROM snapshots").fetchone() == (0,)
    assert [p.read_bytes()[:7] for p in tmp_path.iterdir() if "damaged" in p.name] == [b"garbage"]


def test_what_is_kept_for_good_is_never_set_aside(tmp_path: Path) -> None:
    """Receipts cannot be rebuilt: a damaged database of theirs is reported and stays."""
    path = tmp_path / "receipts.db"
    path.write_bytes(b"garbage " * 1000)
    with pytest.raises(StoreError, match="cannot be used"):
        open_database(path)
    assert path.read_bytes().startswith(b"garbage")


def test_an_exception_rolls_the_whole_transaction_back(tmp_path: Path) -> None:
    """A writer that fails in the middle leaves nothing of what it wrote."""
    database = open_database(tmp_path / "store.db")
    with pytest.raises(ZeroDivisionError), writing(database):
        database.execute("INSERT INTO meta VALUES ('a', 'b')").rowcount / 0
    assert database.execute("SELECT COUNT(*) FROM meta WHERE key <> 'generation'").fetchone() == (0,)
    with writing(database):
        database.execute("INSERT INTO meta VALUES ('a', 'b')")
    assert database.execute("SELECT COUNT(*) FROM meta WHERE key <> 'generation'").fetchone() == (1,)


def test_a_reader_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    """While one connection writes, another reads what was there before."""
    writer, reader = open_database(tmp_path / "store.db"), open_database(tmp_path / "store.db")
    with writing(writer):
        writer.execute("INSERT INTO meta VALUES ('a', 'b')")
        assert reader.execute("SELECT COUNT(*) FROM meta WHERE key <> 'generation'").fetchone() == (0,)
    assert reader.execute("SELECT COUNT(*) FROM meta WHERE key <> 'generation'").fetchone() == (1,)


def test_a_second_writer_is_told_so(tmp_path: Path) -> None:
    """A transaction that cannot begin ends in one line that says what to do."""
    one, two = open_database(tmp_path / "store.db"), open_database(tmp_path / "store.db")
    two.execute("PRAGMA busy_timeout=1")
    with writing(one), pytest.raises(StoreError, match="cannot be written"), writing(two):
        pass


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    """A file in the way of the store ends in a StoreError with the way out."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be created") as caught:
        private_folder(tmp_path / "file/inside")
    assert "SIDECAR_HOME" in caught.value.fix


def test_the_format_is_in_the_path_and_what_is_kept_lies_elsewhere(tmp_path: Path, private_home: Path) -> None:
    """Deleting store/ never touches kept/, and a new format is a new folder."""
    assert store_folder("r", tmp_path).is_relative_to(private_home / "store" / f"v{STORE_FORMAT}")
    assert kept_folder("r", tmp_path).is_relative_to(private_home / "kept")


def test_two_clones_of_one_name_have_two_folders(tmp_path: Path) -> None:
    """The key holds the real path of the clone; odd characters of its name never reach the file system."""
    assert repository_key("r", tmp_path / "a") != repository_key("r", tmp_path / "b")
    assert "/" not in repository_key("../x y", tmp_path)
    assert sqlite3.sqlite_version_info >= (3, 24, 0)  # ON CONFLICT DO UPDATE


def test_reading_changes_nothing_and_refuses_a_newer_format(tmp_path: Path) -> None:
    """A database opened for reading gets no companion files, takes no writes, and a newer one is refused."""
    path = tmp_path / "store.db"
    open_database(path).close()
    before = sorted(file.name for file in tmp_path.iterdir())
    database = open_reading(path)
    assert database.execute("SELECT COUNT(*) FROM snapshots").fetchone() == (0,)
    with pytest.raises(sqlite3.OperationalError):
        database.execute("DELETE FROM meta")
    database.close()
    assert sorted(file.name for file in tmp_path.iterdir()) == before
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version=99")
    newer.close()
    with pytest.raises(StoreError, match="newer"):
        open_reading(path)
