"""Records as Markdown for a repository's documentation, decisions in the form of MADR 4. Pure."""

from __future__ import annotations

from sidecar.exporters.collect import Export, Item, counted
from sidecar.exporters.page import ENDING, Look, escaped, page


def files(export: Export) -> dict[str, str]:
    """Return path -> text of every page, with a README that lists them by status."""
    found = {item.name + ENDING: page(item, look(item)) for item in export.items}
    return {**found, "README.md": readme(export)}


def look(item: Item) -> Look:
    """Return how a record's page looks: status first, as MADR words it."""
    decided = item.record.kind in ("decision", "adr")
    return Look({"status": status(item)}, madr=decided)


def status(item: Item) -> str:
    """Return the effective status as MADR words it: "superseded by decision-0054"."""
    successors = [tie.id for tie in item.tied("superseded_by")] if item.status == "superseded" else []
    return f"superseded by {', '.join(successors)}" if successors else item.status


def readme(export: Export) -> str:
    """Return the list of all pages: those in force first."""
    from urllib.parse import quote

    lines = [f"# Records of {escaped(export.repository)}", ""]
    lines += [
        f"{counted(export.statuses)}, at commit {export.commit[:12]}. Exported from YAML; edit the records there."
    ]
    for name, here in (("In force", True), ("Not in force", False)):
        rows = [item for item in export.items if item.in_force is here]
        lines += ["", f"## {name}", ""] if rows else []
        for item in rows:
            text = escaped(f"{item.record.id}: {item.record.title}")
            lines.append(f"* [{text}]({quote(item.name + ENDING)}) ({item.record.kind}, {escaped(status(item))})")
    return "\n".join(lines) + "\n"
