import json
import subprocess
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from sidecar.cli import main


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    folder = tmp_path / "docs/adr"
    folder.mkdir(parents=True)
    (folder / "0001-moor.md").write_text("# 1. Moor\n\nDate: 10/04/18\n\n## Status\n\nSuperseded by ADR 2\n")
    (folder / "0002-sail.md").write_text("# 2. Sail\n\nDate: 2020-01-31\n\n## Status\n\nAccepted\n")
    (folder / "README.md").write_text("# Decisions\n")
    return tmp_path


def run(repo: Path, *arguments: str) -> Result:
    """Run the command as `sidecar` does, which turns an error into its line and exit code."""

    @click.command(context_settings={"ignore_unknown_options": True})
    @click.argument("words", nargs=-1, type=click.UNPROCESSED)
    @click.pass_context
    def sidecar(context: click.Context, words: tuple[str, ...]) -> None:
        context.exit(main(list(words)))

    return CliRunner().invoke(sidecar, ["--", "import", "adr", *arguments, "--repo", str(repo)])


def test_the_report_says_what_was_decided_and_what_was_not(repo: Path) -> None:
    """A line a record with the place of every decision, doubts below, files skipped, a summary at the end."""
    result = run(repo, str(repo / "docs/adr"))
    assert result.exit_code == 0
    assert "+ adr-0001: status superseded from section 'Status', line 5" in result.output
    assert "? date '10/04/18'" in result.output
    assert "superseded_by adr-0002" in result.output
    assert "- skipped README.md: " in result.output
    assert "2 records into knowledge/adr/, 1 file skipped" in result.output
    assert "status: 1 superseded, 1 accepted" in result.output
    assert (repo / "knowledge/adr/adr-0001.yaml").is_file()


def test_json_and_dry_run(repo: Path) -> None:
    """``--json`` gives the whole report, ``--dry-run`` writes nothing and says so."""
    result = run(repo, str(repo / "docs/adr"), "--dry-run", "--json")
    report = json.loads(result.output)
    assert report["dry_run"] is True
    assert len(report["written"]["created"]) == 2
    assert report["records"][0]["record"]["superseded_by"] == ["adr-0002"]
    assert not (repo / "knowledge").exists()
    assert "would be created" in run(repo, str(repo / "docs/adr"), "--dry-run").output


def test_an_edited_record_is_reported(repo: Path) -> None:
    """A record kept because it was edited is named, with the way to overwrite it."""
    run(repo, str(repo / "docs/adr"))
    with (repo / "knowledge/adr/adr-0001.yaml").open("a") as file:
        file.write("tags: [mine]\n")
    output = run(repo, str(repo / "docs/adr")).output
    assert "knowledge/adr/adr-0001.yaml - overwrite them with --force" in output
    assert "1 updated" in run(repo, str(repo / "docs/adr"), "--force").output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-folder"], "does not exist"),
        (["{repo}/docs"], ""),
        (["{repo}/docs/adr", "--into", "../x"], "leaves the repository"),
        (["{repo}/docs/adr", "--missing-status", "fine"], "is no status"),
        (["{repo}/docs/adr", "--prefix", "a b"], "cannot begin an id"),
        (["{repo}/docs/adr/README.md"], "is a file"),
    ],
)
def test_wrong_input_is_one_line(repo: Path, arguments: list[str], message: str) -> None:
    """Every wrong input gives exit code 2 and one line that says what to do."""
    result = run(repo, *(argument.format(repo=repo) for argument in arguments))
    if not message:
        assert result.exit_code == 0
        return
    assert result.exit_code == 2
    assert message in result.stderr
    assert " - " in result.stderr
    assert result.stderr.count("\n") == 1


def test_outside_a_repository(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Without a repository to write to, the command says so and what to do."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    result = run(elsewhere, str(repo / "docs/adr"))
    assert result.exit_code == 2
    assert "is in no Git repository" in result.stderr


def test_a_target_outside_knowledge_is_said(repo: Path) -> None:
    """Records written elsewhere never answer, so the report says where to put them."""
    assert "not below knowledge/" in run(repo, str(repo / "docs/adr"), "--into", "records").output
