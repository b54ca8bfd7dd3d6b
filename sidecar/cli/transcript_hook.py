"""Capturing from an agent's hook: whatever happens is logged, and the agent is never stopped by it."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from seed.errors import SidecarError
from seed.transcript.capture import Options
from sidecar import history
from sidecar.hooks.log import append

INPUT_BYTES = 1 << 20


def capture_hooked(files: tuple[Path, ...], options: Options, repo: str) -> None:
    """Capture what a hook names: FILEs, else ``transcript_path`` of the JSON that the agent writes to it."""
    told = _told()
    paths = list(files) or [Path(one) for key in ("transcript_path", "rollout_path") if (one := told.get(key))]
    folder = repo if repo != "." else str(told.get("cwd") or repo)
    try:
        opened = history.open_history(Path(folder))
    except SidecarError as error:
        print(f"sidecar: {error}", file=sys.stderr)
        return
    log = opened.archive.folder.parent / "transcripts.log"
    if not paths:
        append(log, "the hook named no transcript_path")
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    for path in [path for one in paths for path in history.with_subagents(one)]:
        try:
            stored = history.capture(opened, path, now, options)
            append(log, f"{stored.manifest.id}: {stored.manifest.size} bytes, {stored.written} written")
        except (SidecarError, OSError) as error:
            append(log, f"{path}: {error}")


def _told() -> dict[str, Any]:
    """Return the JSON object on standard input, an empty one where there is none."""
    if sys.stdin is None or sys.stdin.isatty():
        return {}
    try:
        told = json.loads(sys.stdin.read(INPUT_BYTES))
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
