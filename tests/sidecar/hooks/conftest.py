from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from seed.errors import StoreError
from seed.git.repository import open_repository
from seed.store.lock import exclusive
from seed.store.paths import store_folder
from sidecar.session import open_session

POLICY = "format: 1\nembedder: {model: toy, languages: 'off'}\n"
PATIENCE_SECONDS = 60.0


@dataclass(slots=True)
class Clone:
    """A working tree and what tests do to it with the real git."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def git(self, *arguments: str, ok: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert not ok or done.returncode == 0, done.stderr
        return done

    def head(self) -> str:
        return self.git("rev-parse", "HEAD").stdout.strip()

    def write(self, number: int, body: str = "Because it is small.") -> Path:
        folder = self.folder / "knowledge"
        folder.mkdir(exist_ok=True)
        (folder / "policy.yaml").write_text(POLICY)
        path = folder / f"decision-{number:04}.yaml"
        path.write_text(
            f"id: decision-{number:04}\nkind: decision\ntitle: Choice {number}\nstatus: accepted\n"
            f"date: 2026-01-01\nbody: |\n  {body}\n"
        )
        return path

    def commit(self, number: int, body: str = "Because it is small.") -> str:
        self.write(number, body)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", f"record {number}")
        return self.head()

    @property
    def store(self) -> Path:
        repo = open_repository(self.folder)
        return store_folder(repo.name, repo.common)

    def log(self) -> list[str]:
        path = self.store / "hooks.log"
        return path.read_text().rstrip("\n").split("\n") if path.exists() else []

    def has_snapshot(self) -> bool:
        session = open_session(self.folder)
        try:
            return session.store.has(session.wanted().key)
        finally:
            session.close()

    def wait(self, wanted: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while not wanted():
            assert time.monotonic() < end, self.log()
            time.sleep(0.1)

    def wait_for_head(self) -> None:
        """Wait until hooks have seeded HEAD, and until whoever did it is done."""
        self.wait(lambda: any(f"seeded {self.head()}" in line for line in self.log()))
        self.wait(self.is_quiet)
        assert self.has_snapshot()

    def is_quiet(self) -> bool:
        try:
            with exclusive(self.store / "hooks.lock", 0.0):
                return not list(open_repository(self.folder).common.rglob("sidecar-pending"))
        except StoreError:
            return False


@pytest.fixture
def clone(repository: Path) -> Clone:
    return Clone(repository)


@pytest.fixture
def other(tmp_path: Path) -> Clone:
    subprocess.run(["git", "init", "-q", str(tmp_path / "other")], check=True)
    return Clone(tmp_path / "other")


@pytest.fixture
def fake_python(tmp_path: Path) -> Iterator[Path]:
    """An interpreter that only writes down how it was called."""
    path = tmp_path / "bin" / "python"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\necho "$@" >>"{path.parent}/calls"\nexit 0\n')
    path.chmod(0o755)
    return path


@pytest.fixture
def sidecar() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line as its own process."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-P", "-m", "sidecar", *arguments]
        return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)

    return run
