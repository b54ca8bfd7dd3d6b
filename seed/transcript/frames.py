"""Frames: a session's bytes in content-addressed zstd pieces, each readable without the others.

Size and level were chosen by measurement. Sessions show the same files again and again, megabytes apart: on a made
one of 19 MB, frames of 1, 2 and 4 MiB come to 17.4, 15.1 and 12.7 %, and 4 MiB still decompress in milliseconds.
A level above 9 saves at most half a percent more and takes up to twice the time.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import zstandard

from seed.errors import StoreError
from seed.transcript import files
from seed.transcript.manifest import Frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

FRAME_BYTES = 4 << 20
LEVEL = 9


def cut(chunks: Iterable[bytes], size: int = FRAME_BYTES) -> Iterator[bytes]:
    """Yield the same bytes in pieces of exactly ``size``, the last one shorter."""
    buffer = bytearray()
    for chunk in chunks:
        buffer += chunk
        while len(buffer) >= size:
            yield bytes(buffer[:size])
            del buffer[:size]
    if buffer:
        yield bytes(buffer)


class FrameFolder:
    """The frames of one session and its variants, in ``folder``; a frame's name is its content's sha256."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._compressor = zstandard.ZstdCompressor(level=LEVEL)
        self._decompressor = zstandard.ZstdDecompressor()

    def path(self, digest: str) -> Path:
        """Return where the frame with this content is kept."""
        return self.folder / f"{digest}.zst"

    def put(self, raw: bytes, known: dict[str, int]) -> tuple[Frame, int]:
        """Store ``raw`` unless it is there; return its frame and the bytes written.

        ``known`` maps digests to stored sizes: a file of another size was damaged and is written again.
        A new frame is read back from the disk and compared before anything may refer to it.
        Raises StoreError when what comes back differs.
        """
        digest = hashlib.sha256(raw).hexdigest()
        path = self.path(digest)
        if digest in known and path.exists() and path.stat().st_size == known[digest]:
            return Frame(len(raw), known[digest], raw.count(b"\n"), digest), 0
        packed = self._compressor.compress(raw)
        files.write_atomically(path, [packed], sync=False)
        frame = Frame(len(raw), len(packed), raw.count(b"\n"), digest)
        self.get(frame)
        return frame, len(packed)

    def get(self, frame: Frame) -> bytes:
        """Return the raw bytes of ``frame``. Raises FileNotFoundError, and StoreError when they differ."""
        path = self.path(frame.digest)
        packed = path.read_bytes()
        try:
            whole = zstandard.frame_content_size(packed) == frame.size
            raw = self._decompressor.decompress(packed, max_output_size=frame.size) if whole else b""
        except zstandard.ZstdError:
            raw = b""
        if hashlib.sha256(raw).hexdigest() != frame.digest:
            raise StoreError(
                f"{path} is damaged: it does not hold the bytes its name promises",
                "delete that file and capture the session again, or restore a backup",
            )
        return raw

    def keep_only(self, wanted: set[str]) -> None:
        """Delete the frames that no manifest refers to: replaced tails, and orphans of a crash."""
        for path in self.folder.glob("*.zst"):
            if path.stem not in wanted:
                path.unlink(missing_ok=True)
