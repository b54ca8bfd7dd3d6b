"""Vectors and arrays of integers in PostgreSQL's binary format, straight from and into NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import sql
from psycopg.adapt import Buffer, Dumper
from psycopg.pq import Format
from psycopg.types import TypeInfo

from seed.errors import StoreError
from seed.store.postgres.server import Connection

Matrix = NDArray[np.float32]
_COPY_HEADER = 19
"""Signature (11), flags (4), length of an extension (4) of a binary COPY."""


class _VectorDumper(Dumper):
    """float32 (d,) as pgvector's binary format: dimension, an unused field, big-endian floats."""

    format = Format.BINARY

    def dump(self, obj: Any) -> Buffer:  # noqa: ANN401 - the signature of psycopg
        head = np.array([len(obj), 0], dtype=">i2").tobytes()
        return head + np.ascontiguousarray(obj, dtype=">f4").tobytes()


def register(connection: Connection) -> None:
    """Teach a connection to send NumPy vectors. Raises `StoreError` where pgvector is not there."""
    if getattr(connection, "_sidecar_vectors", False):
        return
    found = TypeInfo.fetch(connection, "vector")
    if found is None:
        raise StoreError("the database has no extension 'vector'", "let its owner run: CREATE EXTENSION vector")
    found.register(connection)
    dumper = type("VectorDumper", (_VectorDumper,), {"oid": found.oid})
    connection.adapters.register_dumper(np.ndarray, dumper)
    connection._sidecar_vectors = True  # type: ignore[attr-defined]  # noqa: SLF001 - our own mark


def copied(
    connection: Connection, query: str | sql.Composed, values: Sequence[Any], dimension: int
) -> tuple[NDArray[np.int32], Matrix]:
    """Return (rows (n,), vectors (n, dimension)) of a SELECT of an integer and a vector.

    All in one read of the stream: with one dimension every record has one size.
    """
    with connection.cursor() as cursor, cursor.copy(query, values) as copy:
        data = b"".join(copy)
    record = np.dtype(
        [("fields", ">i2"), ("a", ">i4"), ("row", ">i4"), ("b", ">i4"), ("d", ">i2"), ("unused", ">i2"),
         ("v", ">f4", (dimension,))]
    )  # fmt: skip
    count = (len(data) - _COPY_HEADER - 2) // record.itemsize
    read = np.frombuffer(data, dtype=record, count=max(count, 0), offset=_COPY_HEADER if count > 0 else 0)
    if count > 0 and not (read["d"] == dimension).all():
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
