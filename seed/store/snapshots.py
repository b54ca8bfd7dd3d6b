"""A snapshot as one row: what is read by name as JSON, heads in blocks, and integers as they lie in memory. Pure.

The column ``heads`` is a length, a JSON header of that length, and the parts that the header measures. Nothing of a
record is decoded before it is asked for, so that opening a snapshot costs a copy.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seed.errors import DamagedStoreError
from seed.facets import Facet, Kept, facets
from seed.heads import Heads, Names, pack
from seed.policy import from_json
from seed.record import Problem
from seed.snapshot import Snapshot, Unreadable

Row = tuple[str, str, str, bytes, bytes, bytes]
"""(key, commit, policy, heads, pids, owners with titles and lengths)"""
_LENGTH = struct.Struct("<II")
"""Bytes of the header, and the checksum of all that follows."""
_NUL = "\0"


def encode(snapshot: Snapshot, lengths: NDArray[np.uint32]) -> Row:
    """Return the row of a snapshot; ``lengths`` holds those of its passages, then of its titles."""
    heads = pack(snapshot.heads)
    held = snapshot.facets or facets(snapshot.heads)
    sizes = [*map(len, heads.blobs)]
    parts = [_NUL.join(heads.paths).encode(), "".join(heads.blobs).encode(), heads.starts.astype("<i4").tobytes()]
    parts += [part for one in held.values() for part in _facet_parts(one)]
    header = {
        "tree": snapshot.tree,
        "candidates": snapshot.candidates,
        "policy_fault": snapshot.policy_fault,
        "version": snapshot.version,
        "tips": [list(tip) for tip in snapshot.tips],
        "glossary": {term: list(others) for term, others in snapshot.glossary.items()},
        "unreadable": [[u.path, asdict(u.problem), u.blob] for u in snapshot.unreadable],
        "heads": len(heads),
        "blob": sizes if len(set(sizes)) > 1 else [],
        "facets": list(held),
        "parts": [len(part) for part in parts],
        "blocks": [len(block) for block in heads.blocks],
    }
    start = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    pieces, check = [start, *parts, *heads.blocks], 0
    for piece in pieces:
        check = zlib.crc32(piece, check)
    packed = b"".join([_LENGTH.pack(len(start), check), *pieces])
    arrays = np.concatenate([snapshot.owners, snapshot.titles, lengths]).astype("<u4")
    pids = snapshot.pids.astype("<u4").tobytes()
    return snapshot.key, snapshot.commit, snapshot.policy.to_json(), packed, pids, arrays.tobytes()


def _facet_parts(one: Facet) -> tuple[bytes, bytes, bytes]:
    values = _joined(one.values)
    owners = b"" if one.single() else one.owners.astype("<i4").tobytes()
    return values, one.codes.astype(_width(one.values)).tobytes(), owners


def _joined(values: Sequence[str]) -> bytes:
    """Return texts with a NUL behind each of them, which JSON never ends with; as JSON where one has a NUL in it."""
    text = _NUL.join(values) + _NUL
    if text.count(_NUL) != len(values):
        text = json.dumps(values, ensure_ascii=False)
    return text.encode()


def _parted(data: bytes) -> tuple[str, ...]:
    text = data.decode()
    return tuple(text[:-1].split(_NUL) if text.endswith(_NUL) else json.loads(text))


def _width(values: Sequence[str]) -> str:
    """Return as which integers the codes of so many values are kept."""
    return next(kind for kind, most in (("<u1", 1 << 8), ("<u2", 1 << 16), ("<i4", 1 << 31)) if len(values) <= most)


def header(packed: bytes) -> tuple[dict[str, Any], memoryview]:
    """Return (header, what follows it) of a packed column. Raises `DamagedStoreError`."""
    try:
        length, check = _LENGTH.unpack_from(packed)
        body = memoryview(packed)[_LENGTH.size :]
        if zlib.crc32(body) != check:
            raise DamagedStoreError("a snapshot does not match its checksum", "it is made again from Git")
        return json.loads(bytes(body[:length])), body[length:]
    except (struct.error, ValueError) as exc:
        raise DamagedStoreError(f"a snapshot cannot be read: {exc}", "it is made again from Git") from None


def documents(packed: bytes, pids: bytes, owners: bytes) -> list[NDArray[np.uint32]]:
    """Return the numbers of the passages and of the titles that a snapshot is made of. Raises `DamagedStoreError`."""
    heads = int(header(packed)[0]["heads"])
    passages, arrays = np.frombuffer(pids, dtype="<u4"), np.frombuffer(owners, dtype="<u4")
    return [passages, arrays[len(passages) : len(passages) + heads]]


def decode(row: Row) -> tuple[Snapshot, NDArray[np.uint32]]:
    """Return (snapshot, lengths) of a row.

    Raises `DamagedStoreError` for a row that another version wrote in a shape of its own: it is made again from Git.
    """
    try:
        return _decoded(row)
    except (TypeError, KeyError, IndexError, AttributeError, ValueError) as exc:
        raise DamagedStoreError(
            f"a snapshot was written by another version: {exc}", "it is made again from Git"
        ) from None


def _decoded(row: Row) -> tuple[Snapshot, NDArray[np.uint32]]:
    key, commit, policy, packed, pid_bytes, owner_bytes = row
    data, body = header(packed)
    heads, held = _parts(data, body)
    pids = np.frombuffer(pid_bytes, dtype="<u4")
    arrays = np.frombuffer(owner_bytes, dtype="<u4")
    n, m = len(pids), len(heads)
    snapshot = Snapshot(
        key=key,
        commit=commit,
        tree=data["tree"],
        candidates=data["candidates"],
        policy=from_json(policy),
        heads=heads,
        unreadable=tuple(Unreadable(path, Problem(**problem), blob) for path, problem, blob in data["unreadable"]),
        pids=pids,
        owners=arrays[:n],
        titles=arrays[n : n + m],
        glossary={term: tuple(others) for term, others in data["glossary"].items()},
        policy_fault=data["policy_fault"],
        tips=tuple((ref, commit) for ref, commit in data["tips"]),
        facets=held,
        version=data["version"],
    )
    return snapshot, arrays[n + m :]


def _parts(data: dict[str, Any], body: memoryview) -> tuple[Heads, Kept]:
    at, cut = 0, []
    for size in (*data["parts"], *data["blocks"]):
        cut.append(body[at : at + size])
        at += size
    size, parts = data["heads"], len(data["parts"])

    def names() -> Names:
        paths = tuple(bytes(cut[0]).decode().split(_NUL)) if size else ()
        return paths, _split(bytes(cut[1]).decode(), data["blob"] or size)

    triples = zip(data["facets"], cut[3:parts:3], cut[4:parts:3], cut[5:parts:3], strict=True)
    held = Kept({name: partial(_facet, (values, codes, owners), size) for name, values, codes, owners in triples})
    return Heads(size, names, np.frombuffer(cut[2], "<i4"), cut[parts:]), held


def _facet(parts: tuple[memoryview, memoryview, memoryview], size: int) -> Facet:
    values = _parted(bytes(parts[0]))
    codes = np.frombuffer(parts[1], _width(values)).astype(np.int32, copy=False)
    owners = np.frombuffer(parts[2], "<i4") if len(parts[2]) else np.arange(len(codes), dtype=np.int32)
    return Facet(values, codes, owners, size)


def _split(text: str, sizes: int | list[int]) -> tuple[str, ...]:
    """Return a text in pieces: so many equally long ones, or of the lengths named."""
    if isinstance(sizes, int):
        width = len(text) // sizes if sizes else 0
        return tuple(text[n : n + width] for n in range(0, len(text), width)) if width else ("",) * sizes
    ends = np.cumsum(sizes).tolist()
    return tuple(text[end - size : end] for size, end in zip(sizes, ends, strict=True))
