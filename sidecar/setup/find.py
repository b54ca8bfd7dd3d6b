"""What is there to set up: the agents that are used here, and folders that hold decision records."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from seed.authoring import worktree_records
from seed.errors import SidecarError
from seed.git.repository import KNOWLEDGE, Repository
from seed.importers import adr, naming
from seed.importers.files import IGNORED
from seed.importers.model import ImportReport
from sidecar.agents import AGENTS, Agent

MOST_FOLDERS = 20_000
"""A tree with more folders is looked at no further: the folders that hold decisions lie near its top."""
_NAMED = re.compile(r"(?i)^(adrs?|decisions?|decision[-_ ]?(records?|logs?)|architecture[-_]decision.*|rfcs?|keps?)$")
_NUMBERED = re.compile(r"(?i)^(adr|rfc|pep|dr)?[-_ ]?\d{2,8}[-_ .].*\.(md|markdown|mdx|rst)$")
_ENOUGH = 2


@dataclass(frozen=True, slots=True)
class AdrFolder:
    """A folder of decision records that an import would read; ``path`` is relative to the repository."""

    path: str
    report: ImportReport


def agents(root: Path, user: Path) -> list[tuple[Agent, str]]:
    """Return the agents that are used in a repository or by a user, each with what tells so."""
    found = []
    for agent in AGENTS:
        signs = [name for name in agent.signs if os.path.lexists(root / name)]
        signs += [f"~/{name}" for name in agent.homes if os.path.lexists(user / name)]
        signs += [f"the command {name}" for name in agent.programs if shutil.which(name)]
        if signs:
            found.append((agent, signs[0]))
    return found


def adr_folders(repo: Repository) -> list[AdrFolder]:
    """Return the folders with decision records that are not taken over yet, in order of path, with what they hold."""
    found: list[AdrFolder] = []
    taken: set[str] = set()
    sources = _sources(repo)
    for folder in _outermost(_candidates(repo.root)):
        path = folder.relative_to(repo.root).as_posix()
        try:
            report = adr.read_folder(folder, prefix=_prefix(folder, repo.root, taken))
        except SidecarError:
            continue
        if any(record.record["status"] != "unknown" for record in report.records):
            taken.add(report.prefix)
            if _is_new(report, repo.root, sources):
                found.append(AdrFolder(path, report))
    return found


def _sources(repo: Repository) -> dict[str, str]:
    """Return document -> id of the record that was learnt from it."""
    records = [record for _, _, record in worktree_records(repo) if record is not None]
    return {str(one.get("path", "")): record.id for record in records for one in record.source}


def _is_new(report: ImportReport, root: Path, sources: dict[str, str]) -> bool:
    """Tell whether an import would add something; documents imported under other ids are not imported twice."""
    for record in report.records:
        known = sources.get(record.record["source"][0]["path"])  # type: ignore[index]
        if known is not None and known != record.id:
            return False
    written = adr.write(report, root, dry_run=True)
    return bool(written.created or written.updated)


def _candidates(root: Path) -> Iterator[Path]:
    """Yield the folders that a name, or several numbered documents, make look like a folder of records."""
    seen = 0
    for here, folders, names in os.walk(root, onerror=lambda _: None):
        folders[:] = sorted(n for n in folders if not n.startswith(".") and n not in IGNORED)
        folders[:] = [name for name in folders if not os.path.lexists(Path(here, name, ".git"))]
        seen += 1
        if seen > MOST_FOLDERS:
            return
        if Path(here) == root:
            folders[:] = [name for name in folders if name != KNOWLEDGE]
            continue
        if _NAMED.match(Path(here).name) or sum(bool(_NUMBERED.match(name)) for name in names) >= _ENOUGH:
            yield Path(here)


def _outermost(folders: Iterator[Path]) -> list[Path]:
    """Return the folders that lie in no other one of them, in order of path."""
    kept: list[Path] = []
    for folder in sorted(folders):
        if not any(folder.is_relative_to(one) for one in kept):
            kept.append(folder)
    return kept


def _prefix(folder: Path, root: Path, taken: set[str]) -> str:
    """Return what ids of a folder begin with: its name, with its parents' before it where that is taken."""
    parts = folder.relative_to(root).parts
    names = (naming.clean("-".join(parts[-length:])) for length in range(1, len(parts) + 1))
    return next((name for name in names if name not in taken), "")
