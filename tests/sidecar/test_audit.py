from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from sidecar import audit as core
from sidecar.auditing import report
from sidecar.cli import main
from sidecar.contradictions import record as judge
from sidecar.contradictions import scan
from sidecar.draft import Proposer
from sidecar.provider import Provider

from .conftest import TOY, Commit, record

TODAY = date(2026, 11, 29)


def checks(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["check"], one["id"]) for one in found["findings"]]


@pytest.fixture
def kept(commit: Commit) -> None:
    files: dict[str, str | None] = {"knowledge/policy.yaml": TOY, "shop/store/a.py": "", "docs/b.md": ""}
    files |= record("decision-1", "Expired", "Body.", valid_until="2026-11-28")
    files |= record("decision-2", "Ends today", "Body.", valid_until="2026-11-29")
    files |= record("decision-3", "Ends in thirty days", "Body.", valid_until="2026-12-29")
    files |= record("decision-4", "Ends later", "Body.", valid_until="2026-12-30")
    files |= record("decision-5", "Expired and superseded", "Body.", valid_until="2026-01-01", status="superseded")
    files |= record(
        "decision-6", "Names dead paths", "Body.", paths=["shop/gone.py", "shop/store", "docs/b.md:12", "*.c"]
    )
    files |= record("decision-7", "Names dead paths but is out", "Body.", paths=["shop/gone.py"], status="deprecated")
    commit(files)


@pytest.mark.usefixtures("kept")
def test_expiry_and_paths(provider: Provider) -> None:
    """What expired, ends within 30 days (both days included), or names a path that HEAD has not, if it is in force."""
    scan(provider)
    found = report(provider)
    assert checks(found) == [
        ("expired", "decision-1"),
        ("expires", "decision-2"),
        ("expires", "decision-3"),
        ("paths", "decision-6"),
    ]
    assert "names shop/gone.py, not at HEAD" in found["findings"][-1]["detail"]
    assert found["counts"]["expires"] == 2
    assert found["findings"][0]["path"] == "knowledge/decision-1.yaml"


@pytest.mark.usefixtures("kept")
def test_never_scanned(provider: Provider, commit: Commit) -> None:
    """A project that never scanned is told so, one record that is new since the last scan too, and a scan ends it."""
    assert ("scan", "") in checks(report(provider))
    assert "no scan" in report(provider)["findings"][-1]["detail"]
    scan(provider)
    assert ("scan", "") not in checks(report(provider))
    commit(record("decision-8", "New", "Body."))
    assert "1 records were never scanned" in report(provider)["findings"][-1]["detail"]


def test_contradictions_that_are_open(commit: Commit, provider: Provider) -> None:
    """A recorded contradiction is listed until it is resolved."""
    commit({"knowledge/policy.yaml": TOY} | record("decision-1", "One", "One.") | record("decision-2", "Two", "Two."))
    scan(provider)
    done = judge(provider, "decision-1", "decision-2", "contradicts", "why", Proposer("tester"))
    assert ("conflicts", done["id"]) in checks(report(provider))


def facts(**keys: Any) -> core.Facts:
    base: dict[str, Any] = {"records": (), "waiting": {}, "conflicts": (), "hints": (), "unscanned": ()}
    return core.Facts(**{**base, "ever_scanned": True, "gone": lambda _path: False, **keys})


def test_piles() -> None:
    """Many candidates, an old one, and many pairs without a judge are told; a few young ones are not."""
    few = facts(waiting={"a": 1, "b": 13}, hints=["a / b"])
    assert core.audit(few, TODAY) == []
    many = facts(waiting={f"c{n}": 0 for n in range(10)} | {"old": 14}, hints=["a / b"] * 5)
    assert [(one["check"], one["id"]) for one in core.audit(many, TODAY)] == [
        ("candidates", ""),
        ("candidates", "old"),
        ("conflicts", ""),
    ]


@pytest.mark.usefixtures("kept")
def test_command(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints a line for each finding with what to do and the line for cron; quiet where all is well."""
    where = ["--repo", str(repository)]
    assert main(["audit", *where]) == 0
    text = capsys.readouterr().out
    assert "paths: decision-6 (knowledge/decision-6.yaml) names shop/gone.py" in text
    assert f"0 7 * * 1 sidecar audit --quiet --repo '{repository.resolve()}'" in text
    assert main(["audit", "--exit-code", "--json", *where]) == 1
    assert json.loads(capsys.readouterr().out)["records"] == 7


def test_quiet_without_findings(repository: Path, commit: Commit, capsys: pytest.CaptureFixture[str]) -> None:
    """With nothing to do, quiet prints nothing and the exit code is 0."""
    commit({"knowledge/policy.yaml": TOY})
    assert main(["audit", "--quiet", "--exit-code", "--repo", str(repository)]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("kept")
def test_negative_control(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the rule that only records in force are looked at, one that is out of force would be listed."""
    monkeypatch.setattr(core, "IN_FORCE", ("accepted", "superseded", "deprecated"))
    assert {("expired", "decision-5"), ("paths", "decision-7")} <= set(checks(report(provider)))
