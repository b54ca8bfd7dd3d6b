"""Records as JSON: one document, or one object a line. Pure."""

from __future__ import annotations

import json
from typing import Any

from sidecar.exporters.collect import Export, Item

FORMAT = 1


def document(export: Export) -> dict[str, Any]:
    """Return the whole export as one object; ``record`` of each entry has the keys of its file, as typed."""
    return {
        "format": FORMAT,
        "repository": export.repository,
        "commit": export.commit,
        "day": export.day.isoformat(),
        "statuses": export.statuses,
        "unreadable": list(export.unreadable),
        "candidates_left_out": export.candidates,
        "records": [entry(item) for item in export.items],
    }


def entry(item: Item) -> dict[str, Any]:
    """Return one record: its effective status, its lineage, and the keys of its file."""
    lineage = [{"relation": t.relation, "id": t.id, "status": t.status} for t in item.ties]
    return {
        "format": FORMAT,
        "id": item.record.id,
        "kind": item.record.kind,
        "title": item.record.title,
        "status": item.status,
        "in_force": item.in_force,
        "path": item.path,
        "lineage": lineage,
        "record": item.data,
    }


def text(export: Export) -> str:
    """Return one document, indented so that it can be compared line by line."""
    return json.dumps(document(export), ensure_ascii=False, indent=1) + "\n"


def lines(export: Export) -> str:
    """Return one object a line."""
    return "".join(json.dumps(entry(item), ensure_ascii=False) + "\n" for item in export.items)
