from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = [pytest.mark.slow, pytest.mark.model]
RECORD = """id: decision-0001
kind: decision
title: Session state lives in SQLite
status: accepted
body: |
  Sessions are kept in a SQLite file, since one process writes them.
"""


def run(*command: str, cwd: Path, site: Path) -> str:
    """Run a module of the installed wheel, away from the checkout."""
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONSAFEPATH": "1"}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_works_without_the_checkout(tmp_path: Path) -> None:
    """Built, installed into an empty folder and run elsewhere, it seeds, answers, and carries its hooks and probes."""
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--target",
        str(tmp_path / "site"),
        str(ROOT),
    ]
    subprocess.run(pip, check=True, capture_output=True)
    site = tmp_path / "site"
    assert (site / "sidecar" / "hooks" / "shims" / "post-commit").is_file()
    assert (site / "sidecar" / "data" / "probes.yaml").is_file()
    repo = tmp_path / "repository"
    (repo / "knowledge").mkdir(parents=True)
    (repo / "knowledge" / "decision-0001.yaml").write_text(RECORD)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run(["git", *command], cwd=repo, check=True)
    assert "1 record of" in run("sidecar", "seed", cwd=repo, site=site)
    assert "decision-0001" in run("sidecar", "recall", "Where is session state kept?", cwd=repo, site=site)
    run("sidecar", "hooks", "install", cwd=repo, site=site)
    assert "Done." in run("sidecar", "init", "--agent", "claude", "--yes", cwd=repo, site=site)
    assert "propose_record" in (repo / ".claude" / "skills" / "knowledge-sidecar" / "SKILL.md").read_text()
