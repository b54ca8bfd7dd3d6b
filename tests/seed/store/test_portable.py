from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seed.embed.base import ToyEmbedder
from seed.errors import StoreError
from seed.store import portable
from seed.store.lock import exclusive
from seed.store.store import Store

TOY = ToyEmbedder(8)


def vectors(*texts: str) -> dict[bytes, Any]:
    return {text.encode().ljust(32, b"\0"): TOY.question(text) for text in texts}


def held(store: Store) -> dict[bytes, Any]:
    matrix = store.matrix(TOY.identity)
    rows = store.rows(TOY.identity, list(vectors("alpha", "beta", "gamma")))
    return {} if matrix is None else {sha: np.asarray(matrix[row]) for sha, row in rows.items()}


def filled(folder: Path, *texts: str) -> Store:
    store = Store(folder)
    store.register(TOY.identity)
    with exclusive(store.lock_path, 1):
        store.add_vectors(TOY.identity, vectors(*texts))
    return store


def same(found: dict[bytes, Any], wanted: dict[bytes, Any]) -> bool:
    return found.keys() == wanted.keys() and all(np.array_equal(found[sha], wanted[sha]) for sha in wanted)


def test_from_one_machine_to_another(tmp_path: Path) -> None:
    """What one store embedded, a new one takes over without embedding."""
    portable.save(filled(tmp_path / "a", "alpha", "beta"), tmp_path / "cache", TOY.identity)
    other = Store(tmp_path / "b")
    assert portable.fill(other, tmp_path / "cache", TOY.identity) == 2
    assert same(held(other), vectors("alpha", "beta"))
    assert portable.fill(other, tmp_path / "cache", TOY.identity) == 0


def test_cache_keeps_what_another_branch_wrote(tmp_path: Path) -> None:
    """Writing adds to the cache: branches that share it do not push each other out."""
    portable.save(filled(tmp_path / "a", "alpha"), tmp_path / "cache", TOY.identity)
    portable.save(filled(tmp_path / "b", "gamma"), tmp_path / "cache", TOY.identity)
    assert same(portable.read(tmp_path / "cache", TOY.identity), vectors("alpha", "gamma"))


@pytest.mark.parametrize("at", [0, 31, 32, 40, 63, 64, 79])
def test_flipped_byte_is_left_out(tmp_path: Path, at: int) -> None:
    """A record with any wrong byte - text, vector or checksum - is not used; the others are."""
    portable.write(tmp_path, TOY.identity, vectors("alpha", "beta"))
    path = portable.cache_file(tmp_path, TOY.identity)
    data = bytearray(path.read_bytes())
    start = data.index(b"\n") + 1
    data[start + at] ^= 1
    path.write_bytes(bytes(data))
    assert same(portable.read(tmp_path, TOY.identity), vectors("beta"))


def test_cut_off_file(tmp_path: Path) -> None:
    """A file that was cut off gives the whole records before the cut."""
    portable.write(tmp_path, TOY.identity, vectors("alpha", "beta"))
    path = portable.cache_file(tmp_path, TOY.identity)
    path.write_bytes(path.read_bytes()[:-1])
    assert same(portable.read(tmp_path, TOY.identity), vectors("alpha"))


def test_other_identity_is_never_read(tmp_path: Path) -> None:
    """Vectors of another embedder are not used, even when their file stands in the place of ours."""
    other = ToyEmbedder(8, projection="other").identity
    portable.write(tmp_path, other, vectors("alpha"))
    portable.cache_file(tmp_path, other).rename(portable.cache_file(tmp_path, TOY.identity))
    assert portable.read(tmp_path, TOY.identity) == {}


def test_vector_of_wrong_length_is_left_out(tmp_path: Path) -> None:
    """A right checksum over a vector that cannot be one does not help it in."""
    sha = next(iter(vectors("alpha")))
    portable.write(tmp_path, TOY.identity, {sha: np.full(8, 3, np.float32)})
    assert portable.read(tmp_path, TOY.identity) == {}


def test_damaged_store_does_not_spoil_the_cache(tmp_path: Path) -> None:
    """A vector that does not match the store's own checksum is not written into the cache."""
    store = filled(tmp_path / "a", "alpha", "beta")
    path = next((tmp_path / "a").glob("vectors-*.f32"))
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.write_bytes(bytes(data))
    portable.save(store, tmp_path / "cache", TOY.identity)
    assert same(portable.read(tmp_path / "cache", TOY.identity), vectors("beta"))


def test_nothing_there(tmp_path: Path) -> None:
    """Without a cache, and without vectors, nothing is taken and nothing is written."""
    store = Store(tmp_path / "a")
    assert portable.fill(store, tmp_path / "none", TOY.identity) == 0
    portable.save(store, tmp_path / "none", TOY.identity)
    assert not (tmp_path / "none").exists()


def test_unwritable(tmp_path: Path) -> None:
    """A cache that cannot be written is told in one line."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError):
        portable.write(tmp_path / "file", TOY.identity, vectors("alpha"))
