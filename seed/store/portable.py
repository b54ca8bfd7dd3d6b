"""A portable cache of vectors, for machines whose store is always new: read before seeding, written after it.

One file for each embedder identity: a line of JSON with the identity, then one record of fixed size for each text:
its sha256 (32 bytes), the vector (float32, little-endian), and the first 16 bytes of the sha256 over identity,
text's sha256 and vector. A record whose checksum does not fit is left out, so its text is embedded again.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seed.embed.identity import Identity
from seed.errors import StoreError
from seed.store.engine import Engine
from seed.store.paths import private_folder

_SHA = 32
_CHECK = 16
_UNIT = 1e-3
"""How far the length of a normalised vector may be from 1."""


def cache_file(folder: Path, identity: Identity) -> Path:
    """Return the file of an identity in a cache folder."""
    return folder / f"{identity.digest.removeprefix('sha256:')[:24]}.vectors"


def read(folder: Path, identity: Identity) -> dict[bytes, NDArray[np.float32]]:
    """Return text's sha256 -> vector of every sound record; a missing, foreign or damaged file gives fewer or none."""
    try:
        head, _, body = cache_file(folder, identity).read_bytes().partition(b"\n")
    except OSError:
        return {}
    if head != _head(identity):
        return {}
    size = _SHA + 4 * identity.dimension + _CHECK
    found: dict[bytes, NDArray[np.float32]] = {}
    for at in range(0, len(body) - size + 1, size):
        sha, raw = body[at : at + _SHA], body[at + _SHA : at + size - _CHECK]
        if body[at + size - _CHECK : at + size] == _check(identity, sha, raw) and _sound(raw, identity):
            found[sha] = np.frombuffer(raw, dtype="<f4")
    return found


def write(folder: Path, identity: Identity, found: dict[bytes, NDArray[np.float32]]) -> None:
    """Replace the file of an identity, whole or not at all. Raises `StoreError` when the disk refuses."""
    private_folder(folder)
    path = cache_file(folder, identity)
    try:
        descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=path.name)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(_head(identity) + b"\n")
            for sha in sorted(found):
                raw = np.ascontiguousarray(found[sha], dtype="<f4").tobytes()
                stream.write(sha + raw + _check(identity, sha, raw))
        Path(temporary).replace(path)
    except OSError as exc:
        raise StoreError(f"{path} cannot be written: {exc.strerror}", "name a writable folder for --cache") from None


def fill(store: Engine, folder: Path, identity: Identity, wait: float = 60.0) -> int:
    """Take over what the cache holds and the store lacks. Returns how many vectors that were. Raises `StoreError`."""
    held = read(folder, identity)
    if not held:
        return 0
    with store.exclusive(wait):
        store.register(identity)
        known = store.rows(identity, list(held))
        new = {sha: vector for sha, vector in held.items() if sha not in known}
        store.add_vectors(identity, new)
    return len(new)


def save(store: Engine, folder: Path, identity: Identity) -> None:
    """Write what the store holds into the cache, beside what the cache had already. Raises `StoreError`."""
    held = store.sound(identity)
    if not held:
        return
    had = read(folder, identity)
    found = had | held
    if found.keys() != had.keys() or not cache_file(folder, identity).exists():
        write(folder, identity, found)


def _head(identity: Identity) -> bytes:
    return json.dumps({"format": 1, "identity": json.loads(identity.to_json())}, sort_keys=True).encode()


def _check(identity: Identity, sha: bytes, raw: bytes) -> bytes:
    return hashlib.sha256(identity.digest.encode() + sha + raw).digest()[:_CHECK]


def _sound(raw: bytes, identity: Identity) -> bool:
    """Tell whether a vector can be one at all: a right checksum over one that is not of unit length proves nothing."""
    length = float(np.linalg.norm(np.frombuffer(raw, dtype="<f4")))
    return bool(np.isfinite(length)) and (not identity.normalized or abs(length - 1) < _UNIT or length == 0)
