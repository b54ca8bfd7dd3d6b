"""Vectors and arrays of integers in PostgreSQL's binary format, straight from and into NumPy."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from psycopg import sql
from psycopg.abc import DumperKey
from psycopg.adapt import Buffer, Dumper, PyFormat
from psycopg.pq import Format
from psycopg.types import TypeInfo

from seed.errors import StoreError
from seed.store.postgres.server import Connection

Matrix = NDArray[np.float32]
_HEAD = struct.Struct(">iiIii")
"""Of an array with one dimension: dimensions (1), whether there are nulls (0), type of its elements, length, first."""
_COPY_HEADER = 19
"""Signature (11), flags (4), length of an extension (4) of a binary COPY."""
_COPY_TRAILER = 2
_PIECE = 16 << 20
"""Bytes that are read before they become vectors."""


class _Int4s(Dumper):
    """int32 (n,) as int4[]."""

    format = Format.BINARY
    oid = 1007
    element, kind = 23, ">i4"

    def dump(self, obj: Any) -> Buffer:  # noqa: ANN401 - the signature of psycopg
        values = np.empty(len(obj), dtype=[("bytes", ">i4"), ("value", self.kind)])
        values["bytes"], values["value"] = np.dtype(self.kind).itemsize, obj
        return _HEAD.pack(1, 0, self.element, len(obj), 1) + values.tobytes()


class _Int2s(_Int4s):
    """int16 (n,) as int2[]."""

    oid = 1005
    element, kind = 21, ">i2"


class _Vector(Dumper):
    """float32 (d,) as pgvector's binary format: dimension, an unused field, big-endian floats."""

    format = Format.BINARY

    def dump(self, obj: Any) -> Buffer:  # noqa: ANN401 - the signature of psycopg
        head = np.array([len(obj), 0], dtype=">i2").tobytes()
        return head + np.ascontiguousarray(obj, dtype=">f4").tobytes()


class _Vectors(Dumper):
    """float32 (n, d) as vector[], n > 0."""

    format = Format.BINARY
    element = 0

    def dump(self, obj: Any) -> Buffer:  # noqa: ANN401 - the signature of psycopg
        count, dimension = obj.shape
        values = np.zeros(count, dtype=[("bytes", ">i4"), ("d", ">i2"), ("unused", ">i2"), ("v", ">f4", (dimension,))])
        values["bytes"], values["d"], values["v"] = 4 + 4 * dimension, dimension, obj
        return _HEAD.pack(1, 0, self.element, count, 1) + values.tobytes()


class _Arrays(Dumper):
    """A NumPy array, dumped by its type and its number of dimensions."""

    format = Format.BINARY
    kinds: ClassVar[dict[tuple[str, int], type[Dumper]]] = {}

    def dump(self, obj: Any) -> Buffer | None:  # noqa: ANN401 - the signature of psycopg
        raise TypeError(f"an array of {obj.dtype} with {obj.ndim} dimensions has no type in the database")

    def get_key(self, obj: Any, format: PyFormat) -> DumperKey:  # noqa: A002, ANN401, ARG002 - the signature of psycopg
        return (self.cls, obj.dtype.str, obj.ndim)

    def upgrade(self, obj: Any, format: PyFormat) -> Dumper:  # noqa: A002, ANN401, ARG002 - the signature of psycopg
        found = self.kinds.get((obj.dtype.str, obj.ndim))
        return self if found is None else found(self.cls, self.connection)


def register(connection: Connection) -> None:
    """Teach a connection to send NumPy arrays: int32 and int16 (n,), float32 (d,) and (n, d) as one vector and many.

    Raises `StoreError` where pgvector is not there.
    """
    if getattr(connection, "_sidecar_vectors", False):
        return
    found = TypeInfo.fetch(connection, "vector")
    if found is None:
        raise StoreError("the database has no extension 'vector'", "let its owner run: CREATE EXTENSION vector")
    found.register(connection)
    vector = type("Vector", (_Vector,), {"oid": found.oid})
    vectors = type("Vectors", (_Vectors,), {"oid": found.array_oid, "element": found.oid})
    kinds = {("<i4", 1): _Int4s, ("<i2", 1): _Int2s, ("<f4", 1): vector, ("<f4", 2): vectors}
    connection.adapters.register_dumper(np.ndarray, type("Arrays", (_Arrays,), {"kinds": kinds}))
    connection._sidecar_vectors = True  # type: ignore[attr-defined]  # noqa: SLF001 - our own mark


def copied(
    connection: Connection, query: str | sql.Composed, values: Sequence[Any], dimension: int
) -> Iterator[tuple[NDArray[np.int32], Matrix]]:
    """Yield (rows (n,), vectors (n, dimension)) of a SELECT of an integer and a vector, some thousand at a time.

    With one dimension every record has one size, so the stream is cut and not parsed; in pieces, so that a process
    holds its vectors once and not a second time on their way.
    """
    record = np.dtype(
        [("fields", ">i2"), ("a", ">i4"), ("row", ">i4"), ("b", ">i4"), ("d", ">i2"), ("unused", ">i2"),
         ("v", ">f4", (dimension,))]
    )  # fmt: skip
    with connection.cursor() as cursor, cursor.copy(query, values) as copy:
        held, skip = bytearray(), _COPY_HEADER
        for part in copy:
            held += part
            if len(held) >= _PIECE:
                count = (len(held) - skip) // record.itemsize
                yield _cut(held, record, count, skip)
                held, skip = held[skip + count * record.itemsize :], 0
        count = max(len(held) - skip - _COPY_TRAILER, 0) // record.itemsize
        yield _cut(held, record, count, skip if count else 0)


def _cut(data: bytearray, record: np.dtype[Any], count: int, skip: int) -> tuple[NDArray[np.int32], Matrix]:
    read = np.frombuffer(data, dtype=record, count=count, offset=skip)
    dimension = record["v"].shape[0]
    if not (read["d"] == dimension).all():
        raise StoreError(f"a stored vector has not {dimension} dimensions", "see 'sidecar doctor'")
    return read["row"].astype(np.int32), read["v"].astype(np.float32)


def integers(data: bytes, kind: str) -> NDArray[Any]:
    """Return the elements of an array as `array_send` gives it; ``kind`` is ">i4" or ">i2"."""
    element = np.dtype([("length", ">i4"), ("value", kind)])
    head = 20
    return np.frombuffer(data, dtype=element, offset=head)["value"] if len(data) > head else np.empty(0, dtype=kind)


def members(numbers: NDArray[Any]) -> bytes:
    """Return numbers as bits: bit n, counted as `get_bit` does, is set where n is among them; negative ones are not."""
    held = numbers[numbers >= 0].astype(np.int64)
    bits = np.zeros(int(held.max()) + 1 if len(held) else 0, dtype=np.uint8)
    bits[held] = 1
    return np.packbits(bits, bitorder="little").tobytes()
