"""The tutorial is a program: every file it shows is written, every command run, every output compared."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Step:
    """A file to write, or a command with the output that the page shows."""

    text: str
    expected: str = ""
    file: str = ""


def steps(page: str) -> Iterator[Step]:
    """Yield what a page asks its reader to do, in order."""
    for block in _BLOCK.finditer(page):
        if block["title"]:
            yield Step(block["text"], file=block["title"])
        elif block["language"] == "console":
            for part in re.split(r"^\$ ", block["text"], flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                yield Step(command, expected=output)


def agrees(expected: str, printed: str) -> bool:
    """Tell whether an output is what the page shows, where three dots stand for anything, also for nothing."""
    pattern = re.escape(expected.strip()).replace(re.escape("..."), r".*?")
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


def run(step: Step, folder: Path, environment: dict[str, str]) -> tuple[str, Path]:
    """Run a command as a reader would type it, and return what it printed and the folder it ended in."""
    script = f"{step.text}\necho; pwd >&3"
    read, write = os.pipe()
    with os.fdopen(read) as ended, os.fdopen(write, "w") as pipe:
        done = subprocess.run(
            ["bash", "-ec", script.replace(">&3", f">&{pipe.fileno()}")],
            cwd=folder,
            env=environment,
            pass_fds=[pipe.fileno()],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        pipe.close()
        place = ended.read().strip()
    assert done.returncode == 0, f"$ {step.text}\n{done.stdout}{done.stderr}"
    return done.stdout, Path(place)


@pytest.mark.model
def test_every_step_of_the_tutorial_does_what_the_page_says(tmp_path: Path) -> None:
    """A reader who types what the tutorial shows gets what the tutorial shows."""
    found = list(steps((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")))
    assert len(found) > 20
    scripts = str(Path(sys.executable).parent)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "SIDECAR_"))} | {
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),  # the store lies below it, for the command line and for the server that a client starts
        "NO_COLOR": "1",
        "COLUMNS": "100",
    }
    folder = tmp_path
    for step in found:
        if step.file:
            (folder / step.file).write_text(step.text, encoding="utf-8")
            continue
        printed, folder = run(step, folder, environment)
        assert agrees(step.expected, printed), f"$ {step.text}\nexpected\n{step.expected}\nprinted\n{printed}"


def test_an_output_that_differs_from_the_page_is_seen() -> None:
    """The comparison fails where a line is missing, is another one, or comes too much."""
    assert agrees("Match.\n1. adr-0003 ...\n", "Match.\n1. adr-0003 (adr)\n   why\n")
    assert not agrees("Match.\n", "Match.\nmore\n")
    assert not agrees("Match.\n...superseded\n", "Match.\n1. adr-0001\n")
    assert not agrees("4 files", "")
