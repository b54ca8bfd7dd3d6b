"""Which hooks really fire: read from what Git would run, not from what was once installed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from seed.git import hooks as git_hooks
from seed.git.hooks import HooksFolder, hooks_folder
from seed.git.repository import Repository
from sidecar.hooks import SCRIPT, log
from sidecar.hooks.install import places
from sidecar.hooks.plan import Fires, fires


@dataclass(frozen=True, slots=True)
class HookStatus:
    """One hook: which of ours and theirs Git runs at ``path``, and why."""

    name: str
    fires: Fires
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Status:
    """All hooks of one worktree. ``obstacle`` is what keeps ours from running anywhere, or ""."""

    folder: HooksFolder
    python: str
    log: str
    obstacle: str
    hooks: tuple[HookStatus, ...]
    notes: tuple[str, ...]
    last: tuple[str, ...]


def status(repo: Repository) -> Status:
    """Return how hooks stand. Reads only. Raises `SidecarError` when Git cannot be asked."""
    folder = hooks_folder(repo)
    python, log_path = git_hooks.setting(repo, "python"), git_hooks.setting(repo, "log")
    obstacle = _obstacle(folder, python)
    hooks = []
    for place in places(folder.path):
        which, reason = fires(place, obstacle)
        if folder.off:
            which, reason = "none", folder.off
        hooks.append(HookStatus(place.name, which, str(folder.path / place.name), reason))
    last = tuple(log.last_lines(Path(log_path), 3)) if log_path else ()
    return Status(folder, python, log_path, obstacle, tuple(hooks), _notes(repo, folder), last)


def _obstacle(folder: HooksFolder, python: str) -> str:
    if folder.off:
        return folder.off
    if not python:
        return "not installed in this repository: run 'sidecar hooks install'"
    if not os.access(python, os.X_OK):
        return f"{python} is gone: run 'sidecar hooks install' again"
    if not os.access(folder.path / SCRIPT, os.X_OK):
        return f"{SCRIPT} is missing beside it: run 'sidecar hooks install' again"
    return ""


def _notes(repo: Repository, folder: HooksFolder) -> tuple[str, ...]:
    if folder.shared:
        return (f"{folder.path} serves other repositories too; our lines do nothing in those without an install.",)
    path = folder.path / SCRIPT
    if not path.resolve().is_relative_to(repo.common) and path.exists() and not git_hooks.is_ignored(repo, path):
        text = "is part of the working tree: our lines name no path of this machine and do nothing where sidecar is not"
        return (f"{folder.path} {text} installed, so they may be committed.",)
    return ()
