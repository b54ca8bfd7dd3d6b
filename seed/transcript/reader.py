"""Reading a stored session: by bytes or by turn, a frame at a time, and proving that it is all there."""

from __future__ import annotations

import bisect
import hashlib
import itertools
import re
from collections import OrderedDict
from typing import TYPE_CHECKING

from seed.errors import SidecarError, StoreError
from seed.transcript import files, turns
from seed.transcript.turns import Turn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from seed.transcript.archive import Archive
    from seed.transcript.manifest import Manifest

FRAMES_CACHED = 4
_NEWLINE = re.compile(rb"\n")
_STEP = 64
"""The place of every 64th newline of a frame is remembered, so that a turn is found without going through all of it."""


class Reader:
    """Random access to one stored session; at most a few frames are in memory."""

    def __init__(self, archive: Archive, manifest: Manifest) -> None:
        self._archive = archive
        self._folder = archive.frames(manifest.id)
        self._cache: OrderedDict[int, bytes] = OrderedDict()
        self._marks: dict[int, list[int]] = {}
        self._adopt(manifest)

    def _adopt(self, manifest: Manifest) -> None:
        self.manifest = manifest
        self._ends = list(itertools.accumulate(frame.size for frame in manifest.frames))
        self._newlines = list(itertools.accumulate(frame.newlines for frame in manifest.frames))
        self._cache.clear()
        self._marks.clear()

    def _frame(self, index: int) -> bytes:
        if index not in self._cache:
            try:
                raw = self._folder.get(self.manifest.frames[index])
            except FileNotFoundError:
                raw = self._replaced(index)
            self._cache[index] = raw
            if len(self._cache) > FRAMES_CACHED:
                self._marks.pop(self._cache.popitem(last=False)[0], None)
        self._cache.move_to_end(index)
        return self._cache[index]

    def _replaced(self, index: int) -> bytes:
        """Follow a newer capture that replaced the tail: the same bytes now begin a larger frame."""
        old = self.manifest
        new = self._archive.load(old.id)
        missing = self._folder.path(old.frames[index].digest)
        if new.frames[: index + 1] == old.frames[: index + 1]:
            raise StoreError(f"{missing} is missing", "capture the session again, or restore a backup")
        self._adopt(new)
        return self._frame(index)

    def chunks(self, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the bytes from ``start`` to ``end`` (None: to the end), in pieces of at most a frame."""
        stop = self.manifest.size if end is None else min(end, self.manifest.size)
        while start < stop:
            index = bisect.bisect_right(self._ends, start)
            raw = self._frame(index)
            first = self._ends[index] - self.manifest.frames[index].size
            yield raw[start - first : stop - first]
            start = self._ends[index]

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes from ``start`` to ``end``."""
        return b"".join(self.chunks(start, end))

    def span(self, ordinal: int) -> tuple[int, int]:
        """Return where a turn begins and ends in the session, without its newline.

        Raises SidecarError for a number the session does not have.
        """
        if not 0 <= ordinal < self.manifest.turns:
            raise SidecarError(
                f"{self.manifest.id} has no turn {ordinal}",
                f"its turns are 0 to {self.manifest.turns - 1}" if self.manifest.turns else "it is empty",
            )
        return (self._newline(ordinal - 1) + 1 if ordinal else 0), self._newline(ordinal)

    def _newline(self, ordinal: int) -> int:
        """Return the offset of newline number ``ordinal``; past the last one, the end of the session."""
        index = bisect.bisect_right(self._newlines, ordinal)
        if index == len(self._newlines):
            return self.manifest.size
        raw, frame = self._frame(index), self.manifest.frames[index]
        local = ordinal - (self._newlines[index] - frame.newlines)
        if index not in self._marks:
            self._marks[index] = [one.start() for one in itertools.islice(_NEWLINE.finditer(raw), 0, None, _STEP)]
        rest = _NEWLINE.finditer(raw, self._marks[index][local // _STEP])
        match = next(itertools.islice(rest, local % _STEP, None))
        return self._ends[index] - frame.size + match.start()

    def turn(self, ordinal: int) -> tuple[Turn, bytes]:
        """Return a turn and its bytes. Raises SidecarError for a number the session does not have."""
        start, end = self.span(ordinal)
        raw = self.read(start, end)
        return Turn(ordinal, start, end, turns.digest_of(raw)), raw

    def lines(self, first: int = 0) -> Iterator[tuple[int, int, bytes]]:
        """Yield every turn from the ``first`` on as (ordinal, start, bytes); one line and one frame are in memory."""
        begin = self.span(first)[0] if first else 0
        for ordinal, (start, line) in enumerate(turns.lines(self.chunks(begin), begin), first):
            yield ordinal, start, line

    def export(self, output: Path) -> None:
        """Write the original bytes to ``output``, whole or not at all. Raises StoreError when they differ."""
        files.write_atomically(output, self._proven())

    def verify(self) -> None:
        """Read everything and compare every digest. Raises StoreError naming what is wrong."""
        for _ in self._proven():
            pass

    def _proven(self) -> Iterator[bytes]:
        whole, newlines, last, expected = hashlib.sha256(), 0, b"", self.manifest
        for chunk in self.chunks(0, expected.size):
            whole.update(chunk)
            newlines, last = newlines + chunk.count(b"\n"), chunk[-1:]
            yield chunk
        if f"sha256:{whole.hexdigest()}" != expected.digest:
            raise StoreError(f"{expected.id}: its frames do not add up to {expected.digest}", "restore a backup")
        if turns.count(newlines, last not in (b"\n", b"")) != expected.turns:
            raise StoreError(f"{expected.id}: it does not have {expected.turns} turns", "restore a backup")
