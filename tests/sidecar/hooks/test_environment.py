"""The environment that hooks run in goes away, in earnest: upgraded, deleted, or on a disk that is full."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seed.git.repository import open_repository
from sidecar.hooks.install import install
from sidecar.hooks.status import status

pytestmark = pytest.mark.slow


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """Return a virtual environment of its own that finds this checkout and its libraries."""
    folder = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    here = str(Path(__file__).parents[3])
    (site / "here.pth").write_text("\n".join([here, *(path for path in sys.path if "site-packages" in path)]))
    return folder


def plainly(clone: Any, number: int) -> str:
    """Commit a record as users do; not a word of ours may come out."""
    clone.write(number)
    clone.git("add", "-A")
    done = clone.git("commit", "-q", "-m", f"record {number}")
    assert (done.stdout, done.stderr) == ("", "")
    return str(clone.head())


def test_an_upgraded_and_a_deleted_environment_stop_no_commit(clone: Any, environment: Path) -> None:
    """Commits pass in silence, the log and status say why nothing was seeded, and a new install heals it."""
    command = [str(environment / "bin" / "python"), "-P", "-m", "sidecar", "hooks", "install", "--repo"]
    bare = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run([*command, str(clone.folder)], check=True, capture_output=True, env=bare)
    clone.environment = {"PYTHONPATH": ""}
    plainly(clone, 1)
    clone.wait_for_head()

    (library,) = environment.glob("lib/python*")
    library.rename(library.with_name("python3.0"))  # what an upgrade leaves: libraries of another version
    plainly(clone, 2)
    clone.wait(lambda: any("post-commit No module" in line or "No module named" in line for line in clone.log()))

    shutil.rmtree(environment)
    plainly(clone, 3)
    clone.wait(lambda: any("is gone: run 'sidecar hooks install' again" in line for line in clone.log()))
    assert "is gone" in status(open_repository(clone.folder)).obstacle

    clone.environment = {}
    install(open_repository(clone.folder))
    plainly(clone, 4)
    clone.wait_for_head()


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a disk of its own without room."""
    folder = tmp_path / "disk"
    folder.mkdir()
    size = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(size, check=False, capture_output=True).returncode:
        pytest.skip("a disk can be mounted by root alone")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_stops_no_commit_and_no_answer(clone: Any, full_disk: Path, sidecar: Any) -> None:
    """With no room for the store commits pass in silence and a question ends in one line; with room both work."""
    install(open_repository(clone.folder))
    clone.environment = {"SIDECAR_HOME": str(full_disk)}
    (full_disk / "filler").write_bytes(b"x" * (1 << 16))
    plainly(clone, 1)
    pending = clone.folder / ".git" / "sidecar-pending"
    clone.wait(lambda: (full_disk / "store").exists() and not pending.exists())
    asked = sidecar("recall", "Choice", "--repo", str(clone.folder), SIDECAR_HOME=str(full_disk))
    assert asked.returncode == 2
    assert asked.stderr.count("\n") == 1
    assert "database or disk is full - free the disk" in asked.stderr
    clone.environment = {}
    plainly(clone, 2)
    clone.wait_for_head()
