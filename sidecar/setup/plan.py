"""What `sidecar init` would write: each file with its text before and after. Reads, writes nothing."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib import resources
from pathlib import Path

from seed.authoring import next_id, taken, worktree_records
from seed.git.repository import KNOWLEDGE, Repository
from sidecar import agents, jsonc
from sidecar.agents import SERVER, Agent
from sidecar.jsonc import Insertion
from sidecar.setup import section, toml

SKILL = "knowledge-sidecar/SKILL.md"
POLICY = """\
# What this repository decides about its own recall. Every part is optional; 'sidecar schema policy' prints all of them.
# In force once committed.
format: 1
"""
FIRST = """\
id: {ident}
kind: decision
title: This repository keeps its decisions as records under knowledge/
status: accepted
date: {today}
paths: [knowledge/]
body: |
  ## Context

  Why something is as it is gets lost in chats, tickets and heads. People and coding agents then decide it again.

  ## Decision

  Decisions, ADRs, facts and findings are YAML files under `knowledge/`, one each, reviewed by pull request like code.
  `sidecar recall` and the MCP server answer from what is committed. An agent proposes; a person accepts.

  ## Consequences

  A decision that changes gets a new record that names the old one under `supersedes`; the old one is not edited away.
"""


@dataclass(frozen=True, slots=True)
class Change:
    """One file to write. ``before`` is None for a new one, ``after`` None for one to delete.

    ``inserted`` is what was added, where that is the whole difference.
    ``keep`` says that it is the user's from then on: `--remove` leaves it.
    """

    path: str
    why: str
    before: str | None
    after: str | None
    inserted: tuple[Insertion, ...] = ()
    keep: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that is left alone: why, and what can be done by hand."""

    path: str
    reason: str
    fix: str


@dataclass(slots=True)
class Plan:
    """Everything that would change, and what was left alone and why."""

    changes: list[Change] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    present: list[str] = field(default_factory=list)


def plan(repo: Repository, chosen: Sequence[Agent], today: date, written: Mapping[str, str]) -> Plan:
    """Return what is missing: knowledge/, the agents' configuration, their instructions and skill.

    ``written`` holds the sha256 of each file as it was last written here: one that was edited since is left alone.
    """
    found = Plan()
    found.changes += _knowledge(repo, today)
    for agent in chosen:
        _one(repo, found, agent.project[0], f"{agent.title} starts the server", _configured(agent))
    guides = dict.fromkeys(("AGENTS.md", *(agent.guide for agent in chosen)))
    for name in guides:
        if not _same_file(repo.root, name, guides):
            _one(repo, found, name, "agents learn when to ask", _guided)
    for folder in dict.fromkeys(agent.skills for agent in chosen):
        _one(repo, found, f"{folder}/{SKILL}", "a skill: how to ask, cite and propose", _skilled(written))
    return found


def _knowledge(repo: Repository, today: date) -> Iterator[Change]:
    policy = f"{KNOWLEDGE}/policy.yaml"
    if not (repo.root / policy).exists():
        yield Change(policy, "what this repository decides about recall", None, POLICY, keep=True)
    records = worktree_records(repo)
    if not records:
        ident = next_id(taken(records), "", "decision")
        text = FIRST.format(ident=ident, today=today)
        yield Change(f"{KNOWLEDGE}/decisions/{ident}.yaml", "a first record", None, text, keep=True)


def _same_file(root: Path, name: str, others: Sequence[str] | dict[str, None]) -> bool:
    """Tell whether a guide is a link to, or imports, one that gets the section anyway."""
    path = root / name
    if name == "AGENTS.md" or not path.is_file():
        return False
    if any(other != name and (root / other).exists() and path.samefile(root / other) for other in others):
        return True
    return "@AGENTS.md" in path.read_text(encoding="utf-8", errors="replace")


Made = tuple[str, tuple[Insertion, ...]]
"""(text after, insertions); the same text where nothing is to do."""
Maker = Callable[[str, str], Made]
"""From a path and its text to what it becomes. Raises `ValueError` for a text that it refuses."""


def _one(repo: Repository, found: Plan, path: str, why: str, make: Maker) -> None:
    """Add the change of one file to a plan, or why it is left alone; a file under two names is changed once."""
    try:
        target = resolved(repo.root / path)
        other = next((one for one in found.changes if resolved(repo.root / one.path) == target), None)
        before = other.after if other else current(repo, path)
        after, inserted = make(path, before or "")
    except (OSError, ValueError) as exc:
        found.refused.append(Refused(path, reason(exc), "correct it, and run 'sidecar init' again"))
        return
    if other and after != before:
        found.refused.append(Refused(path, f"it is one file with {other.path}", "make it a file of its own"))
    elif after == before:
        found.present.append(path)
    else:
        found.changes.append(Change(path, why, before, after, inserted))


def reason(exc: OSError | ValueError) -> str:
    """Return in a few words why a file is left alone."""
    if isinstance(exc, UnicodeDecodeError):
        return "it is not UTF-8"
    return str(getattr(exc, "strerror", "") or exc)


def current(repo: Repository, path: str) -> str | None:
    """Return a file's text, or None where it can be made. Raises `ValueError` or `OSError` where it cannot.

    That is where it is not UTF-8, lies outside, or is reached through a link that leads nowhere.
    """
    file = repo.root / path
    if not resolved(file).is_relative_to(repo.root):
        raise ValueError("it is reached through a link that leads out of the repository")
    if os.path.lexists(file) and file.exists():
        return file.read_bytes().decode()
    target = resolved(file)
    above = next(folder for folder in target.parents if os.path.lexists(folder))
    if not above.is_dir():
        raise ValueError(f"{above.relative_to(repo.root)} is no folder")
    link = next((one for one in (file, *file.parents) if one.is_symlink() and one.is_relative_to(repo.root)), None)
    if link is not None and not (target.parent if link == file else link).is_dir():
        raise ValueError(f"{link.relative_to(repo.root)} is a link that leads nowhere")
    return None


def resolved(file: Path) -> Path:
    """Return where a file really lies. Raises `ValueError` for a link that leads to itself."""
    try:
        return file.resolve()
    except RuntimeError:  # what Python before 3.13 says of it
        raise ValueError("it is reached through a link that leads to itself") from None


def _configured(agent: Agent) -> Maker:
    def make(path: str, text: str) -> Made:
        data = agents.parse(path, text)
        if any(agents.servers(data, agent.key, Path())):
            return text, ()
        where = (agent.key, SERVER)
        inserted = (toml if path.endswith(".toml") else jsonc).insert(text, where, dict(agent.entry))
        return jsonc.applied(text, inserted), tuple(inserted)

    return make


def _guided(_: str, text: str) -> Made:
    body = shipped("guide.md")
    if section.found(text):
        return section.updated(text, body), ()
    inserted = section.insert(text, body)
    return jsonc.applied(text, inserted), tuple(inserted)


def _skilled(written: Mapping[str, str]) -> Maker:
    def make(path: str, text: str) -> Made:
        edited = text and digest(text) != written.get(path)
        return (text if edited else shipped("skill.md")), ()

    return make


def digest(text: str) -> str:
    """Return the sha256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def shipped(name: str) -> str:
    """Return a text of sidecar/data."""
    return resources.files("sidecar").joinpath("data", name).read_text(encoding="utf-8")
