from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from seed.transcript.archive import Archive
from seed.transcript.manifest import Identity
from seed.transcript.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHECKOUT = Path(__file__).parents[3]


def shared_sessions() -> list[Path]:
    """Find real sessions beside the checkout, or beside the folder of its worktrees; none is fine."""
    folders = (CHECKOUT / ".." / "shared", CHECKOUT / ".." / ".." / "shared")
    return sorted(path for folder in folders for path in folder.glob("transcripts/*/*.jsonl"))


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "kept" / "transcripts")


@pytest.fixture
def keep(archive: Archive) -> Callable[..., Reader]:
    """Store bytes as a session and open it."""

    def _keep(data: bytes, base: str = "generic-one", step: int = 1 << 16) -> Reader:
        pieces: Iterator[bytes] = (data[at : at + step] for at in range(0, len(data), step))
        stored = archive.store(Identity(base, "generic"), pieces, source="s", captured="2026-01-01T00:00:00Z")
        return Reader(archive, stored.manifest)

    return _keep
