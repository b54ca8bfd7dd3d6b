from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from sidecar.cli import main
from sidecar.cli.review_cmd import compare
from sidecar.promote import promote
from sidecar.provider import Provider
from sidecar.review import code

from .conftest import decision, proposal, put, run

ACTION = Path(__file__).parents[3] / ".github/actions/knowledge-review/action.yml"


@pytest.fixture
def reviewed(work: Path, provider: Provider) -> tuple[dict[str, Any], Path]:
    """Return the review of a promotion that raises trust, supersedes, and repeats a record that is there."""
    title, body = "The store is SQLite, one file", "We keep all records in SQLite on disk."
    made = provider.propose(proposal(title=title, body=body, supersedes=["decision-0001"]))
    other = provider.propose(proposal(title="The store is SQLite, a single file", body=f"{body} Always so."))
    done = promote(provider, [made["id"], other["id"]], trust="user_confirmed")
    return compare(work, f"main..{done['branch']}"), work


def test_a_promotion_shows_what_rises_and_falls(reviewed: tuple[dict[str, Any], Path]) -> None:
    """The review names raised trust, what no longer answers and by what, and records that may say the same."""
    found, _ = reviewed
    first, second = (one["id"] for one in found["raised"])
    assert {(one["from"], one["to"]) for one in found["raised"]} == {("agent_generated", "user_confirmed")}
    assert found["retired"][0] | {"by": []} == {
        "id": "decision-0001", "from": "accepted", "to": "superseded", "by": []}  # fmt: skip
    assert found["retired"][0]["by"][0] in (first, second)
    assert {found["near_duplicates"][0][key] for key in ("id", "other")} == {first, second}
    assert [one["change"] for one in found["changed"]].count("added") == 2


def test_contradictions_that_the_change_opens_are_shown(work: Path) -> None:
    """An unverified record that refutes another, and two files with one id, come up once they are in the change."""
    run(work, "switch", "-q", "-c", "change")
    finding = decision("finding-0001", "SQLite was slow", "It took a second.", status="unverified")
    put(work, {"knowledge/f.yaml": finding.replace("kind: decision", "kind: finding") + "refutes: [decision-0001]\n"})
    found = compare(work, "main..change")
    assert {(c["id"], c["other"]) for c in found["contradictions"]} == {
        ("decision-0001", "finding-0001"), ("finding-0001", "decision-0001")}  # fmt: skip
    assert found["retired"] == []


def test_it_reviews_what_the_branch_did_not_what_main_did(work: Path) -> None:
    """A base that moved on is no part of the change: the comparison starts where the branch left it."""
    run(work, "switch", "-q", "-c", "change")
    put(work, {"code.py": "x = 1\n"})
    run(work, "switch", "-q", "main")
    put(work, {"knowledge/x.yaml": decision("decision-0002", "Logs are JSON", "JSON.")})
    assert compare(work, "main..change")["changed"] == []


def test_a_comment_cannot_be_written_by_a_record() -> None:
    """Text of a pull request stands in code spans: it neither mentions anyone, nor links, nor ends the span."""
    assert code("`@all` <img src=x>\n\n# Title") == "`'@all' <img src=x> # Title`"


def test_the_action_writes_a_summary_and_never_fails(
    reviewed: tuple[dict[str, Any], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The action's own script, run by bash, leaves the review in the job's summary, and a reason when it cannot."""
    found, work = reviewed
    steps = {step["name"]: step for step in yaml.safe_load(ACTION.read_text())["runs"]["steps"]}
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "sidecar").write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m sidecar "$@"\n')
    (tools / "sidecar").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "RUNNER_TEMP": str(tmp_path)}
    environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)

    def summary(base: str) -> str:
        file = tmp_path / f"summary-{base[:8]}"
        more = {"BASE": base, "HEAD_COMMIT": found["head"], "GITHUB_STEP_SUMMARY": str(file)}
        script = steps["Review"]["run"]
        subprocess.run(["bash", "-e", "-c", script], cwd=work, env=environment | more, check=True)
        return file.read_text()

    text = summary(found["base"])
    assert text.startswith("<!-- knowledge-review -->\n### Knowledge review\n")
    assert all(part in text for part in ("Trust is raised", "No longer in force", "May say the same"))
    assert main(["review", f"{found['base']}..{found['head']}", "--markdown", "--repo", str(work)]) == 0
    assert capsys.readouterr().out.strip() in text
    assert "could not be made" in summary("0" * 40)
    assert steps["Comment"]["if"] == "github.event.pull_request.head.repo.full_name == github.repository"
    assert not any(re.search(r"\$\{\{", step["run"]) for step in steps.values())
