"""The probe commit: a temporary clone that uses the same hooks folder, in which nothing of the user's is written.

The interpreter that ours would start is replaced by a script that writes down its arguments; the user's own hooks run
as they are, as they would for any commit.
"""

from __future__ import annotations

import shlex
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from seed.errors import SidecarError
from seed.git.command import run_git
from seed.git.hooks import SECTION
from seed.git.repository import Repository

_SECONDS = 60.0
_BACKGROUND_SECONDS = 5.0
_RECORD = "id: probe-0001\nkind: fact\ntitle: A probe\nstatus: unverified\n"


@dataclass(frozen=True, slots=True)
class Ran:
    """Which of our hooks ran for one commit, and what kept it from being made, or ""."""

    ours: tuple[str, ...]
    problem: str = ""


def probe(repo: Repository, hooks: Path) -> Ran:
    """Commit a record in a clone under a temporary folder. Never raises for what a hook does."""
    with tempfile.TemporaryDirectory(prefix="sidecar-probe-", ignore_cleanup_errors=True) as scratch:
        calls = Path(scratch) / "calls"
        calls.touch()
        try:
            _commit(repo, hooks, Path(scratch), calls)
        except SidecarError as exc:
            return Ran(_names(calls), exc.message)
        end = time.monotonic() + _BACKGROUND_SECONDS
        while "post-commit" not in _names(calls) and time.monotonic() < end:
            time.sleep(0.05)
        return Ran(_names(calls))


def _commit(repo: Repository, hooks: Path, scratch: Path, calls: Path) -> None:
    clone, store = scratch / "clone", scratch / "store"
    store.mkdir()
    fake = scratch / "python"
    fake.write_text(f'#!/bin/sh\necho "$@" >>{shlex.quote(str(calls))}\n', encoding="utf-8")
    fake.chmod(0o700)
    run_git(["clone", "-q", "--no-hardlinks", "--no-tags", "--depth", "1", repo.common.as_uri(), str(clone)], scratch)
    places = {f"{SECTION}.python": fake, f"{SECTION}.log": store / "hooks.log", "core.hooksPath": hooks.resolve()}
    settings = {name: str(path) for name, path in places.items()}
    settings |= {"user.name": "sidecar doctor", "user.email": "doctor@localhost", "commit.gpgSign": "false"}
    for name, value in settings.items():
        run_git(["config", "--local", name, value], clone)
    (clone / "knowledge").mkdir(exist_ok=True)
    (clone / "knowledge" / "probe-0001.yaml").write_text(_RECORD, encoding="utf-8")
    run_git(["add", "-f", "knowledge/probe-0001.yaml"], clone)
    home = {"SIDECAR_HOME": str(scratch / "home")}
    run_git(["commit", "-q", "-m", "Probe the hooks"], clone, timeout=_SECONDS, extra=home)


def _names(calls: Path) -> tuple[str, ...]:
    """Return the hooks that the script was started for: the word after ``hooks run``."""
    found = []
    for line in calls.read_text(encoding="utf-8", errors="replace").split("\n"):
        _, marker, rest = line.partition("hooks run ")
        if marker:
            found.append(rest.split(" ")[0])
    return tuple(dict.fromkeys(found))
