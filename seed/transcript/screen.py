"""Looking for secrets while a session streams by, and overwriting them where a copy is to be redacted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seed import secrets
from seed.transcript.manifest import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WINDOW = 1 << 20
# A secret that begins this close to the end of a window, on a line that goes on, waits for the next one.
OVERLAP = 32 << 10
LISTED = 1000


class Screen:
    """Passes bytes through (with ``redact``: secrets as stars) and lists at most `LISTED` findings."""

    def __init__(self, *, redact: bool = False) -> None:
        self._redact = redact
        self._findings: list[Finding] = []
        self._turn = 0
        self._column = 0  # bytes of the current turn that went by

    def findings(self) -> tuple[Finding, ...]:
        """Return what was seen so far."""
        return tuple(self._findings)

    def feed(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the same number of bytes as ``chunks`` holds; a window and a chunk are in memory."""
        buffer = b""
        for chunk in chunks:
            buffer += chunk
            if len(buffer) >= WINDOW:
                piece, buffer = self._window(buffer, last=False)
                yield piece
        if buffer:
            yield self._window(buffer, last=True)[0]

    def _window(self, buffer: bytes, *, last: bool) -> tuple[bytes, bytes]:
        found = secrets.find(buffer)
        cut = len(buffer) if last else buffer.rfind(b"\n") + 1 or len(buffer) - OVERLAP
        crossing = next((one for one in found if one.start < cut < one.end), None)
        if crossing is not None:
            cut = crossing.start or crossing.end
        whole = [one for one in found if one.end <= cut]
        piece = buffer[:cut]
        self._note(piece, whole)
        return secrets.blank(piece, whole) if self._redact and whole else piece, buffer[cut:]

    def _note(self, piece: bytes, found: list[secrets.Secret]) -> None:
        begin = 0
        for one in found:
            self._pass(piece, begin, one.start)
            begin = one.start
            if len(self._findings) < LISTED:
                width = one.end - one.start
                self._findings.append(Finding(one.rule, self._turn, self._column, self._column + width))
        self._pass(piece, begin, len(piece))

    def _pass(self, piece: bytes, start: int, end: int) -> None:
        newlines = piece.count(b"\n", start, end)
        self._turn += newlines
        self._column = end - piece.rfind(b"\n", start, end) - 1 if newlines else self._column + end - start
