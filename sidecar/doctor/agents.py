"""Checks of agents' MCP configurations: which of them start this server, and whether for this repository."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sidecar import agents
from sidecar.doctor.patient import Patient
from sidecar.doctor.table import Check, Said


def agent(which: agents.Agent, patient: Patient) -> Iterator[Said]:
    """Tell which configurations of an agent start a sidecar, and whether that one would serve this repository."""
    files = [patient.git.root / name for name in which.project] + [patient.user / name for name in which.user]
    present = [path for path in files if path.is_file()]
    said = False
    for path in present:
        try:
            data = agents.read(path)
        except (OSError, ValueError) as exc:
            yield "warning", f"{path} cannot be read: {exc}", f"correct {path}"
            said = True
            continue
        for name, server in agents.servers(data, which.key, patient.git.root):
            yield _told(path, name, server, patient.git.root)
            said = True
    if not said:
        where = ", ".join(map(str, present))
        text = f"no sidecar in {where}" if present else "no configuration found"
        yield ("info" if present else "ok"), text, f"sidecar init --agent {which.name}" if present else ""


def _told(path: Path, name: str, server: Mapping[str, Any], root: Path) -> Said:
    """Say what one entry would do; its arguments and environment are never shown, they may hold a secret."""
    command, *arguments = agents.command(server)
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
    looks: list[tuple[str, Callable[[Patient], Iterator[Said]]]] = [(a.name, partial(agent, a)) for a in agents.AGENTS]
    return tuple(Check(f"agent-{name}", look) for name, look in looks)
