from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from seed.reader import parse_record
from sidecar.cli import main

Text = Callable[..., str]


@pytest.fixture
def folder(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (repository / "knowledge").mkdir()
    monkeypatch.chdir(repository)
    return repository


def test_errors_give_exit_code_one_and_a_line_each(
    folder: Path, record_text: Text, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line is file:line: reason - what to do, and an error fails the command."""
    (folder / "knowledge/a.yaml").write_text(record_text("a", status="nope", colour="red"))
    assert main(["check"]) == 1
    first, second, last = capsys.readouterr().out.strip().split("\n")
    assert first.startswith("knowledge/a.yaml:4: status 'nope' is not known")
    assert " - use one of accepted" in first
    assert second.startswith("knowledge/a.yaml:7: warning: unknown keys")
    assert last == "1 file checked: 1 error, 1 warning."


def test_warnings_alone_pass(folder: Path, record_text: Text) -> None:
    """Exit code 0 with warnings only."""
    (folder / "knowledge/a.yaml").write_text(record_text("a", colour="red"))
    assert main(["check"]) == 0


def test_json_has_the_fixed_form(folder: Path, record_text: Text, capsys: pytest.CaptureFixture[str]) -> None:
    """--json is one object with format, files and problems."""
    (folder / "knowledge/a.yaml").write_text(record_text("a", supersedes=["gone"]))
    assert main(["check", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["format"], answer["files"]) == (1, 1)
    assert answer["problems"] == [
        {
            "path": "knowledge/a.yaml",
            "line": 7,
            "level": "error",
            "reason": "supersedes names 'gone', which is no record here",
            "fix": "correct the id, add that record, or delete the line",
        }
    ]


@pytest.mark.usefixtures("folder")
def test_nothing_to_check_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """Without records the command passes and tells how to start one."""
    assert main(["check", "--staged"]) == 0
    assert "Nothing to check" in capsys.readouterr().out


def test_text_of_a_file_cannot_steer_the_terminal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Control characters in a key come out escaped and on one line."""
    (folder / "knowledge/a.yaml").write_text('id: a\nkind: fact\ntitle: T\nstatus: verified\n"x\\e[31m\\ny": 1\n')
    assert main(["check"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert len(out.strip().split("\n")) == 2


def test_outside_a_repository_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Wrong usage is exit code 2 with one line that says what to do."""
    monkeypatch.chdir(tmp_path)
    assert main(["check"]) == 2
    assert len(capsys.readouterr().err.strip().split("\n")) == 1


@pytest.mark.parametrize("name", ["record", "policy"])
def test_schemas_are_json_schemas(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each schema is printed as one JSON object that says which dialect it is."""
    assert main(["schema", name]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["type"] == "object"


def test_an_unknown_schema_names_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt name is answered with the list."""
    assert main(["schema", "recrod"]) == 2
    assert "record" in capsys.readouterr().err


def test_new_and_renumber_work_together(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`new` prints the file it made, `renumber` says what it changed, and check passes after both."""
    assert main(["new", "decision", "Use", "SQLite"]) == 0
    printed = capsys.readouterr().out.strip()
    assert printed == "knowledge/decisions/decision-0001.yaml"
    record = parse_record((folder / printed).read_bytes()).record
    assert record is not None
    assert record.title == "Use SQLite"
    assert main(["renumber", "decision-0001", "--to", "decision-0009", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["path"] == "knowledge/decisions/decision-0009.yaml"
    assert main(["check"]) == 0
    assert yaml.safe_load((folder / "knowledge/decisions/decision-0009.yaml").read_text())["id"] == "decision-0009"


def test_new_prints_a_path_that_works_from_here(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The printed path is relative to the current folder, so that an editor can open it."""
    (folder / "src").mkdir()
    monkeypatch.chdir(folder / "src")
    assert main(["new", "fact", "x"]) == 0
    assert Path(capsys.readouterr().out.strip()).is_file()
