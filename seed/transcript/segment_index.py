"""An index family: all segments of one archived session by one scheme, and the digests they rest on."""

from __future__ import annotations

import hashlib
import json
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

import zstandard

from seed.errors import SidecarError, StoreError
from seed.transcript import files
from seed.transcript.said import said, spoken, titled
from seed.transcript.segments import VERSION, Segment, check, segments

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from seed.transcript.reader import Reader

FORMAT = 1
_DIGEST_BYTES = 32


@dataclass(frozen=True, slots=True)
class SegmentIndex:
    """``starts[n]``..``ends[n]`` are bytes of turn ``turns[n]``; ``digests`` are 32 bytes a turn, joined."""

    transcript: str
    digest: str
    scheme: str
    version: int
    turns: array[int]
    starts: array[int]
    ends: array[int]
    digests: bytes

    def __len__(self) -> int:
        return len(self.turns)

    def segment(self, number: int) -> Segment:
        """Return segment ``number``."""
        return Segment(self.turns[number], self.starts[number], self.ends[number])

    def turn_digest(self, ordinal: int) -> str:
        """Return the digest of a turn when the index was built."""
        return f"sha256:{self.digests[ordinal * _DIGEST_BYTES : (ordinal + 1) * _DIGEST_BYTES].hex()}"

    def bytes_of(self, reader: Reader, number: int) -> bytes:
        """Return a segment's exact bytes. Raises StoreError when its turn is not what was indexed."""
        one = self.segment(number)
        turn, raw = reader.turn(one.turn)
        if turn.digest != self.turn_digest(one.turn):
            raise StoreError(f"turn {one.turn} of {self.transcript} is not what was indexed", "segment it again")
        return raw[one.start : one.end]


def build(reader: Reader, scheme: str) -> SegmentIndex:
    """Segment a stored session; proves that no byte is missed and that the archive holds what it did.

    Raises SidecarError for an unknown scheme, StoreError when the archive's bytes are not its digest's.
    """
    form, expected = reader.manifest.identity.format, reader.manifest.digest
    whole, size = hashlib.sha256(), reader.manifest.size
    columns = array("I"), array("Q"), array("Q")
    lengths, digests = array("Q"), bytearray()
    for ordinal, start, raw in reader.lines():
        whole.update(raw)
        if start + len(raw) < size:
            whole.update(b"\n")
        lengths.append(len(raw))
        digests += hashlib.sha256(raw).digest()
        for one in segments(ordinal, raw, said(raw, form), scheme) if raw else ():
            for column, value in zip(columns, (one.turn, one.start, one.end), strict=True):
                column.append(value)
    if f"sha256:{whole.hexdigest()}" != expected:
        raise StoreError(f"{reader.manifest.id} does not hold the bytes of {expected}", "run `transcript verify`")
    index = SegmentIndex(reader.manifest.id, expected, scheme, VERSION, *columns, bytes(digests))
    check((index.segment(number) for number in range(len(index))), lengths)
    return index


def views(reader: Reader, index: SegmentIndex) -> Iterator[tuple[int, str]]:
    """Yield (segment's number, text with its title) in order; the text is empty where only metadata stands."""
    yield from ((number, titled(title, text)) for number, title, text in utterances(reader, index))


def utterances(reader: Reader, index: SegmentIndex, number: int = 0) -> Iterator[tuple[int, str, str]]:
    """Yield (segment's number, title, text) in order, from a number on; the text is empty where only metadata stands.

    What stands before the turn of the first one is not read.
    """
    form = reader.manifest.identity.format
    for ordinal, _, raw in reader.lines(index.turns[number] if number < len(index) else 0):
        if number == len(index):
            return
        parts = said(raw, form) if index.turns[number] == ordinal else []
        while number < len(index) and index.turns[number] == ordinal:
            yield number, *spoken(raw, parts, index.starts[number], index.ends[number])
            number += 1


def file_name(transcript: str, digest: str, scheme: str) -> str:
    """Return the name of a family's file: another scheme, version or state of the session is another."""
    return f"{transcript}.{digest.removeprefix('sha256:')[:16]}.{scheme}.v{VERSION}.seg"


def save(path: Path, index: SegmentIndex) -> None:
    """Write an index whole or not at all; its folder is made."""
    files.private_folder(path.parent)
    files.write_atomically(path, [dump(index)])


def load(path: Path) -> SegmentIndex | None:
    """Return the index in a file, None where there is none or it is damaged: it costs only time to build again."""
    try:
        return parse(path.read_bytes())
    except (FileNotFoundError, SidecarError):
        return None


def dump(index: SegmentIndex) -> bytes:
    """Write an index: a line of JSON, then its columns, compressed."""
    head = {"format": FORMAT, "transcript": index.transcript, "digest": index.digest, "scheme": index.scheme}
    head |= {"version": index.version, "segments": len(index), "turns": len(index.digests) // _DIGEST_BYTES}
    columns = b"".join(column.tobytes() for column in (index.turns, index.starts, index.ends)) + index.digests
    return json.dumps(head).encode() + b"\n" + zstandard.ZstdCompressor(level=3).compress(columns)


def parse(data: bytes) -> SegmentIndex:
    """Read what `dump` wrote. Raises SidecarError when it is damaged or of another format: build it again."""
    try:
        line, _, packed = data.partition(b"\n")
        head = json.loads(line)
        columns = array("I"), array("Q"), array("Q")
        sizes = [column.itemsize * head["segments"] for column in columns]
        size = sum(sizes) + head["turns"] * _DIGEST_BYTES
        raw = zstandard.ZstdDecompressor().decompress(packed, max_output_size=size)
        whole = head["format"] == FORMAT and len(raw) == size
        names = (head["transcript"], head["digest"], head["scheme"], head["version"])
    except (ValueError, KeyError, TypeError, zstandard.ZstdError):
        whole = False
    if not whole:
        raise SidecarError("the segment index is damaged, or of another format", "delete it: it is built again")
    position = 0
    for column, width in zip(columns, sizes, strict=True):
        column.frombytes(raw[position : position + width])
        position += width
    return SegmentIndex(*names, *columns, raw[position:])
