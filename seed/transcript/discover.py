"""Where the agents on this machine keep their sessions, and which of them belong to a repository."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from seed.transcript.capture import HEAD_BYTES, identify

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# More than anyone has open at a time; a bound, so that years of sessions cost no minutes.
LOOKED_AT = 2000


def session_folders(home: Path, environment: Mapping[str, str]) -> list[Path]:
    """Return the folders in which known agents keep their sessions, whether they exist or not."""
    claude = environment.get("CLAUDE_CONFIG_DIR", "").split(",")[0]
    codex = environment.get("CODEX_HOME", "")
    return [
        (Path(claude) if claude else home / ".claude") / "projects",
        (Path(codex) if codex else home / ".codex") / "sessions",
        home / ".copilot" / "session-state",
        home / ".gemini" / "tmp",
        home / ".pi" / "agent" / "sessions",
        home / ".cursor" / "projects",
    ]


def newest_first(folders: Iterable[Path]) -> list[Path]:
    """Return the session files below ``folders``, the one that changed last first."""
    found: list[tuple[int, Path]] = []
    for folder in folders:
        for path in folder.rglob("*.jsonl"):
            try:
                found.append((path.stat().st_mtime_ns, path))
            except OSError:  # swept away meanwhile
                continue
    return [path for _, path in sorted(found, reverse=True)]


def of_folder(paths: Iterable[Path], roots: Iterable[str]) -> Iterator[Path]:
    """Yield those of ``paths`` whose session says that it ran in one of ``roots`` or below it."""
    wanted = [root.rstrip("/") for root in roots]
    for count, path in enumerate(paths):
        if count == LOOKED_AT:
            return
        try:
            with path.open("rb") as file:
                cwd = identify(file.read(HEAD_BYTES)).cwd.rstrip("/")
        except OSError:
            continue
        names = {cwd, os.path.realpath(cwd) if cwd else ""}  # a session may have come through a symbolic link
        if any(name == root or name.startswith(f"{root}/") for name in names for root in wanted):
            yield path


def subagents(path: Path) -> list[Path]:
    """Return the files of the sub-agents that a Claude Code session keeps beside it, oldest name first."""
    return sorted((path.parent / path.stem / "subagents").glob("*.jsonl"))
