"""`sidecar init`: set a repository up, or take exactly that out again. It commits nothing."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seed.errors import SidecarError
from sidecar.agents import AGENTS, NAMES, SERVER
from sidecar.cli.common import Progress, examples, in_colour, json_option, print_json, provider, repo_option, say

if TYPE_CHECKING:
    from seed.git.repository import Repository
    from sidecar.agents import Agent
    from sidecar.setup.apply import Note
    from sidecar.setup.find import AdrFolder
    from sidecar.setup.plan import Plan

_INSTALL = "'pipx install knowledge-sidecar' or 'uv tool install knowledge-sidecar'"


@dataclass(slots=True)
class Run:
    """One run: what was found and planned, and what became of it."""

    agents: list[tuple[Agent, str]]
    plan: Plan
    folders: list[AdrFolder] = field(default_factory=list)
    hooks: bool = False
    """Whether hooks are to be put in, or with --remove to be taken out."""
    hook_files: list[str] = field(default_factory=list)
    """The files that this puts in or takes out."""
    notes: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    done: bool = False
    answer: dict[str, Any] = field(default_factory=dict)
    trouble: str = ""
    """Why there is no first answer although everything was written."""

    @property
    def empty(self) -> bool:
        """Tell whether there is nothing to do."""
        return not (self.plan.changes or self.folders or self.hooks)


@click.command(
    epilog=examples(
        "sidecar init",
        "sidecar init --dry-run",
        "sidecar init --agent claude --agent codex --yes",
        "sidecar init --remove",
    )
)
@click.option(
    "--agent", "named", multiple=True, type=click.Choice(NAMES), help="Configure this agent (may be repeated)."
)
@click.option("--yes", is_flag=True, help="Ask no questions.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--remove", is_flag=True, help="Take out what init wrote; knowledge/ stays.")
@json_option
@repo_option
def init(named: tuple[str, ...], yes: bool, dry_run: bool, remove: bool, as_json: bool, repo: str) -> int:
    """Set a repository up: knowledge/, ADRs taken over, hooks and agents' configuration.

    Shows every change and asks before it writes. It commits nothing: it prints the git commands, and a question to ask
    after them, since records answer once they are committed. Run again after the commit it changes nothing and asks
    for the newest record. Without a terminal and without --yes it only shows, and exits with 1 if something is to do.

    --remove takes out what init wrote in this clone, but leaves knowledge/: records and imports are yours.
    """
    from seed.git.repository import open_repository
    from sidecar.setup.apply import read_note

    opened = open_repository(Path(repo))
    if opened.bare:
        raise SidecarError(f"{opened.name} is bare: it has no working tree to set up", "run this in a clone")
    note = read_note(opened)
    asks = not (yes or dry_run or as_json) and sys.stdin.isatty() and sys.stdout.isatty()
    run = _removal(opened, note) if remove else _set_up(opened, note, named)
    if not as_json:
        from sidecar.cli.init_text import shown

        print("\n".join(shown(run, remove=remove, colour=in_colour())))
    if not run.empty and not dry_run and (yes or (asks and _agreed(run, remove=remove))):
        _take_out(opened, note, run) if remove else _write(opened, note, run)
        run.done = True
    if not remove and not dry_run and (run.done or run.empty):
        _first_question(opened, note, run, repo, quiet=as_json)
    _report(run, as_json=as_json, remove=remove, dry_run=dry_run, asked=asks)
    unasked = not (run.empty or run.done or dry_run or asks)  # a script must not take that for done
    return 1 if run.plan.refused or run.trouble or unasked else 0


def _set_up(repo: Repository, note: Note, named: tuple[str, ...]) -> Run:
    from sidecar.setup import find
    from sidecar.setup.plan import plan

    found = find.agents(repo.root, Path.home())
    if named:
        found = [(agent, "named") for agent in AGENTS if agent.name in named]
    today = datetime.now(UTC).date()
    run = Run(found, plan(repo, [agent for agent, _ in found], today, note.written), find.adr_folders(repo))
    run.hook_files = _hooks_missing(repo, run)
    run.hooks = bool(run.hook_files)
    if found and shutil.which(SERVER) is None:
        run.notes.append(f"agents start the command {SERVER!r}, which is not on your PATH - {_INSTALL} puts it there")
    return run


def _hooks_missing(repo: Repository, run: Run) -> list[str]:
    from sidecar.hooks.status import status

    found = status(repo)
    if found.folder.off:
        run.notes.append(f"hooks are left out: {found.folder.off}")
        return []
    missing = [hook.path for hook in found.hooks if hook.fires not in {"ours", "both"}]
    return _named(repo, missing, found.folder.path)


def _named(repo: Repository, hooks: list[str], folder: Path) -> list[str]:
    """Return the paths of hooks with the file that they share, below the repository where they are."""
    from sidecar.hooks import SCRIPT

    paths = [*map(Path, hooks), folder / SCRIPT] if hooks else []
    return [(one.relative_to(repo.root) if one.is_relative_to(repo.root) else one).as_posix() for one in paths]


def _removal(repo: Repository, note: Note) -> Run:
    from sidecar.setup.apply import plan_removal

    run = Run([], plan_removal(repo, note), hooks=note.hooks)
    if note.hooks:
        from sidecar.hooks.status import status

        found = status(repo)
        ours = [hook.path for hook in found.hooks if hook.fires in {"ours", "both"}]
        run.hook_files = _named(repo, ours, found.folder.path)
    run.notes.append("knowledge/ stays: its records are yours")
    if run.plan.present:
        run.notes.append(f"these stay, they are not as init wrote them: {', '.join(run.plan.present)}")
    return run


def _agreed(run: Run, *, remove: bool) -> bool:
    if remove:
        return click.confirm("Take this out?", default=True)
    run.folders = [one for one in run.folders if click.confirm(_import_question(one), default=True)]
    return run.empty or click.confirm("Write this?", default=True)


def _import_question(one: AdrFolder) -> str:
    from sidecar.cli.init_text import counted

    return f"Import {counted(len(one.report.records), 'record')} from {one.path}?"


def _write(repo: Repository, note: Note, run: Run) -> None:
    from seed.importers import adr
    from sidecar.setup.apply import write, write_note

    write(repo, run.plan.changes, note)
    for folder in run.folders:
        adr.write(folder.report, repo.root)
    if run.hooks:
        from sidecar.hooks.install import install

        try:
            install(repo)
            note.hooks = True
            write_note(repo, note)
        except SidecarError as exc:  # everything else is there, and works without hooks
            run.notes.append(f"hooks are not installed: {exc}")


def _take_out(repo: Repository, note: Note, run: Run) -> None:
    from sidecar.setup.apply import remove

    if note.hooks:
        from sidecar.hooks.install import uninstall

        uninstall(repo)
        note.hooks = False
    remove(repo, run.plan, note)


def _first_question(repo: Repository, note: Note, run: Run, folder: str, *, quiet: bool) -> None:
    """Seed what is committed and ask for its newest record; where nothing is, say what to commit."""
    from sidecar.query import Query
    from sidecar.setup.apply import to_commit

    run.commands = to_commit(repo, note)
    progress = Progress(quiet=quiet)
    try:
        with provider(folder) as opened:
            seeded = opened.seed(progress=progress)
            newest = opened.recall(Query(limit=1, listing=True))["results"] if seeded["records"] else []
            if newest:
                run.answer = {"question": newest[0]["title"]}
                run.answer |= opened.recall(Query(newest[0]["title"], limit=1), detail="full", progress=progress)
    except SidecarError as exc:  # what was written stands
        run.trouble = str(exc)
    progress.close()


def _report(run: Run, *, as_json: bool, remove: bool, dry_run: bool, asked: bool) -> None:
    from sidecar.cli.init_text import as_data, ending

    if as_json:
        print_json(as_data(run, remove=remove, dry_run=dry_run))
    else:
        for line in ending(run, remove=remove, dry_run=dry_run, asked=asked, colour=in_colour()):
            print(line) if line.startswith("  ") else say(line)  # a command is copied whole
