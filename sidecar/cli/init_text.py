"""What `sidecar init` shows: the changes as a diff, what became of them, and the commands that come next. Pure."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sidecar.cli.init_cmd import Run
    from sidecar.setup.find import AdrFolder
    from sidecar.setup.plan import Change


def shown(run: Run, *, remove: bool, colour: bool) -> Iterator[str]:
    """Yield what would change, before anything does."""
    if not remove:
        used = ", ".join(f"{agent.title} ({sign})" for agent, sign in run.agents)
        yield f"Agents: {used or 'none found - name one with --agent'}"
    for one in run.folders:
        yield f"Import {one.path}: {_counted(one)}"
        doubts = sum(len(record.doubts) for record in one.report.records)
        if doubts:
            yield f"  {counted(doubts, 'doubt')} - 'sidecar import adr {one.path} --dry-run' names them"
    for change in run.plan.changes:
        yield f"{_verb(change)} {change.path}: {change.why}"
        yield from _diff(change, colour=colour)
    if run.hooks:
        yield "Hooks: " + ("take ours out; yours are restored" if remove else "keep the store warm; yours keep running")
        yield from (f"    {path}" for path in run.hook_files)
    yield from (f"Left alone: {one.path}: {one.reason} - {one.fix}" for one in run.plan.refused)
    yield from (f"Note: {note}" for note in run.notes)


def _counted(one: AdrFolder) -> str:
    statuses = Counter(str(record.record["status"]) for record in one.report.records)
    told = ", ".join(f"{n} {status}" for status, n in statuses.most_common())
    skipped = counted(len(one.report.skipped), "file")
    return f"{counted(len(one.report.records), 'record')} into {one.report.into}/ ({told}), {skipped} skipped"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _verb(change: Change) -> str:
    if change.before is None:
        return "Create"
    return "Delete" if change.after is None else "Change"


def _diff(change: Change, *, colour: bool) -> Iterator[str]:
    before, after = (change.before or "").splitlines(), (change.after or "").splitlines()
    if change.after is None:  # it is ours from end to end
        return
    for line in list(difflib.unified_diff(before, after, lineterm="", n=2))[2:]:
        code = {"+": "32", "-": "31", "@": "36"}.get(line[:1], "") if colour else ""
        yield f"    \033[{code}m{line}\033[0m" if code else f"    {line}"


def ending(run: Run, *, remove: bool, dry_run: bool, asked: bool, colour: bool) -> Iterator[str]:
    """Yield what was done, the first answer, and what to do next."""
    if run.empty and not run.done:
        yield "Nothing to take out." if remove else "Everything is in place; nothing was changed."
    elif not run.done:
        again = "" if dry_run else " - run it again with --yes" if not asked else " - as you wished"
        yield f"Nothing was changed{again}."
    elif remove:
        yield "Taken out. Nothing was committed; 'git status' shows what changed."
        return
    else:
        yield "Done. Nothing was committed."
        yield from (f"Note: {agent.note}." for agent, _ in run.agents if agent.note)
    if run.trouble:
        yield f"No answer yet: {run.trouble}"
    yield from _answered(run, colour=colour)
    if run.commands:
        yield "Next (records answer once they are committed):"
        yield from (f"  {command}" for command in run.commands)
        if not run.answer:
            yield '  sidecar recall "Where does this repository keep its decisions?"'


def _answered(run: Run, *, colour: bool) -> Iterator[str]:
    from sidecar.render import render

    if run.answer:
        yield f'$ sidecar recall "{run.answer["question"]}" -k 1'
        yield render(run.answer, colour=colour)


def as_data(run: Run, *, remove: bool, dry_run: bool) -> dict[str, Any]:
    """Return the run as JSON data."""
    return {
        "format": 1,
        "remove": remove,
        "dry_run": dry_run,
        "done": run.done,
        "agents": [{"agent": agent.name, "found_by": sign} for agent, sign in run.agents],
        "imports": [
            {
                "folder": one.path,
                "into": one.report.into,
                "records": [record.id for record in one.report.records],
                "doubts": sum(len(record.doubts) for record in one.report.records),
            }
            for one in run.folders
        ],
        "files": [
            {
                "path": change.path,
                "action": _verb(change).lower(),
                "why": change.why,
                "diff": "\n".join(_diff(change, colour=False)),
            }
            for change in run.plan.changes
        ],
        "hooks": run.hooks,
        "hook_files": run.hook_files,
        "refused": [{"path": one.path, "reason": one.reason, "fix": one.fix} for one in run.plan.refused],
        "notes": run.notes,
        "trouble": run.trouble,
        "commands": run.commands,
        "answer": run.answer or None,
    }
