"""What a record or a file is joined with: a drawing, and the same as tables."""

from __future__ import annotations

from collections import Counter
from typing import Any
from urllib.parse import urlencode

from seed.graph import BY_DEFAULT, TYPES
from sidecar.web.given import Given
from sidecar.web.html import record_path
from sidecar.web.reader import Look, Page, Reader

_DEPTHS = 3
_SUGGESTED = 10


def page(reader: Reader, given: Given) -> Page:
    """Return the graph around what was asked for, or places to begin. Raises `SidecarError` for what is not in it."""
    look, about = reader.look(), given["about"]
    if not about:
        return Page("graph_start.html", "Graph", {"given": given, **_suggestions(look)})
    types = [name for name in TYPES if given[f"type-{name}"]]
    depth = given.number("depth", 1, _DEPTHS)
    found = reader.graph().walk(about, types, depth)
    nodes = {f"{one['kind']}:{one['id']}": _node(look, one, depth) for one in found["nodes"]}
    edges = [{**edge, "source": nodes.get(edge["from"]), "target": nodes.get(edge["to"])} for edge in found["edges"]]
    counts = Counter(edge["type"] for edge in edges)
    return Page("graph.html", f"Graph around {found['about'].partition(':')[2]}", {
        "given": given,
        "about": nodes[found["about"]],
        "depth": depth,
        "depths": range(1, _DEPTHS + 1),
        "nodes": list(nodes.values()),
        "edges": [edge for edge in edges if edge["source"] and edge["target"]],
        "types": [{"name": name, "count": counts[name], "on": name in found["types"]}
                  for name in TYPES if counts[name] or (name in BY_DEFAULT and name not in found["types"])],
        "left_out": found["left_out"],
    })  # fmt: skip


def _node(look: Look, one: dict[str, Any], depth: int) -> dict[str, Any]:
    """Return a node with its key, and the address of the graph around it."""
    url = "/graph?" + urlencode({"about": one["id"], "depth": depth})
    page = f"/record/{record_path(one['id'])}" if one["kind"] == "record" and look.link(one["id"]) else ""
    return {"title": "", "status": "", **one, "key": f"{one['kind']}:{one['id']}", "url": url, "page": page}


def _suggestions(look: Look) -> dict[str, Any]:
    """Return the records with the most relations and files, and the files that the most records speak of."""
    joined = sorted((one for one in look.told.values() if one.links), key=lambda one: (-one.links, one.id))
    files = Counter(path for one in look.told.values() for path in one.paths)
    return {
        "records": joined[:_SUGGESTED],
        "files": files.most_common(_SUGGESTED),
    }
