"""What other projects put into their CI: the shell steps of each template run as its runner would run them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
RECORD = "id: {id}\nkind: decision\ntitle: {title}\nstatus: accepted\ndate: 2026-11-29\nbody: |\n  {body}\n"
QUESTIONS = """\
- id: q-001
  question: In which unit is a temperature kept?
  expected: [decision-0001]
- id: q-002
  question: How do we pay the cleaning staff?
  expected: []
  unanswerable: off_topic
"""
GATES = "format: 1\nminimum: {recall@3: 1.0}\nmaximum: {false_answers: 0}\n"


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with a record, a question set, gates, and a branch that retires the record."""
    folder = tmp_path / "project"
    (folder / "knowledge").mkdir(parents=True)
    (folder / "evals" / "questions").mkdir(parents=True)
    first = RECORD.format(
        id="decision-0001", title="Temperatures are kept in degrees Celsius", body="Only a page converts the unit."
    )
    (folder / "knowledge" / "a.yaml").write_text(first, encoding="utf-8")
    (folder / "evals" / "questions" / "own.yaml").write_text(QUESTIONS, encoding="utf-8")
    (folder / "evals" / "gates.yaml").write_text(GATES, encoding="utf-8")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "Ada")
    git(folder, "config", "user.email", "ada@example.org")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "Knowledge")
    git(folder, "switch", "-qc", "change")
    second = RECORD.format(
        id="decision-0002", title="Temperatures are kept in kelvin", body="As the sensors send them."
    )
    (folder / "knowledge" / "b.yaml").write_text(second + "supersedes: [decision-0001]\n", encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "Kelvin")
    return folder


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Return what a runner sets: our command on the path, nothing of this process's Git or store."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "SIDECAR_", "CI_", "GITHUB_"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**kept, "PATH": path, "SIDECAR_HOME": str(folder.parent / "home"), **more}


def shell(script: str, folder: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


@pytest.fixture
def notes() -> Iterator[tuple[str, list[bytes]]]:
    """Yield the address of a server that takes notes as a forge does, and what it was sent."""
    taken: list[bytes] = []

    class Forge(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            taken.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(201)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Forge)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", taken
    server.shutdown()
    server.server_close()


def gitlab(job: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / ".gitlab" / "knowledge.yml").read_text(encoding="utf-8"))[job]
    return found


@pytest.mark.model
def test_the_gitlab_gate_passes_and_fails_with_the_answers(project: Path) -> None:
    """The job is green while the set is answered, and red on a change that retires an expected record."""
    job = gitlab("knowledge-gate")
    variables = environment(project, **job["variables"])
    git(project, "switch", "-q", "main")
    done = shell("\n".join(job["script"]), project, variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((project / "recall.json").read_text(encoding="utf-8"))["format"] == 1
    git(project, "switch", "-q", "change")
    base = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": git(project, "rev-parse", "main")}
    done = shell("\n".join(job["script"]), project, variables | base)
    assert done.returncode == 1
    assert "decision-0001" in done.stdout + done.stderr


def test_the_gitlab_review_writes_a_note(project: Path, notes: tuple[str, list[bytes]]) -> None:
    """The report says what is retired and goes to the merge request where a token is set, and nowhere else."""
    address, taken = notes
    merge = {
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": git(project, "rev-parse", "main"),
        "CI_COMMIT_SHA": git(project, "rev-parse", "change"),
        "CI_API_V4_URL": address, "CI_PROJECT_ID": "7", "CI_MERGE_REQUEST_IID": "3",
    }  # fmt: skip
    script = "\n".join(gitlab("knowledge-review")["script"])
    done = shell(script, project, environment(project, **merge))
    assert (done.returncode, taken) == (0, []), done.stderr
    assert re.search("decision-0001.*superseded", (project / "knowledge-review.md").read_text(encoding="utf-8"))
    done = shell(script, project, environment(project, **merge, SIDECAR_REVIEW_TOKEN="t"))  # noqa: S106 - no secret
    assert done.returncode == 0, done.stderr
    assert len(taken) == 1
    assert b"decision-0001" in taken[0]


@pytest.mark.model
def test_the_github_gate_runs_its_steps(project: Path) -> None:
    """The composite action's own shell steps check the records and hold the gate."""
    action = yaml.safe_load((ROOT / ".github/actions/recall-gate/action.yml").read_text(encoding="utf-8"))
    scripts = [s["run"] for s in action["runs"]["steps"] if "run" in s and "pip install" not in s["run"]]
    variables = environment(project, QUESTIONS="evals/questions/own.yaml", GATES="evals/gates.yaml", BASE="")
    git(project, "switch", "-q", "main")
    assert [shell(script, project, variables).returncode for script in scripts] == [0, 0]
    git(project, "switch", "-q", "change")
    assert [shell(script, project, variables).returncode for script in scripts] == [0, 1]


def test_hooks_of_the_pre_commit_framework_name_commands_that_exist() -> None:
    """Every entry is a command of ours with options that it knows."""
    for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")):
        words = hook["entry"].split()
        assert words[0] == "sidecar"
        done = subprocess.run(
            [str(Path(sys.executable).parent / "sidecar"), words[1], "--help"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert all(option in done.stdout for option in words if option.startswith("--"))
