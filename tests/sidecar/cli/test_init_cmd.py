from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sidecar import agents
from sidecar.agents import AGENTS
from sidecar.cli import main

ALL = [word for agent in AGENTS for word in ("--agent", agent.name)]
TOY = "format: 1\nembedder: {model: toy, languages: 'off'}\n"
ADR = "# 1. Use oak\n\nDate: 2024-05-06\n\n## Status\n\nAccepted\n\n## Decision\n\nOak for every hull.\n"
Commit = Callable[..., str]


@pytest.fixture
def project(repository: Path, commit: Commit, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with an ADR and a policy, in which no agent can be found by its command."""
    commit({"docs/adr/0001-oak.md": ADR, "knowledge/policy.yaml": TOY, "AGENTS.md": "# Ours\n\nBe kind.\n"})
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}" if name == "sidecar" else None)
    return repository


def files(folder: Path) -> dict[str, bytes]:
    """Return every file outside .git with its bytes."""
    found = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.relative_to(folder).parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def hooks(folder: Path) -> dict[str, bytes]:
    """Return the hooks that Git runs."""
    return {path.name: path.read_bytes() for path in (folder / ".git" / "hooks").iterdir() if path.is_file()}


def run(capsys: pytest.CaptureFixture[str], project: Path, *arguments: str, code: int = 0) -> Any:
    """Run init with --json and return its object."""
    assert main(["init", *arguments, "--json", "--repo", str(project)]) == code
    return json.loads(capsys.readouterr().out)


def test_everything_is_set_up_and_answers(project: Path, commit: Commit, capsys: pytest.CaptureFixture[str]) -> None:
    """Six agents are configured, ADRs imported, hooks in place; once committed, init asks and gets an answer."""
    done = run(capsys, project, *ALL, "--yes")
    assert done["done"] is True
    assert [one["records"] for one in done["imports"]] == [["adr-0001"]]
    for agent in AGENTS:
        data = agents.read(project / agent.project[0])
        assert [name for name, _ in agents.servers(data, agent.key, project)] == ["sidecar"]
    for guide in ("AGENTS.md", "CLAUDE.md", "GEMINI.md"):
        assert "propose_record" in (project / guide).read_text(encoding="utf-8")
    for skills in (".claude", ".agents"):
        text = (project / skills / "skills" / "knowledge-sidecar" / "SKILL.md").read_text(encoding="utf-8")
        assert text.startswith("---\nname: knowledge-sidecar\ndescription: ")
    assert "post-commit" in hooks(project)
    assert done["answer"] is None
    assert done["commands"][0].startswith("git add knowledge ")
    subprocess.run(done["commands"][0], shell=True, cwd=project, check=True)  # noqa: S602 - it is meant for a shell
    commit({}, "Set up")
    again = run(capsys, project, *ALL)
    assert again["answer"]["verdict"] in {"match", "weak"}
    assert again["commands"] == []


def test_a_second_time_changes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Run again, init plans nothing, writes nothing and says that everything is in place."""
    run(capsys, project, *ALL, "--yes")
    before, before_hooks = files(project), hooks(project)
    again = run(capsys, project, *ALL, "--yes")
    assert (again["files"], again["imports"], again["hooks"], again["done"]) == ([], [], False, False)
    assert (files(project), hooks(project)) == (before, before_hooks)


THEIRS = {
    ".mcp.json": '{\n  // ours\n  "mcpServers": {"other": {"command": "x"}}\n}',
    ".cursor/mcp.json": "{}",
    ".vscode/mcp.json": '{\r\n\t"inputs": [],\r\n\t"servers": {},\r\n}\r\n',
    ".codex/config.toml": 'model = "m" # ours',
    ".gemini/settings.json": '{"ui": {"theme": "x"}, "mcpServers": {}}\n',
    ".zed/settings.json": '// Zed\n{\n  "tab_size": 2, // two\n}\n',
    "CLAUDE.md": "# Claude\nno line end",
    "GEMINI.md": "",
}


@pytest.mark.parametrize("theirs", [{}, THEIRS], ids=["nothing there", "files there"])
def test_remove_restores_every_byte(
    project: Path, commit: Commit, capsys: pytest.CaptureFixture[str], theirs: dict[str, str]
) -> None:
    """What was there before comes back byte for byte, new files and folders go, hooks go, knowledge/ stays."""
    commit(theirs)
    before, before_hooks = files(project), hooks(project)
    run(capsys, project, *ALL, "--yes")
    kept = {path: data for path, data in files(project).items() if path.startswith("knowledge/")}
    done = run(capsys, project, "--remove", "--yes")
    assert "knowledge/ stays" in done["notes"][0]
    assert files(project) == {**before, **kept}
    assert hooks(project) == before_hooks
    assert not (project / ".claude").exists()
    assert run(capsys, project, "--remove", "--yes")["files"] == []


def test_remove_keeps_what_was_added_since(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Servers and lines that were added after init stay, and only ours go; a skill that was edited stays as well."""
    run(capsys, project, "--agent", "claude", "--yes")
    config = project / ".mcp.json"
    config.write_text(config.read_text().replace('"mcpServers": {', '"mcpServers": {\n    "new": {"command": "y"},'))
    (project / "CLAUDE.md").write_text("# Mine\n\n" + (project / "CLAUDE.md").read_text())
    skill = project / ".claude" / "skills" / "knowledge-sidecar" / "SKILL.md"
    skill.write_text(skill.read_text() + "\nMine.\n")
    run(capsys, project, "--remove", "--yes")
    assert json.loads(config.read_text()) == {"mcpServers": {"new": {"command": "y"}}}
    assert (project / "CLAUDE.md").read_text().strip() == "# Mine"
    assert skill.exists()


def test_remove_works_in_a_fresh_clone(
    project: Path, commit: Commit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a clone of a repository that was set up elsewhere, what init wrote is found by its form."""
    commit({"CLAUDE.md": "# Claude\n"})
    run(capsys, project, *ALL, "--yes")
    commit({}, "Set up")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(project), str(clone)], check=True)
    run(capsys, clone, "--remove", "--yes")
    left = files(clone)
    assert {path for path in left if not path.startswith("knowledge/")} == {
        "docs/adr/0001-oak.md",
        "AGENTS.md",
        "CLAUDE.md",
    }
    assert left["CLAUDE.md"] == b"# Claude\n"
    assert left["AGENTS.md"] == b"# Ours\n\nBe kind.\n"


