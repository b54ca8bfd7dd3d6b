"""The agents that can be served, where each keeps its configuration, and what one there says of this server.

The one table of agents: `sidecar init` writes by it, `sidecar doctor` looks by it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sidecar import jsonc

SERVER = "sidecar"
"""The name under which the server is written into a configuration."""
_FOLDER = "${workspaceFolder}"
"""What Cursor and VS Code replace by the open folder; they do not promise to start a server there."""


@dataclass(frozen=True, slots=True)
class Agent:
    """Where one agent keeps its servers: files below the repository and the user's home, and the key they are under.

    ``guide`` is the file of instructions it reads in a repository, ``skills`` the folder of its skills. ``signs`` are
    paths below the repository, ``homes`` paths below the user's home and ``programs`` commands that tell that it is
    used. ``note`` is what its user has to know after the configuration was written.
    """

    name: str
    title: str
    key: str
    project: tuple[str, ...]
    user: tuple[str, ...]
    entry: Mapping[str, Any]
    guide: str = "AGENTS.md"
    skills: str = ".agents/skills"
    signs: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    note: str = ""


def _entry(*arguments: str, **keys: str) -> dict[str, Any]:
    return {**keys, "command": SERVER, "args": ["serve", *arguments]}


AGENTS = (
    Agent(
        "claude",
        "Claude Code",
        "mcpServers",
        (".mcp.json",),
        (".claude.json",),
        _entry(type="stdio"),
        guide="CLAUDE.md",
        skills=".claude/skills",
        signs=(".mcp.json", ".claude", "CLAUDE.md"),
        homes=(".claude", ".claude.json"),
        programs=("claude",),
        note="Claude Code asks once whether the server of .mcp.json may start",
    ),
    Agent(
        "cursor",
        "Cursor",
        "mcpServers",
        (".cursor/mcp.json",),
        (".cursor/mcp.json",),
        _entry("--repo", _FOLDER),
        signs=(".cursor", ".cursorrules"),
        homes=(".cursor",),
        programs=("cursor",),
        note="Cursor lists the server under Settings, MCP: switch it on there",
    ),
    Agent(
        "vscode",
        "VS Code",
        "servers",
        (".vscode/mcp.json",),
        (".config/Code/User/mcp.json", "Library/Application Support/Code/User/mcp.json"),
        _entry("--repo", _FOLDER, type="stdio"),
        signs=(".vscode",),
        homes=(".config/Code", "Library/Application Support/Code"),
        programs=("code",),
        note="VS Code asks whether it trusts the server when it first starts it",
    ),
    Agent(
        "codex",
        "Codex",
        "mcp_servers",
        (".codex/config.toml",),
        (".codex/config.toml",),
        _entry(),
        signs=(".codex",),
        homes=(".codex",),
        programs=("codex",),
        note="Codex reads .codex/config.toml only in a project that it was told to trust",
    ),
    Agent(
        "gemini",
        "Gemini CLI",
        "mcpServers",
        (".gemini/settings.json",),
        (".gemini/settings.json",),
        _entry(),
        guide="GEMINI.md",
        signs=(".gemini", "GEMINI.md"),
        homes=(".gemini",),
        programs=("gemini",),
        note="Gemini CLI reads a project's settings in folders that it was told to trust",
    ),
    Agent(
        "zed",
        "Zed",
        "context_servers",
        (".zed/settings.json",),
        (".config/zed/settings.json",),
        _entry(),
        signs=(".zed",),
        homes=(".config/zed",),
        programs=("zed",),
        note="Zed starts a project's servers once the folder is trusted",
    ),
)
NAMES = tuple(agent.name for agent in AGENTS)


def parse(name: str, text: str) -> Mapping[str, Any]:
    """Return what a configuration file holds, TOML or JSON with comments by its name. Raises `ValueError`."""
    if name.endswith(".toml"):
        try:
            return tomllib.loads(text)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
    data = jsonc.parse(text).value
    if not isinstance(data, dict):
        raise ValueError("it holds no JSON object")  # noqa: TRY004 - a fault of the file, as any other in it
    return data


def read(path: Path) -> Mapping[str, Any]:
    """Return what a configuration file holds. Raises `OSError` or `ValueError`."""
    return parse(path.name, path.read_text(encoding="utf-8"))


def servers(data: Mapping[str, Any], key: str, root: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the servers that are a sidecar, those that an agent keeps for this project's folder among them."""
    projects: Any = data.get("projects", {})
    here: Any = projects.get(str(root)) if isinstance(projects, dict) else None
    for part in (data, here):
        found = part.get(key) if isinstance(part, dict) else None
        for name, server in found.items() if isinstance(found, dict) else ():
            if isinstance(server, dict) and _is_ours(name, server):
                yield name, server


def command(server: Mapping[str, Any]) -> list[str]:
    """Return the words that start a server; Zed's older form holds them one level deeper."""
    first: Any = server.get("command")
    arguments: Any = server.get("args")
    if isinstance(first, dict):
        arguments, first = first.get("args", arguments), first.get("path")
    return [str(first or ""), *(str(word) for word in (arguments if isinstance(arguments, list) else ()))]


def _is_ours(name: str, server: Mapping[str, Any]) -> bool:
    words = command(server)
    return "serve" in words and any(SERVER in word for word in (name, *words))
