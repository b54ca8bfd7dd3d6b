"""What the last scan for contradictions left, as one small file in the disposable store."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path

from seed.errors import SidecarError
from sidecar.conflicts import Pair

FILE = "conflicts.json"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Scanned:
    """What the last scan left: the embedder it compared with, the blob of each record (by folded id), its pairs."""

    identity: str = ""
    seen: Mapping[str, str] = field(default_factory=dict)
    pairs: tuple[Pair, ...] = ()


def load(folder: Path) -> Scanned:
    """Return what the last scan left; nothing when there was none or its file cannot be read."""
    file = folder / FILE
    try:
        state = file.stat()
    except OSError:
        return Scanned()
    return _read(file, state.st_mtime_ns, state.st_ino)


@lru_cache(maxsize=8)
def _read(file: Path, _changed: int, _inode: int) -> Scanned:
    """Read the file once for each state of it: every answer asks for it."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        found = tuple(
            Pair(tuple(p["ids"]), tuple(p["blobs"]), p["cosine"], p["why"], p["differs"]) for p in data["pairs"]
        )
        return Scanned(data["identity"], data["seen"], found) if data["format"] == _FORMAT else Scanned()
    except (OSError, ValueError, KeyError, TypeError):
        return Scanned()


def save(folder: Path, scanned: Scanned) -> None:
    """Keep what a scan found, whole or not at all. Raises `SidecarError` when the disk refuses."""
    data = {"format": _FORMAT, "identity": scanned.identity, "seen": dict(scanned.seen)}
    text = json.dumps({**data, "pairs": [asdict(pair) for pair in scanned.pairs]}, ensure_ascii=False)
    fresh = folder / f"{FILE}.{os.getpid()}"
    try:
        fresh.touch(mode=0o600)  # titles of records are in it: for its owner alone, as the rest of the store
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(folder / FILE)
    except OSError as exc:
        raise SidecarError(f"the scan could not be kept: {exc.strerror}", "check the room and rights there") from None
