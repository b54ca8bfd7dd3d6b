"""Checks of agents' MCP configurations: which of them start this server, and whether for this repository."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sidecar.doctor.patient import Patient
from sidecar.doctor.table import Check, Said

_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')


@dataclass(frozen=True, slots=True)
class Agent:
    """Where one agent keeps its servers: files below the repository and the user's home, and the key they are under."""

    name: str
    key: str
    project: tuple[str, ...]
    user: tuple[str, ...]


AGENTS = (
    Agent("claude", "mcpServers", (".mcp.json",), (".claude.json",)),
    Agent("cursor", "mcpServers", (".cursor/mcp.json",), (".cursor/mcp.json",)),
    Agent("vscode", "servers", (".vscode/mcp.json",), (".config/Code/User/mcp.json",)),
    Agent("codex", "mcp_servers", (".codex/config.toml",), (".codex/config.toml",)),
    Agent("gemini", "mcpServers", (".gemini/settings.json",), (".gemini/settings.json",)),
    Agent("zed", "context_servers", (".zed/settings.json",), (".config/zed/settings.json",)),
)


def agent(which: Agent, patient: Patient) -> Iterator[Said]:
    """Tell which configurations of an agent start a sidecar, and whether that one would serve this repository."""
    files = [patient.git.root / name for name in which.project] + [patient.user / name for name in which.user]
    present = [path for path in files if path.is_file()]
    said = False
    for path in present:
        try:
            data = _read(path)
        except (OSError, ValueError) as exc:
            yield "warning", f"{path} cannot be read: {exc}", f"correct {path}"
            said = True
            continue
        for name, server in _servers(data, which.key, patient.git.root):
            yield _told(path, name, server, patient.git.root)
            said = True
    if not said:
        where = ", ".join(map(str, present))
        text = f"no sidecar in {where}" if present else "no configuration found"
        yield ("info" if present else "ok"), text, f"sidecar init --agent {which.name}" if present else ""


def _read(path: Path) -> Mapping[str, Any]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".toml":
        return tomllib.loads(text)
    for pattern in (_COMMENT, _TRAILING):  # editors allow comments and a last comma
        text = pattern.sub(lambda match: match[1] or "", text)
    data = json.loads(text)
    return data if isinstance(data, dict) else {}


def _servers(data: Mapping[str, Any], key: str, root: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the servers that are a sidecar, those that an agent keeps for this project's folder among them."""
    projects: Any = data.get("projects", {})
    here: Any = projects.get(str(root)) if isinstance(projects, dict) else None
    for part in (data, here):
        found = part.get(key) if isinstance(part, dict) else None
        for name, server in found.items() if isinstance(found, dict) else ():
            if isinstance(server, dict) and _is_ours(name, server):
                yield name, server


def _command(server: Mapping[str, Any]) -> list[str]:
    command: Any = server.get("command")
    arguments: Any = server.get("args")
    if isinstance(command, dict):  # Zed: {"path": ..., "args": [...]}
        arguments, command = command.get("args", arguments), command.get("path")
    return [str(command or ""), *(str(word) for word in (arguments if isinstance(arguments, list) else ()))]


def _is_ours(name: str, server: Mapping[str, Any]) -> bool:
    words = _command(server)
    return "serve" in words and any("sidecar" in word for word in (name, *words))


def _told(path: Path, name: str, server: Mapping[str, Any], root: Path) -> Said:
    """Say what one entry would do; its arguments and environment are never shown, they may hold a secret."""
    command, *arguments = _command(server)
    if shutil.which(command) is None:
        return "warning", f"{path}: {name} starts {command}, which is not there", "sidecar init, or correct the command"
    at = arguments.index("--repo") + 1 if "--repo" in arguments else len(arguments)
    if at < len(arguments) and (asked := Path(arguments[at]).expanduser()).is_absolute():
        if not asked.exists():
            return "warning", f"{path}: {name} serves {asked}, which is not there", f"correct --repo in {path}"
        if not asked.resolve().is_relative_to(root):
            return "info", f"{path}: {name} serves {asked}, not this repository", ""
    return "ok", f"{path}: {name} starts {command} for this repository", ""


def checks() -> tuple[Check, ...]:
    """Return one check for each agent."""
    looks: list[tuple[str, Callable[[Patient], Iterator[Said]]]] = [(a.name, partial(agent, a)) for a in AGENTS]
    return tuple(Check(f"agent-{name}", look) for name, look in looks)
