from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.cli import main

ROOT = Path(__file__).parents[3]


def complete(line: str) -> list[str]:
    """Return what the shell would offer for a line."""
    words = line.split()
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "_SIDECAR_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - (not line.endswith(" "))),
    }
    done = subprocess.run(
        [sys.executable, "-m", "sidecar"], env=environment, capture_output=True, text=True, check=False
    )
    assert not done.stderr
    return [one.split(",", 1)[1] for one in done.stdout.split()]


def test_commands_options_and_values_are_completed() -> None:
    """Commands that are loaded late, their subcommands, options and choices are all completed."""
    assert {"recall", "receipts", "renumber"} <= set(complete("sidecar re"))
    assert {"install", "status", "uninstall"} <= set(complete("sidecar hooks "))
    assert "--dry-run" in complete("sidecar init --dr")
    assert {"claude", "codex", "cursor"} == set(complete("sidecar init --agent c"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_takes_its_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The script names the command and the variable by which it asks, and the shell, where it is here, reads it."""
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "sidecar" in script
    assert f"_SIDECAR_COMPLETE={shell}_complete" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)