def test_a_broken_configuration_is_left_alone(
    project: Path, commit: Commit, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files that cannot be parsed, are not UTF-8 or lead out are named and untouched; the rest is done, exit code 1."""
    outside = project.parent / "outside.json"
    outside.write_text("{}")
    commit({".mcp.json": "{ no", ".codex/config.toml": b"\xff\xfe", ".gemini/settings.json": "[1]"})
    (project / ".zed").mkdir()
    (project / ".zed" / "settings.json").symlink_to(outside)
    done = run(capsys, project, *ALL, "--yes", code=1)
    assert {one["path"] for one in done["refused"]} == {
        ".mcp.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".zed/settings.json",
    }
    assert all(one["reason"] and one["fix"] for one in done["refused"])
    assert (project / ".mcp.json").read_text() == "{ no"
    assert (project / ".codex" / "config.toml").read_bytes() == b"\xff\xfe"
    assert outside.read_text() == "{}"
    assert (project / ".vscode" / "mcp.json").is_file()


def test_an_entry_of_somebody_else_is_not_overwritten(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A server named sidecar that starts something else is left alone and told."""
    text = '{"mcpServers": {"sidecar": {"command": "motorbike"}}}'
    (project / ".mcp.json").write_text(text)
    done = run(capsys, project, "--agent", "claude", "--yes", code=1)
    assert "there already" in done["refused"][0]["reason"]
    assert (project / ".mcp.json").read_text() == text


def test_one_file_under_two_names_gets_one_section(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where CLAUDE.md is a link to AGENTS.md, or imports it, only AGENTS.md gets the section."""
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    (project / "GEMINI.md").write_text("@AGENTS.md\n")
    run(capsys, project, "--agent", "claude", "--agent", "gemini", "--yes")
    assert (project / "AGENTS.md").read_text().count("sidecar: begin") == 1
    assert (project / "CLAUDE.md").is_symlink()
    assert (project / "GEMINI.md").read_text() == "@AGENTS.md\n"


@pytest.mark.parametrize("arguments", [["--dry-run"], ["--dry-run", "--yes"], []])
def test_nothing_is_written_unasked(project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    """With --dry-run, or without a terminal and without --yes, it shows the changes, changes nothing and says how."""
    before, before_hooks = files(project), hooks(project)
    assert main(["init", "--agent", "claude", *arguments, "--repo", str(project)]) == 0
    shown = capsys.readouterr().out
    assert '+  "mcpServers": {' in shown
    assert "Import docs/adr: 1 record" in shown
    assert "Nothing was changed" in shown
    assert ("--yes" in shown.rsplit("\n", 2)[-2]) == (not arguments)
    assert (files(project), hooks(project)) == (before, before_hooks)
    assert not (project / ".git" / "sidecar-init.json").exists()


def test_a_terminal_is_asked(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal each folder and the whole are asked about; a no to an import leaves only that out."""
    asked: list[str] = []

    def confirm(text: str, **_: object) -> bool:
        asked.append(text)
        return not text.startswith("Import")

    monkeypatch.setattr("click.confirm", confirm)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["init", "--agent", "codex", "--repo", str(project)]) == 0
    assert asked == ["Import 1 record from docs/adr?", "Write this?"]
    assert (project / ".codex" / "config.toml").is_file()
    assert not (project / "knowledge" / "adr").exists()


def test_init_starts_in_an_empty_repository(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a commit and without agents it writes knowledge/, AGENTS.md and hooks, and the record is valid."""
    done = run(capsys, repository, "--agent", "claude", "--yes")
    assert done["done"] is True
    assert main(["check", "--repo", str(repository)]) == 0
    assert (repository / "knowledge" / "decisions" / "decision-0001.yaml").is_file()


def test_hooks_that_were_there_are_not_removed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Hooks that the user installed before init stay when init is taken out."""
    assert main(["hooks", "install", "--repo", str(project)]) == 0
    capsys.readouterr()
    before = hooks(project)
    assert run(capsys, project, "--yes")["hooks"] is False
    run(capsys, project, "--remove", "--yes")
    assert hooks(project) == before


def test_a_bare_repository_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A bare repository has no working tree to set up."""
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "bare")], check=True)
    assert main(["init", "--yes", "--repo", str(tmp_path / "bare")]) == 2
    assert "run this in a clone" in capsys.readouterr().err
