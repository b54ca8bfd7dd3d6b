from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seed.errors import DamagedStoreError
from sidecar import blocks, plane, plane_file
from sidecar.plane import Sums, summed

RANDOM = np.random.default_rng(5).standard_normal((40, 8)).astype(np.float32)
MATRIX = RANDOM / np.linalg.norm(RANDOM, axis=1, keepdims=True)
CENTRE = MATRIX[0]
Records = list[list[int]]
records = st.lists(st.lists(st.integers(-1, 39), min_size=1, max_size=4), min_size=1, max_size=12)


def laid(held: Records) -> tuple[np.ndarray, np.ndarray]:
    rows = np.array([row for record in held for row in record], np.int32)
    return rows, np.cumsum([0, *map(len, held)])[:-1].astype(np.intp)


def same(one: Sums, other: Sums) -> bool:
    return all(np.allclose(getattr(one, n), getattr(other, n), atol=1e-6) for n in ("norms", "usual", "whole"))


@settings(max_examples=100, deadline=None)
@given(records, records)
def test_sums_taken_over_are_the_sums_worked_out(before: Records, after: Records) -> None:
    """Whatever stood in the last file, the sums are those of these rows."""
    old = plane_file.Kept(*laid(before), summed(MATRIX, *laid(before), CENTRE))
    assert same(plane_file.revised(old, MATRIX, *laid(after), CENTRE), summed(MATRIX, *laid(after), CENTRE))


def test_sums_are_kept_and_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second opening reads no vector."""
    rows, starts = laid([[0, 1], [2]])
    first = plane_file.opened(tmp_path, "m", MATRIX, rows, starts, CENTRE)
    monkeypatch.setattr(plane_file, "summed", None)
    assert same(plane_file.opened(tmp_path, "m", MATRIX, rows, starts, CENTRE), first)


@pytest.mark.parametrize("damage", [b"", b"short", None])
def test_a_damaged_file_is_made_again(tmp_path: Path, damage: bytes | None) -> None:
    """Cut off or with a flipped bit, it is not believed."""
    rows, starts = laid([[0, 1], [2]])
    first = plane_file.opened(tmp_path, "m", MATRIX, rows, starts, CENTRE)
    (file,) = (tmp_path / "planes").iterdir()
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(bytes(data) if damage is None else damage)
    assert plane_file.load(file) is None
    assert same(plane_file.opened(tmp_path, "m", MATRIX, rows, starts, CENTRE), first)


def test_a_vector_that_has_not_length_1_is_damage(tmp_path: Path) -> None:
    """Zeros where a vector should be are noticed before anything is answered from them."""
    with pytest.raises(DamagedStoreError, match="length 1"):
        plane_file.opened(tmp_path, "m", np.zeros_like(MATRIX), *laid([[0]]), CENTRE)


@settings(max_examples=100, deadline=None)
@given(records)
def test_both_ways_to_weigh_a_block_agree(held: Records) -> None:
    """Records of few passages are weighed passage by passage, those of many by runs, and nothing tells them apart."""
    rows, starts = laid(held)
    owners = np.repeat(np.arange(len(held), dtype=np.uint32), [len(record) for record in held])
    found = []
    for few in (16, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(blocks, "_FEW", few)
            found.append(plane.plane("x", MATRIX, rows, owners, CENTRE).nearness(MATRIX[3]))
    one, other = found
    assert one.passage.tolist() == other.passage.tolist()
    assert one.cosine.tolist() == other.cosine.tolist()
    assert one.near.tolist() == pytest.approx(other.near.tolist(), abs=1e-9)
    assert len(starts) == len(one.near)
