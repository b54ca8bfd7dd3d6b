"""A turn is one line of a session file, whatever is in it: broken, empty, torn or fifty megabytes long."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True)
class Turn:
    r"""A line: ``ordinal`` counts from 0; ``start`` and ``end`` are byte offsets in the file.

    ``end`` excludes the line's ``\n`` (a ``\r`` before it belongs to the turn), so the file is
    the turns joined by ``\n``, with one more at the end unless its last line was torn off.
    ``digest`` is the sha256 of the turn's bytes.
    """

    ordinal: int
    start: int
    end: int
    digest: str


def digest_of(data: bytes) -> str:
    """Return the sha256 of ``data`` as this project writes digests."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def scan(chunks: Iterable[bytes]) -> Iterator[Turn]:
    """Yield every turn of a file given in chunks of any size; holds one chunk, never a whole line."""
    ordinal = start = position = 0
    state = hashlib.sha256()
    for chunk in chunks:
        begin = 0
        while (cut := chunk.find(b"\n", begin)) >= 0:
            state.update(memoryview(chunk)[begin:cut])
            yield Turn(ordinal, start, position + cut, f"sha256:{state.hexdigest()}")
            ordinal, start, begin, state = ordinal + 1, position + cut + 1, cut + 1, hashlib.sha256()
        state.update(memoryview(chunk)[begin:])
        position += len(chunk)
    if position > start:
        yield Turn(ordinal, start, position, f"sha256:{state.hexdigest()}")


def lines(chunks: Iterable[bytes], start: int = 0) -> Iterator[tuple[int, bytes]]:
    r"""Yield (offset, line without its ``\n``) for a file, or a part of it from byte ``start`` on."""
    pieces: list[bytes] = []
    for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            line = b"".join((*pieces, piece))
            yield start, line
            start += len(line) + 1
            pieces = []
        if rest:
            pieces.append(rest)
    if pieces:
        yield start, b"".join(pieces)


def count(newlines: int, ends_open: bool) -> int:
    """Return how many turns a file has, from its newlines and whether its last line has none."""
    return newlines + ends_open
