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
    """With --dry-run, or without a terminal and without --yes (exit code 1), it shows all and changes nothing."""
    before, before_hooks = files(project), hooks(project)
    assert main(["init", "--agent", "claude", *arguments, "--repo", str(project)]) == (0 if arguments else 1)
    shown = capsys.readouterr().out
    assert '+  "mcpServers": {' in shown
    assert "Import docs/adr: 1 record" in shown
    assert "+title: This repository keeps its decisions" in shown
    assert "+name: knowledge-sidecar" in shown
    assert ".git/hooks/post-commit" in shown
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


def test_remove_asks_or_fails_too(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal and without --yes nothing is taken out, with exit code 1; with nothing to take out it is 0."""
    assert main(["init", "--remove", "--repo", str(project)]) == 0
    capsys.readouterr()
    run(capsys, project, "--agent", "claude", "--yes")
    before = files(project)
    run(capsys, project, "--remove", code=1)
    assert main(["init", "--remove", "--repo", str(project)]) == 1
    assert ".git/hooks/post-commit" in capsys.readouterr().out
    assert main(["init", "--remove", "--dry-run", "--repo", str(project)]) == 0
    assert files(project) == before


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".mcp.json", '{"mcpServers": null}'),
        (".mcp.json", '{"mcpServers": []}'),
        (".mcp.json", '{"mcpServers": {"sidecar": null}}'),
        (".mcp.json", "[]"),
        (".mcp.json", "null"),
        (".codex/config.toml", 'mcp_servers = "x"'),
        (".codex/config.toml", "[[mcp_servers]]\n"),
        (".codex/config.toml", "[[mcp_servers.sidecar]]\n"),
        (".codex/config.toml", f"x = {'[' * 100_000}"),
    ],
)
def test_remove_leaves_odd_configurations(
    project: Path, capsys: pytest.CaptureFixture[str], path: str, text: str
) -> None:
    """A configuration that holds something else where servers stand is left alone, set up here or not."""
    (project / path).parent.mkdir(exist_ok=True)
    (project / path).write_text(text)
    assert run(capsys, project, "--remove", "--yes")["files"] == []
    run(capsys, project, "--agent", "claude", "--agent", "codex", "--yes", code=1)
    run(capsys, project, "--remove", "--yes")
    assert (project / path).read_text() == text


def test_remove_leaves_what_was_there_before(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A user's own entry that equals ours is not noted and stays, also when it is taken out a second time."""
    own = {
        ".mcp.json": '{"mcpServers": {"sidecar": {"type": "stdio", "command": "sidecar", "args": ["serve"]}}}\n',
        ".codex/config.toml": '[mcp_servers.sidecar]\ncommand = "sidecar"\nargs = ["serve"]\n',
    }
    (project / ".codex").mkdir()
    for path, text in own.items():
        (project / path).write_text(text)
    before = files(project)
    run(capsys, project, "--agent", "claude", "--agent", "codex", "--yes")
    told = run(capsys, project, "--remove", "--yes")
    assert ".mcp.json, .codex/config.toml" in told["notes"][1]
    assert run(capsys, project, "--remove", "--yes")["files"] == []
    assert {path: data for path, data in files(project).items() if not path.startswith("knowledge/")} == {
        path: data for path, data in before.items() if not path.startswith("knowledge/")
    }


def test_remove_leaves_lines_that_were_added_to_our_entry(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A key that was added to our table does not fall to another table, and a comment after it stays."""
    config = project / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text("[tui]\nx = 1\n")
    run(capsys, project, "--agent", "codex", "--yes")
    ours = config.read_text()
    config.write_text(f"{ours}startup_timeout_sec = 20\n")
    assert ".codex/config.toml" in run(capsys, project, "--remove", "--yes")["notes"][1]
    assert config.read_text() == f"{ours}startup_timeout_sec = 20\n"
    config.write_text(f"{ours}# mine\n\n# about y\n[y]\nz = 1\n")
    run(capsys, project, "--remove", "--yes")
    assert config.read_text() == "[tui]\nx = 1\n# mine\n\n# about y\n[y]\nz = 1\n"


@pytest.mark.parametrize("guide", [None, "x", "x\n"])
@pytest.mark.parametrize("link", [("CLAUDE.md", "AGENTS.md"), ("AGENTS.md", "CLAUDE.md")])
def test_a_link_stays_and_its_file_is_restored(
    project: Path, commit: Commit, capsys: pytest.CaptureFixture[str], guide: str | None, link: tuple[str, str]
) -> None:
    """A guide that is a link to the other one, dangling or not, is a link afterwards; the text is the one before."""
    name, target = link
    (project / "AGENTS.md").unlink()
    (project / name).symlink_to(target)
    if guide is not None:
        (project / target).write_text(guide)
    commit({}, "Link")
    done = run(capsys, project, "--agent", "claude", "--yes")
    assert [one["path"] for one in done["files"] if one["path"].endswith("S.md")] == ["AGENTS.md"]
    assert (project / target).read_text().count("sidecar: begin") == 1
    assert f" {target}" in done["commands"][0]
    run(capsys, project, "--remove", "--yes")
    assert (project / name).is_symlink()
    assert ((project / target).read_text() if (project / target).exists() else None) == guide


def test_a_link_stays_in_a_fresh_clone(
    project: Path, commit: Commit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a note, too, a committed link to a guide is not deleted with the text that it leads to."""
    (project / "AGENTS.md").unlink()
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    run(capsys, project, "--agent", "claude", "--yes")
    commit({}, "Set up")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(project), str(clone)], check=True)
    run(capsys, clone, "--remove", "--yes")
    assert (clone / "CLAUDE.md").is_symlink()
    assert not (clone / "AGENTS.md").exists()


@pytest.mark.parametrize("kind", ["link", "loop", "file", "file link"])
def test_a_folder_that_cannot_be_made_is_left_alone(
    project: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    """Where a configuration's folder is a dangling link, a loop or a file, it is left alone and the rest goes on."""
    folder = project / ".gemini"
    if kind == "file":
        folder.write_text("mine")
    elif kind == "file link":
        folder.mkdir()
        (folder / "settings.json").symlink_to("nowhere/settings.json")
    else:
        folder.symlink_to("nowhere" if kind == "link" else ".gemini")
    done = run(capsys, project, "--agent", "gemini", "--agent", "zed", "--yes", code=1)
    assert [one["path"] for one in done["refused"]] == [".gemini/settings.json"]
    assert done["done"]
    assert (project / ".zed" / "settings.json").is_file()
    assert (project / "GEMINI.md").is_file()
    run(capsys, project, "--remove", "--yes")
    assert not (project / "GEMINI.md").exists()


def test_one_configuration_under_two_names_is_written_once(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where one agent's file is a link to another's, it is changed once, and what it cannot hold as well is told."""
    for folder in (".cursor", ".vscode"):
        (project / folder).mkdir()
        (project / folder / "mcp.json").symlink_to("../.mcp.json")
    before = files(project)
    done = run(capsys, project, "--agent", "claude", "--agent", "cursor", "--agent", "vscode", "--yes", code=1)
    assert [one["path"] for one in done["refused"]] == [".vscode/mcp.json"]
    assert list(json.loads((project / ".mcp.json").read_text())) == ["mcpServers"]
    run(capsys, project, "--remove", "--yes")
    assert {path for path in files(project) if not path.startswith("knowledge/")} == {
        path for path in before if not path.startswith("knowledge/")
    }
    assert (project / ".cursor" / "mcp.json").is_symlink()
