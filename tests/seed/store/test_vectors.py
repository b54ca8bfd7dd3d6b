from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import numpy as np
import pytest

from seed.errors import StoreError
from seed.store import vectors
from seed.store.database import open_database

ID = "sha256:" + "a" * 64


def opened(folder: Path) -> sqlite3.Connection:
    """Open a store whose generation is 0 instead of a random number, so that its files' names are known."""
    database = open_database(folder / "store.db")
    database.execute("UPDATE meta SET value = '0' WHERE key = 'generation'")
    return database


def block(*values: float) -> dict[bytes, np.ndarray]:
    return {f"{value}".encode(): np.array([value, -value], dtype=np.float32) for value in values}


def test_vectors_come_back_exactly_at_their_row(tmp_path: Path) -> None:
    """What was appended in several steps is read from one memory map, bit for bit."""
    database = opened(tmp_path)
    vectors.append(database, tmp_path, ID, block(0.1, 0.2))
    vectors.append(database, tmp_path, ID, block(0.3))
    vectors.append(database, tmp_path, ID, {})
    matrix = vectors.open_matrix(tmp_path, ID, 2)
    assert matrix is not None
    rows = vectors.known(database, ID, [b"0.1", b"0.3", b"0.9"])
    assert rows == {b"0.1": 0, b"0.3": 2}
    assert matrix[2].tolist() == np.array([0.3, -0.3], dtype=np.float32).tolist()
    assert vectors.damaged(database, tmp_path, ID, 2) == []


def test_identities_keep_to_themselves(tmp_path: Path) -> None:
    """A vector of one embedder is never found under another, which has a file of its own."""
    database = opened(tmp_path)
    other = "sha256:" + "b" * 64
    vectors.append(database, tmp_path, ID, block(0.1))
    assert vectors.known(database, other, [b"0.1"]) == {}
    assert vectors.open_matrix(tmp_path, other, 2) is None
    assert vectors.vector_file(tmp_path, ID) != vectors.vector_file(tmp_path, other)


def test_bytes_of_a_killed_writer_are_written_over(tmp_path: Path) -> None:
    """Rows that no transaction named do not count; the next writer takes their place."""
    database = opened(tmp_path)
    vectors.append(database, tmp_path, ID, block(0.1))
    with vectors.vector_file(tmp_path, ID).open("ab") as torn:
        torn.write(b"\xff" * 11)
    vectors.append(database, tmp_path, ID, block(0.2))
    matrix = vectors.open_matrix(tmp_path, ID, 2)
    assert matrix is not None
    assert matrix[1].tolist() == np.array([0.2, -0.2], dtype=np.float32).tolist()
    assert vectors.damaged(database, tmp_path, ID, 2) == []


@pytest.mark.parametrize("left", [0, 7, 8, 15])
def test_rows_beyond_the_end_of_a_shortened_file_are_forgotten(tmp_path: Path, left: int) -> None:
    """A file that was cut off loses its last vectors and nothing else; they are embedded again."""
    database = opened(tmp_path)
    vectors.append(database, tmp_path, ID, block(0.1, 0.2))
    os.truncate(vectors.vector_file(tmp_path, ID), left)
    assert len(vectors.damaged(database, tmp_path, ID, 2)) == 2 - left // 8
    vectors.heal(database, tmp_path, ID, 2)
    assert set(vectors.known(database, ID, [b"0.1", b"0.2"])) == ({b"0.1"} if left >= 8 else set())
    vectors.append(database, tmp_path, ID, block(0.2))
    assert vectors.damaged(database, tmp_path, ID, 2) == []


def test_a_missing_file_is_healed_too(tmp_path: Path) -> None:
    """Without the file no vector counts."""
    database = opened(tmp_path)
    vectors.append(database, tmp_path, ID, block(0.1))
    vectors.vector_file(tmp_path, ID).unlink()
    with pytest.raises(StoreError, match="shorter"):
        vectors.append(database, tmp_path, ID, block(0.2))
    vectors.heal(database, tmp_path, ID, 2)
    assert vectors.known(database, ID, [b"0.1"]) == {}


def test_a_flipped_byte_is_found(tmp_path: Path) -> None:
    """Each vector has a checksum, and the one that does not match is named."""
    database = opened(tmp_path)
    vectors.append(database, tmp_path, ID, block(0.1, 0.2))
    path = vectors.vector_file(tmp_path, ID)
    data = bytearray(path.read_bytes())
    data[9] ^= 1
    path.write_bytes(data)
    assert vectors.damaged(database, tmp_path, ID, 2) == [b"0.2"]


def test_nobody_else_may_read_the_vectors(tmp_path: Path) -> None:
    """The file is created for its owner alone."""
    vectors.append(opened(tmp_path), tmp_path, ID, block(0.1))
    assert stat.S_IMODE(vectors.vector_file(tmp_path, ID).stat().st_mode) == 0o600


def test_what_was_worked_out_of_lost_rows_goes_with_them(tmp_path: Path) -> None:
    """Sums and codes of rows that get other vectors now are not believed by anyone."""
    database = opened(tmp_path)
    vectors.append(database, tmp_path, ID, block(0.1, 0.2))
    kept = [tmp_path / "planes" / "x.sums", tmp_path / "codes" / "x.i8"]
    for path in kept:
        path.parent.mkdir()
        path.write_bytes(b"worked out")
    vectors.heal(database, tmp_path, ID, 2)
    assert all(path.exists() for path in kept)  # nothing was lost
    os.truncate(vectors.vector_file(tmp_path, ID), 8)
    vectors.heal(database, tmp_path, ID, 2)
    assert not any(path.exists() for path in kept)
