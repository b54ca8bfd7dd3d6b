from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from seed.git.repository import open_repository
from sidecar.agents import AGENTS
from sidecar.jsonc import applied, taken_back
from sidecar.setup import find, section, toml

PATH = ("mcp_servers", "sidecar")
ENTRY = {"command": "sidecar", "args": ["serve"]}


@pytest.mark.parametrize(
    "text",
    ["", 'model = "x"', 'model = "x" # mine\n', "[mcp_servers.other]\ncommand = 'x'\n", "a = 1\r\n[b]\r\nc = 2\r\n"],
)
def test_a_table_goes_in_and_out(text: str) -> None:
    """A table is added at the end of a TOML file, and both ways of taking it out restore the file."""
    insertions = toml.insert(text, PATH, ENTRY)
    after = applied(text, insertions)
    assert tomllib.loads(after)["mcp_servers"]["sidecar"] == ENTRY
    assert taken_back(after, insertions) == text
    assert tomllib.loads(toml.cut(after, PATH)) == tomllib.loads(text)
    assert tomllib.loads(toml.cut(f"{after}\n[later]\nx = 1\n", PATH))["later"] == {"x": 1}


@pytest.mark.parametrize(
    "text", ["a = [", "mcp_servers = {}", "mcp_servers = 1", "[mcp_servers.sidecar]\ncommand = 'x'\n"]
)
def test_a_table_without_room_is_refused(text: str) -> None:
    """A file that is no TOML, or that cannot take the table, is refused."""
    with pytest.raises(ValueError, match=r"\w"):
        toml.insert(text, PATH, ENTRY)


@pytest.mark.parametrize("line", ["\n", "\r\n"])
def test_comments_stay_where_a_table_is_cut(line: str) -> None:
    """Comments in and after our table, and those above the next one, are the user's: only our lines go."""
    rows = ["a = 1", "", "[mcp_servers.sidecar] # why", 'command = "sidecar"', "args = [", '  "serve", # how', "]"]
    more = ["# mine\u2028too", "", "# about b", "[b]", "c = 2", ""]
    cut = toml.cut(line.join([*rows, *more]), PATH)
    assert cut == line.join(["a = 1", "# why", "# how", *more])
    other = "[mcp_servers]\nsidecar = {command = 'sidecar'}\n"
    assert toml.cut(other, PATH) == other


@pytest.mark.parametrize("text", ["", "# Mine\n", "# Mine", "# Mine\r\n\r\nText\r\n"])
def test_a_section_goes_in_and_out(text: str) -> None:
    """The section stands at the end, is replaced where it stands, and both ways of taking it out restore the file."""
    insertions = section.insert(text, "Body")
    after = applied(text, insertions)
    assert section.found(after)
    assert taken_back(after, insertions) == text
    assert section.cut(after).rstrip() == text.rstrip()
    more = f"{after}\nMine again\n"
    new = section.updated(more, "New body")
    assert "New body" in new
    assert new.startswith(text)
    assert new.endswith("\nMine again\n")
    with pytest.raises(ValueError, match="half a section"):
        section.insert(f"{text}\n{section.END}\n", "Body")


def test_decisions_are_found_by_what_they_say(repository: Path, commit: Callable[..., str]) -> None:
    """A folder whose documents state a status is offered; a numbered tutorial, or one in another one, is not."""
    page = "# 1. Use oak\n\n## Status\n\nAccepted\n"
    commit(
        {
            "docs/adr/0001-oak.md": page,
            "docs/adr/old/0002-elm.md": page,
            "tools/paint/docs/adr/0001-red.md": page,
            "notes/choices/0001-a.md": page,
            "notes/choices/0002-b.md": page,
            "tutorial/01-start.md": "# Start\n\nHello.\n",
            "tutorial/02-next.md": "# Next\n\nHello.\n",
            "node_modules/x/adr/0001-no.md": page,
            "decisions/README.md": "# Decisions\n\nNone yet.\n",
        }
    )
    found = find.adr_folders(open_repository(repository))
    assert [(one.path, one.report.prefix, len(one.report.records)) for one in found] == [
        ("docs/adr", "adr", 2),
        ("notes/choices", "choices", 2),
        ("tools/paint/docs/adr", "docs-adr", 1),
    ]


def test_what_was_imported_is_not_offered_again(
    repository: Path, commit: Callable[..., str], record_text: Callable[..., str]
) -> None:
    """A folder whose documents are the source of records under another prefix is left alone."""
    source = [{"path": "docs/adr/0001-oak.md"}]
    commit(
        {
            "docs/adr/0001-oak.md": "# 1. Use oak\n\n## Status\n\nAccepted\n",
            "knowledge/wood-1.yaml": record_text("wood-1", source=source),
        }
    )
    assert find.adr_folders(open_repository(repository)) == []


def test_an_agent_is_found_by_its_traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each agent is found by a file of the project, by the user's folder, and by its command; without any, by none."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    root, user = tmp_path / "root", tmp_path / "user"
    (tmp_path / "bin").mkdir()
    root.mkdir()
    assert find.agents(root, user) == []
    (root / ".vscode").mkdir()
    (user / ".gemini").mkdir(parents=True)
    (tmp_path / "bin" / "codex").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "codex").chmod(0o755)
    told = {agent.name: sign for agent, sign in find.agents(root, user)}
    assert told == {"vscode": ".vscode", "codex": "the command codex", "gemini": "~/.gemini"}


def test_every_agent_has_all_that_is_needed() -> None:
    """Each agent of the table has files, a key, signs and a note: what init and doctor go by."""
    for agent in AGENTS:
        assert agent.project
        assert agent.user
        assert agent.key
        assert agent.signs
        assert agent.homes
        assert agent.programs
        assert agent.note
        assert agent.entry["command"] == "sidecar"
