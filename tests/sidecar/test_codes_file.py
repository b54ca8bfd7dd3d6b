from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from sidecar import codes_file
from sidecar.codes import Codes, code
from sidecar.codes_file import CodesFile

RANDOM = np.random.default_rng(5).standard_normal((90, 13)).astype(np.float32)
MATRIX = RANDOM / np.linalg.norm(RANDOM, axis=1, keepdims=True)
Matrix = NDArray[np.float32]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CodesFile:
    """Return a file of codes in an empty folder; a part of it is small enough for several."""
    monkeypatch.setattr(codes_file, "_PART", 16)
    return CodesFile(tmp_path, "vectors 1")


@pytest.fixture
def coded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many rows were coded, each time."""
    times: list[int] = []

    def counted(matrix: Matrix) -> Codes:
        times.append(len(matrix))
        return code(matrix)

    monkeypatch.setattr(codes_file, "code", counted)
    return times


def same(one: Codes | None, rows: int) -> bool:
    wanted = code(MATRIX[:rows])
    return one is not None and all(np.array_equal(getattr(one, n), getattr(wanted, n)) for n in Codes.__slots__)


def test_only_new_rows_are_coded(file: CodesFile, coded: list[int]) -> None:
    """What stands in the file is mapped and not made again; rows that were added are."""
    assert same(file.opened(MATRIX, 40), 40)
    assert same(file.opened(MATRIX, 40), 40)
    assert same(file.opened(MATRIX, 41), 41)
    assert same(file.opened(MATRIX, 90), 90)
    assert coded == [40, 1, 49]
    held = file.opened(MATRIX, 50)  # an older snapshot needs no more than that
    assert held is not None
    assert len(held.scales) == 90
    assert coded == [40, 1, 49]


def test_rows_beyond_the_last_that_counts_are_not_believed(file: CodesFile) -> None:
    """A writer that was killed left rows which other vectors take: only those that were asked for have codes."""
    file.opened(MATRIX, 40)
    changed = MATRIX.copy()
    changed[40:] = MATRIX[:50]
    found = file.opened(changed, 90)
    assert found is not None
    assert np.array_equal(found.values[40:], code(changed[40:]).values)


@pytest.mark.parametrize("which", ["i8", "made"])
@pytest.mark.parametrize("damage", ["cut", "flipped", "emptied", "zeroed", "gone"])
def test_damaged_files_are_made_again(file: CodesFile, which: str, damage: str) -> None:
    """Cut off, with a flipped bit, empty, zeroed or gone, neither of the two files is believed."""
    file.opened(MATRIX, 70)
    path = file.path.with_suffix(f".{which}")
    data = bytearray(path.read_bytes())
    if damage == "gone":
        path.unlink()
    else:
        data[-20] ^= 4
        made = {"cut": bytes(data[:-9]), "flipped": bytes(data), "emptied": b"", "zeroed": bytes(len(data))}
        path.write_bytes(made[damage])
    assert file.load(13) is None
    assert same(file.opened(MATRIX, 70), 70)
    assert same(file.load(13), 70)


def test_a_writer_that_is_killed_leaves_the_old_codes(file: CodesFile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows count once the second file is replaced: codes that were written before it harm nobody."""
    file.opened(MATRIX, 40)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            file.opened(MATRIX, 90)
    assert same(file.load(13), 40)
    assert same(file.opened(MATRIX, 90), 90)


def test_a_disk_that_takes_no_writing_gives_no_codes(file: CodesFile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without codes the vectors are read as they are."""

    def refused(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "open", refused)
    assert file.opened(MATRIX, 40) is None


def test_a_file_that_another_process_dropped_is_made_whole(file: CodesFile, coded: list[int]) -> None:
    """Codes that this process has mapped do not count for a file that is gone: no hole is left where they were."""
    known = file.opened(MATRIX, 40)
    assert same(file.opened(MATRIX, 50, known), 50)
    file.drop()
    assert same(file.opened(MATRIX, 60, known), 60)
    assert same(file.load(13), 60)
    assert coded == [40, 10, 60]


def test_other_vectors_have_another_file(tmp_path: Path) -> None:
    """Neither another embedder's vectors nor rows that were numbered anew are ever taken for these."""
    one, other = CodesFile(tmp_path, "a 1"), CodesFile(tmp_path, "a 2")
    one.opened(MATRIX, 40)
    assert other.load(13) is None
    assert one.load(12) is None
    one.drop()
    assert one.load(13) is None
    assert not any((tmp_path / "codes").iterdir())


def test_old_files_go(tmp_path: Path) -> None:
    """Each compaction numbers rows anew: a few files stay, the newest."""
    for number in range(12):
        CodesFile(tmp_path, f"a {number}").opened(MATRIX, 20)
    assert len(list((tmp_path / "codes").iterdir())) == codes_file._KEEP
    assert same(CodesFile(tmp_path, "a 11").load(13), 20)
