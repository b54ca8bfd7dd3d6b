"""Records as a bundle in the Open Knowledge Format, version 0.2: pages, index.md and log.md in every folder. Pure.

https://github.com/GoogleCloudPlatform/knowledge-catalog/blob/main/okf/SPEC.md
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import date, timedelta
from urllib.parse import quote

from seed.edit import write as yaml_text
from seed.record import parse_day
from sidecar.exporters.collect import Export, Item, folders
from sidecar.exporters.page import ENDING, Look, escaped, page
from sidecar.quote import one_line

VERSION = "0.2"
TYPES = {
    "decision": "Decision",
    "adr": "Architecture Decision Record",
    "fact": "Fact",
    "finding": "Finding",
    "history": "History",
}
LIFECYCLE = {
    "accepted": "stable",
    "verified": "stable",
    "unverified": "stable",
    "proposed": "draft",
    "candidate": "draft",
    "unknown": "draft",
}
"""OKF's word for an effective status; every other one is "deprecated": kept for links, no longer current."""
_LINE = re.compile(r"^\s*(?:#|[-*+>|]|```|\d+[.)]\s)")


def files(export: Export) -> dict[str, str]:
    """Return path -> text of the whole bundle."""
    found = {item.name + ENDING: page(item, look(item)) for item in export.items}
    for folder in folders(item.name for item in export.items):
        found[posixpath.join(folder, "index.md")] = index(export, folder)
    return {**found, "log.md": log(export)}


def look(item: Item) -> Look:
    """Return how a concept looks: OKF's keys in front, the record's own below ``sidecar``."""
    record = item.record
    front: dict[str, object] = {"type": TYPES[record.kind], "title": one_line(record.title, 300)}
    front |= {"description": description(item)}
    front |= {"tags": [one_line(tag, 80) for tag in record.tags]} if record.tags else {}
    front |= {"status": "stable" if item.in_force else _lifecycle(item)}
    if day := parse_day(record.valid_until):
        front["stale_after"] = _after(day)
    if agent := record.proposed_by.get("agent"):
        made = parse_day(record.date)
        at = {"at": f"{made.isoformat()}T00:00:00Z"} if made else {}
        front["generated"] = {"by": f"{one_line(agent, 80)}/unversioned", **at}
    if sources := [resource for source in record.source if (resource := _resource(source))]:
        front["sources"] = [{"resource": resource} for resource in sources]
    return Look(front, nested=True, root=True)


def _lifecycle(item: Item) -> str:
    word = LIFECYCLE.get(item.status, "deprecated")
    return "deprecated" if word == "stable" else word  # history, whatever its status, is not current


def _after(last: date) -> str:
    """``valid_until`` is the last good day, OKF's the first stale one."""
    return (last + timedelta(days=1)).isoformat() if last < date.max else last.isoformat()


def _resource(source: dict[str, str]) -> str:
    """Name a source; a path of the repository is a description, since OKF reads paths as the bundle's own."""
    if url := source.get("url"):
        return one_line(url, 500)
    kinds = {"path": "file {} of the repository", "commit": "commit {}", "transcript": "session {}"}
    return next((one_line(form.format(source[k]), 500) for k, form in kinds.items() if source.get(k)), "")


def description(item: Item) -> str:
    """Return one sentence: the status first where the record is not in force, then how its text begins."""
    lines = [line.strip() for line in item.record.body.split("\n") if line.strip() and not _LINE.match(line)]
    text = re.split(r"(?<=[.!?])\s", one_line(" ".join(lines[:3])))[0] if lines else one_line(item.record.title)
    state = "" if item.in_force else f"({item.status}) "
    return one_line(state + text, 200)


def index(export: Export, folder: str) -> str:
    """Return a folder's listing: what is in force, what is not, and the folders below."""
    here = [item for item in export.items if posixpath.dirname(item.name) == folder]
    below = {
        name: 0 for name in folders(item.name for item in export.items) if name and posixpath.dirname(name) == folder
    }
    for item in export.items:
        for name in below:
            below[name] += item.name.startswith(f"{name}/")
    front = yaml_text({"okf_version": VERSION}) if not folder else ""
    lines = ["---", front.rstrip("\n"), "---", ""] if front else []
    for name, state in (("In force", True), ("Not in force", False)):
        rows = [_row(item) for item in here if item.in_force is state]
        lines += [f"# {name}", "", *rows, ""] if rows else []
    rows = [f"* [{escaped(posixpath.basename(name))}]({quote(posixpath.basename(name))}/) - {count} records"
            for name, count in below.items()]  # fmt: skip
    lines += ["# Folders", "", *rows, ""] if rows else []
    return "\n".join(lines) if lines and (here or below) else "\n".join([*lines, "# Records", "", "None.", ""])


def _row(item: Item) -> str:
    target = quote(posixpath.basename(item.name) + ENDING)
    return f"* [{escaped(item.record.title)}]({target}) - {escaped(description(item), 220)}"


def log(export: Export) -> str:
    """Return the history of the bundle by the records' dates, the newest day first; undated ones are left out."""
    days: dict[str, list[str]] = defaultdict(list)
    for item in export.items:
        if day := parse_day(item.record.date):
            days[day.isoformat()] += _events(item)
    lines = ["# Log", ""]
    for written in sorted(days, reverse=True):
        lines += [f"## {written}", "", *days[written], ""]
    return "\n".join(lines)


def _events(item: Item) -> Iterator[str]:
    target = quote(f"/{item.name}{ENDING}")
    yield f"* **Creation**: [{escaped(item.record.title)}]({target}), now {item.status}."
    for tie in item.tied("supersedes", "refutes"):
        if tie.status in ("superseded", "refuted"):
            yield f"* **Deprecation**: {escaped(tie.id)}, {tie.status} by [{escaped(item.record.id)}]({target})."
