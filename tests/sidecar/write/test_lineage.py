from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sidecar.graph import Graph
from sidecar.lineage import named_paths
from sidecar.provider import Provider
from sidecar.render import render_record

from .conftest import decision, put, run

Open = Callable[[Path], Provider]


@pytest.fixture
def chained(work: Path) -> Path:
    """Return a clone with 2 -> 3 -> 4, a rejected successor of 4, a citation, and a dead successor."""
    files = {
        "2": decision("decision-0002", "Logs are text", "See bin/log.sh and lib/Gone.py.", date="2024-01-01"),
        "3": decision("decision-0003", "Logs are CSV", "CSV.", date="2025-01-01", supersedes="[decision-0002]"),
        "4": decision("decision-0004", "Logs are JSON", "JSON.", date="2026-01-01", supersedes="[decision-0003]"),
        "5": decision("decision-0005", "Logs are XML", "As decision-0002 was.", status="rejected",
                      supersedes="[decision-0004]"),
        "6": decision("decision-0006", "Logs rotate", "Daily.", superseded_by="[decision-0099]"),
    }  # fmt: skip
    (work / "bin").mkdir()
    (work / "bin/log.sh").write_text("#!/bin/sh\n")
    put(work, {f"knowledge/{name}.yaml": text for name, text in files.items()})
    return work


def test_the_chain_runs_both_ways_with_dates(chained: Path, opened: Open) -> None:
    """From the middle of a chain what it overturned and what overturned it are told step by step, rejected ones too."""
    found = opened(chained).show("decision-0003")["chain"]
    assert [(s["step"], s["id"], s["status"], s["date"]) for s in found] == [
        (-1, "decision-0002", "superseded", "2024-01-01"),
        (1, "decision-0004", "accepted", "2026-01-01"),
        (2, "decision-0005", "rejected", ""),
    ]
    text = render_record(opened(chained).show("decision-0002"))
    assert "- decision-0003 superseded by decision-0004 (accepted, 2026-01-01)" in text


def test_a_dead_successor_and_a_circle_are_shown(chained: Path, opened: Open) -> None:
    """An id that no record has is `missing`, and a chain that bites its tail says so and ends."""
    assert [(s["id"], s["status"]) for s in opened(chained).show("decision-0006")["chain"]] == [
        ("decision-0099", "missing")
    ]
    put(chained, {"knowledge/2.yaml": decision("decision-0002", "Logs are text", "x", supersedes="[decision-0004]")})
    circle = [s["id"] for s in opened(chained).show("decision-0003")["chain"] if s.get("cycle")]
    assert circle == ["decision-0003", "decision-0003"]


def test_what_cites_it_and_which_paths_are_there(chained: Path, opened: Open) -> None:
    """Relations and mentions in a text both cite; each path it names is there at that commit or gone, case and all."""
    found = opened(chained).show("decision-0002")
    assert {(c["id"], c["how"]) for c in found["cited_by"]} == {
        ("decision-0003", "supersedes"), ("decision-0005", "in its text")}  # fmt: skip
    assert found["paths"] == [{"path": "bin/log.sh", "exists": True}, {"path": "lib/Gone.py", "exists": False}]
    assert "- path that is gone: lib/Gone.py" in render_record(found)


def test_reading_to_confirm_says_what_main_did(chained: Path, opened: Open) -> None:
    """Whoever reads a record to confirm a weak answer learns there as well that the default branch overturned it."""
    run(chained, "push", "-q", "origin", "main")
    run(chained, "reset", "-q", "--hard", "HEAD~1")
    put(chained, {"knowledge/x.yaml": decision("decision-0007", "Old branch", "Mine.")})
    run(chained, "switch", "-q", "-c", "feature")
    provider = opened(chained)
    assert "on_base" not in provider.show("decision-0001")["record"]
    run(chained, "switch", "-q", "main")
    run(chained, "reset", "-q", "--hard", "origin/main")
    put(chained, {"knowledge/decisions/decision-0001.yaml": decision("decision-0001", "A", "B", status="deprecated")})
    run(chained, "push", "-q", "origin", "main")
    run(chained, "switch", "-q", "feature")
    found = provider.show("decision-0001")
    assert found["record"]["on_base"]["status"] == "deprecated"
    assert "on origin/main: deprecated" in render_record(found)
    assert "on_base" not in provider.show("decision-0001", at="HEAD~1")["record"]
    (node,) = [one for one in Graph(provider).walk("decision-0001")["nodes"] if one["id"] == "decision-0001"]
    assert node["on_base"]["status"] == "deprecated"


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ("see src/App.tsx, or docs/.", ["src/App.tsx"]),
        ("and/or 3/4, n/a", []),
        ("https://example.org/a/b.html and /etc/passwd and ~/x/y.z", []),
        ("`seed/git/write.py` (seed/git/write.py).", ["seed/git/write.py"]),
    ],
)
def test_only_what_looks_like_a_file_is_a_path(body: str, paths: list[str]) -> None:
    """A fraction, an abbreviation, a URL and an absolute path name no file of the repository."""
    assert named_paths((), body) == paths
