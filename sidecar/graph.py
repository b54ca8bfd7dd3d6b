"""Walk the graph of records, turns, paths and commits. NetworkX is loaded at the first walk.

Records come through the one door; a session's edges are worked out once and kept in the disposable folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC
from functools import cached_property
from typing import Any

import zstandard

from seed import graph as build
from seed.errors import SidecarError
from seed.git.repository import inside, stands
from seed.git.tree import UnreadableBlobError, read_blob
from seed.graph import BY_DEFAULT, TYPES, Edge, Filed, Line
from seed.transcript import edges as turn_edges
from seed.transcript import files
from seed.transcript.reader import Reader
from seed.yamltext import YamlFaultError, parse
from sidecar.history import Document, History, completeness, open_history
from sidecar.mentions import in_text
from sidecar.provider import Provider
from sidecar.query import Query
from sidecar.quote import one_line
from sidecar.session import View

FORMAT = 1
MAX_EDGES = 200
MAX_DEPTH = 6
MAX_TITLE = 200
LAST_TURNS = 5
Names = dict[str, dict[str, Any]]


def session_edges(history: History, reader: Reader) -> list[turn_edges.Edge]:
    """Return the edges of a session, kept in a file of its state."""
    manifest = reader.manifest
    name = f"{manifest.id}.{manifest.digest.removeprefix('sha256:')[:16]}.edges.v{FORMAT}"
    path = history.indexes / name
    try:
        packed = zstandard.ZstdDecompressor().decompress(path.read_bytes())
        return [turn_edges.Edge(*row) for row in json.loads(packed)]
    except (FileNotFoundError, zstandard.ZstdError, ValueError, TypeError):
        lines = ((n, raw) for n, _, raw in reader.lines())
        found = list(turn_edges.edges(lines, manifest.identity.format, history.root_of(manifest)))
    rows = json.dumps([[one.kind, one.source, one.target, one.start, one.end] for one in found]).encode()
    files.private_folder(path.parent)
    files.write_atomically(path, [zstandard.ZstdCompressor(level=3).compress(rows)])
    for older in history.indexes.glob(f"{manifest.id}.*.edges.v*"):
        if older.name != name and older.name.count(".") == name.count("."):
            older.unlink(missing_ok=True)
    return found


class Graph:
    """The graph of one repository as it stands now."""

    def __init__(self, provider: Provider, budget: float = 2.0) -> None:
        self.provider = provider
        self.history = open_history(provider.session.folder)
        self.view: View = provider.session.healing(lambda: provider.session.view(vectors=False, budget=budget))
        self.names: Names = {}
        self._walked: tuple[tuple[str, ...], Any] | None = None
        self._joined = False
        self.sessions = [Reader(self.history.archive, one) for one in self.history.archive.manifests()]

    def walk(self, start: str, types: Sequence[str] = (), depth: int = 1) -> Document:
        """Return the nodes and edges within ``depth`` steps of a record, path, commit or turn (transcript#ordinal).

        What is said of a folder is said of all below it, and a folder is spoken of where a file in it is. Without
        ``types`` those of `BY_DEFAULT` are walked. A file that nothing speaks of has no edges. Raises `SidecarError`
        for what is neither in the graph nor there.
        """
        import networkx as nx

        chosen = _types(types)
        if not 1 <= depth <= MAX_DEPTH:
            raise SidecarError(f"depth {depth} is out of range", f"use 1 to {MAX_DEPTH}")
        self._join([build.path_node(inside(self.provider.session.repo, start.strip()))])
        node, kept = self._node(start, self._whole), self._of_types(chosen)
        starts = {name for name in kept if name == node or _of_one_place(node, name)}
        near = {node: 0, **(nx.multi_source_dijkstra_path_length(kept, starts, cutoff=depth) if starts else {})}
        found = [
            data["edge"]
            for a, b, data in kept.edges(near, data=True)
            if a in near and b in near and min(near[a], near[b]) < depth
        ]
        found.sort(key=lambda e: (min(near[e.source], near[e.target]), chosen.index(e.type), *_order(e)))
        shown = found[:MAX_EDGES]
        ends = {node: 0, **{end: near[end] for edge in shown for end in (edge.source, edge.target)}}
        return {
            "format": FORMAT,
            "about": node,
            "types": list(chosen),
            "depth": depth,
            "nodes": [{**self.told(name), "distance": far} for name, far in sorted(ends.items(), key=lambda x: x[1])],
            "edges": [self.shown(edge) for edge in shown],
            "left_out": len(found) - len(shown),
            "coverage": self.coverage(),
        }

    @cached_property
    def _whole(self) -> Any:  # noqa: ANN401 - NetworkX ships no types
        import networkx as nx

        whole = nx.MultiDiGraph()
        for edge in self.edges():
            whole.add_edge(edge.source, edge.target, edge=edge)
        return whole

    def _join(self, names: Sequence[str]) -> None:
        """Add the edges to paths that only stand in a record's text: to these, and once to all that are nodes."""
        known = () if self._joined else tuple(name for name in self._whole if name.startswith("path:"))
        self._joined = True
        for edge in list(in_text(self.view.corpus, self.names, [*names, *known])):
            if not self._whole.has_edge(edge.source, edge.target):
                self._whole.add_edge(edge.source, edge.target, edge=edge)
                self._walked = None

    def _of_types(self, chosen: tuple[str, ...]) -> Any:  # noqa: ANN401 - NetworkX ships no types
        """Return the edges of these types both ways; those of the last walk are kept for the next one."""
        import networkx as nx

        if self._walked is None or self._walked[0] != chosen:
            kept = nx.MultiGraph()
            kept.add_edges_from((a, b, d) for a, b, d in self._whole.edges(data=True) if d["edge"].type in chosen)
            self._walked = (chosen, kept)
        return self._walked[1]

    def edges(self) -> Iterator[Edge]:
        """Yield every edge: of the records that pass the door, whatever their status, and of the sessions kept."""
        corpus = self.view.corpus
        today = self.provider.clock().astimezone(UTC).date()
        passed = corpus.admit(Query("x", statuses=("all",)), today).passed
        heads, policy = [corpus.heads[n] for n in passed], corpus.snapshot.policy
        since = self.provider.bases.since(self.provider.bases.find(self.view.commit, policy), policy, today)
        for n, head in zip(passed, heads, strict=True):
            facts = {"title": one_line(head.record.title, MAX_TITLE), "status": corpus.status(int(n), today)}
            there = since.of(head.record.id, facts["status"], head.blob) if since and not head.origin else None
            on_base = {"on_base": there} if there else {}
            self.names[f"record:{head.record.id}"] = {**facts, "path": one_line(head.path), **on_base}
        yield from build.of_records([Filed(head.record, head.path, head.blob) for head in heads])
        for reader in self.sessions:
            yield from build.of_session(reader.manifest.id, session_edges(self.history, reader))

    def worked_on(self, path: str, limit: int = LAST_TURNS) -> list[Document]:
        """Return the turns where a file, or a file of a folder, was last mentioned; the session captured last first."""
        wanted, found = build.path_node(path).removeprefix("path:"), []
        kept = sorted(self.sessions, key=lambda one: (one.manifest.state.captured, one.manifest.id), reverse=True)
        for reader in kept:
            mine = [edge for edge in session_edges(self.history, reader) if _about(edge.target, wanted)]
            for edge in reversed(mine):
                place = build.Bytes(reader.manifest.id, edge.source, edge.start, edge.end)
                found.append({"path": str(edge.target), **_bytes(place), **completeness(reader.manifest)})
                if len(found) == limit:
                    return found
        return found

    def source(self, source: dict[str, str]) -> Document:
        """Return the exact bytes that a record's ``source: {transcript: ...}`` names, or why there are none."""
        name, numbers = source.get("transcript", ""), [source.get(k, "") for k in ("turn", "start_byte", "end_byte")]
        told: Document = {"transcript": name}
        if not all(text.isascii() and text.isdigit() for text in numbers):
            return {**told, "missing": "the source names no turn with start_byte and end_byte"}
        ordinal, start, end = map(int, numbers)
        try:
            turn, raw = self.history.reader(name).turn(ordinal)
        except SidecarError as exc:
            return {**told, "missing": str(exc)}
        if source.get("digest", turn.digest) != turn.digest:
            return {**told, "missing": f"turn {ordinal} is not what the record was drawn from"}
        place = {"turn": ordinal, "start_byte": start, "end_byte": end, "digest": turn.digest}
        return {**told, **place, "text": raw[start:end].decode("utf-8", "backslashreplace")}

    def coverage(self) -> Document:
        """Return what the graph was made of."""
        partly = [one.manifest.id for one in self.sessions if not one.manifest.complete]
        return {"records": len(self.names), "transcripts": len(self.sessions), "incomplete": partly}

    def told(self, name: str) -> Document:
        """Return what is said of a node: kind and name, of a record also title, status, and its state on the base."""
        kind, _, rest = name.partition(":")
        return {"id": one_line(rest), "kind": kind, **self.names.get(name, {})}

    def shown(self, edge: Edge) -> Document:
        """Return an edge with its basis: file and line, or turn and byte range."""
        ends = {"from": one_line(edge.source), "to": one_line(edge.target)}
        basis = self._line(edge.basis) if isinstance(edge.basis, Line) else _bytes(edge.basis)
        return {"type": edge.type, **ends, "basis": basis}

    def _line(self, basis: Line) -> Document:
        try:
            data = read_blob(self.provider.session.repo, basis.blob)
            line = build.line_of(data.decode("utf-8", "replace"), parse(data).lines.get(basis.key, 1), basis.value)
        except (UnreadableBlobError, YamlFaultError):
            line = 1
        return {"file": one_line(basis.file), "line": line}

    def _node(self, start: str, whole: Any) -> str:  # noqa: ANN401 - NetworkX ships no types
        asked = start.strip()
        by_id = {name.casefold(): name for name in self.names}
        place = inside(self.provider.session.repo, asked)
        names = (
            by_id.get(f"record:{asked.casefold()}", ""),
            f"turn:{asked}",
            build.path_node(place),
            f"commit:{asked}",
        )
        found = next((name for name in names if name and (name in whole or name in self.names)), None)
        found = found or next((names[2] for name in whole if _of_one_place(names[2], name)), None)
        if found is None and stands(self.provider.session.repo, place):
            return names[2]  # no wrong name, even if nothing speaks of it
        if found is None:
            raise SidecarError(
                f"there is no record, path, commit or turn {one_line(asked, 120)!r} in the graph",
                "give an id of 'sidecar list', a repository path, or transcript#turn",
            )
        return found


def sources(graph: Graph, found: Document) -> Document:
    """Return a walk with the bytes of the sources that its record's file names in sessions."""
    heads = {f"record:{head.record.id}": head.record for head in graph.view.corpus.heads}
    record = heads.get(found["about"]) if found["about"] in graph.names else None
    told = [graph.source(one) for one in record.source if "transcript" in one] if record else []
    return {**found, "sources": told} if told else found


def _types(types: Sequence[str]) -> tuple[str, ...]:
    unknown = [one for one in types if one not in TYPES]
    if unknown:
        raise SidecarError(f"there is no edge type {unknown[0]!r}", f"use {', '.join(TYPES)}")
    return tuple(dict.fromkeys(types)) or BY_DEFAULT


def _order(edge: Edge) -> tuple[str, int, str, int]:
    """Later turns first, within one session."""
    turn = 0 if isinstance(edge.basis, Line) else -edge.basis.turn
    name = edge.basis.file if isinstance(edge.basis, Line) else edge.basis.transcript
    return name, turn, edge.target, 0


def _of_one_place(node: str, name: str) -> bool:
    """Tell whether a node is a file below a path, or a folder above it that is named as a whole: both speak of it."""
    return node.startswith("path:") and (name.startswith(f"{node}/") or (node.startswith(f"{name}/")))


def _about(target: int | str, wanted: str) -> bool:
    return isinstance(target, str) and (target == wanted or target.startswith(f"{wanted}/"))


def _bytes(basis: build.Bytes) -> Document:
    place = {"turn": basis.turn, "start_byte": basis.start, "end_byte": basis.end}
    return {"transcript": basis.transcript, **place}
