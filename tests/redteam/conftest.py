from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

TOY = "format: 1\nembedder: {model: toy, languages: 'off'}\n"
CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "cases.yaml").read_text(encoding="utf-8"))
"""Each case: its ``name``; ``title``, ``body``, or ``key`` with ``text``, as an attacker writes them; ``shown``: the
lines that `sidecar show` prints for it."""


def hostile(case: dict[str, Any]) -> str:
    """Return the record file of a case, escaped so that every character arrives."""
    data: dict[str, Any] = {"id": "decision-1", "kind": "decision", "title": "Volcano", "status": "accepted"}
    data |= {"date": "2026-01-01", "body": case.get("body", "Plain."), "title": case.get("title", "Volcano")}
    if "key" in case:
        data[case["key"]] = case["text"]
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=False)


@pytest.fixture
def planted(repository: Path) -> Callable[[dict[str, Any]], Path]:
    """Return a function that commits a case's record, with the toy embedder, and returns the repository."""

    def plant(case: dict[str, Any]) -> Path:
        (repository / "knowledge").mkdir()
        (repository / "knowledge" / "policy.yaml").write_text(TOY)
        (repository / "knowledge" / "decision-1.yaml").write_text(hostile(case))
        subprocess.run(["git", "add", "-A"], cwd=repository, check=True)
        subprocess.run(["git", "commit", "-q", "-m", "plant"], cwd=repository, check=True)
        return repository

    return plant
