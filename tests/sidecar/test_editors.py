from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from seed.reader import parse_record
from seed.record import KINDS
from sidecar.cli import main
from sidecar.editors import settings, snippets


def expanded(lines: list[str]) -> str:
    """Return what an editor writes when every stop of a snippet is left as it is, or gets a word."""
    text = "\n".join(lines)
    for name, value in (("YEAR", "2026"), ("MONTH", "01"), ("DATE", "02")):
        text = text.replace(f"$CURRENT_{name}", value)
    return re.sub(r"\$\{\d+:([^}]*)\}", r"\1", re.sub(r"\$\d+", "Words.", text))


@pytest.mark.parametrize("kind", KINDS)
def test_a_snippet_makes_a_record_without_a_fault(kind: str) -> None:
    """What a snippet writes is a record that check has nothing to say about."""
    parsed = parse_record(expanded(snippets()[f"Knowledge: {kind}"]["body"]).encode())
    assert parsed.problems == ()
    assert parsed.record is not None
    assert parsed.record.kind == kind


def test_the_settings_leave_the_configuration_to_its_own_schema() -> None:
    """The record schema goes with every YAML file under knowledge/ but policy and glossary."""
    record, policy = (settings()["yaml.schemas"][f"./.vscode/{name}.schema.json"] for name in ("record", "policy"))
    assert record == ["knowledge/**/*.yaml", "!knowledge/policy.yaml", "!knowledge/glossary.yaml"]
    assert policy == ["knowledge/policy.yaml"]


@pytest.mark.parametrize("name", ["settings", "snippets"])
def test_schema_prints_them(name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`sidecar schema` prints them as JSON, to be written into a file."""
    assert main(["schema", name]) == 0
    file = tmp_path / name
    file.write_text(capsys.readouterr().out)
    assert json.loads(file.read_text())
