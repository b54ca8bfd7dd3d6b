"""The typed edges between records, turns, repository paths and commits, each with what it rests on. Pure.

A node is named by its kind: ``record:<id>``, ``turn:<transcript>#<ordinal>``, ``path:<path>``, ``commit:<id>``.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from seed.record import BACKWARD, FORWARD, Record
from seed.transcript.edges import MENTIONS_PATH, REPLIES_TO, TOOL_RESULT_OF
from seed.transcript.edges import Edge as TurnEdge

SOURCE = "source"
TYPES = (*FORWARD, SOURCE, MENTIONS_PATH, REPLIES_TO, TOOL_RESULT_OF)
BY_DEFAULT = (*FORWARD, SOURCE, MENTIONS_PATH)
"""What is walked unless asked otherwise: the other two mostly join what order joins anyway."""


@dataclass(frozen=True, slots=True)
class Line:
    """A basis in a record's file: the value ``value`` under the top-level key ``key``."""

    file: str
    blob: str
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Bytes:
    """A basis in a session: bytes ``start`` to ``end`` of a turn."""

    transcript: str
    turn: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Edge:
    """From one node to another, of one type, resting on one place. There is no score."""

    source: str
    target: str
    type: str
    basis: Line | Bytes


@dataclass(frozen=True, slots=True)
class Filed:
    """A record with the file and blob that say it."""

    record: Record
    path: str
    blob: str


def of_records(filed: Sequence[Filed]) -> Iterator[Edge]:
    """Yield the relations, paths and sources of records; a relation to a record that is not there is no edge."""
    known = {one.record.id.casefold(): one.record.id for one in filed}
    for one in filed:
        record, mine = one.record, f"record:{one.record.id}"
        for relation, target in record.relations:
            if other := known.get(target.casefold()):
                actor, acted = (f"record:{other}", mine) if relation in BACKWARD else (mine, f"record:{other}")
                basis = Line(one.path, one.blob, relation, target)
                yield Edge(actor, acted, BACKWARD.get(relation, relation), basis)
        for path in record.paths:
            yield Edge(mine, path_node(path), MENTIONS_PATH, Line(one.path, one.blob, "paths", path))
        for source in record.source:
            if found := source_node(source):
                value = source.get("transcript") or source.get("path") or source.get("commit") or ""
                yield Edge(mine, found, SOURCE, Line(one.path, one.blob, "source", value))


def of_session(transcript: str, edges: Iterable[TurnEdge]) -> Iterator[Edge]:
    """Yield the edges of a session; a path outside the repository is no node."""
    for one in edges:
        basis = Bytes(transcript, one.source, one.start, one.end)
        source = turn_node(transcript, one.source)
        if isinstance(one.target, int):
            yield Edge(source, turn_node(transcript, one.target), one.kind, basis)
        elif not one.target.startswith(("/", "../", "~")) and one.target not in {".", ".."}:
            yield Edge(source, path_node(one.target), one.kind, basis)


def turn_node(transcript: str, ordinal: int) -> str:
    """Return the name of a turn's node."""
    return f"turn:{transcript}#{ordinal}"


def path_node(path: str) -> str:
    """Return the name of a path's node; a folder is named without its slash."""
    return f"path:{posixpath.normpath(path.strip())}"


def source_node(source: Mapping[str, str]) -> str:
    """Return the node that a record's source names: a turn, a path or a commit; "" for a URL or half a place."""
    if source.get("transcript"):
        turn = source.get("turn", "")
        return turn_node(source["transcript"], int(turn)) if turn.isascii() and turn.isdigit() else ""
    if source.get("path"):
        return path_node(source["path"])
    return f"commit:{source['commit']}" if source.get("commit") else ""


def line_of(text: str, first: int, value: str) -> int:
    """Return the 1-based line of the first ``value`` from line ``first`` on, where its key stands; else that line."""
    lines = text.split("\n")
    return next((n for n in range(first, len(lines) + 1) if value in lines[n - 1]), first)


def consecutive(edges: Iterable[TurnEdge]) -> Iterator[tuple[str, int, int]]:
    """Yield (type, turn, turn) of what a session's edges join: a path joins a turn with the one that had it before."""
    last: dict[str, int] = {}
    for one in edges:
        if isinstance(one.target, int):
            yield one.kind, one.target, one.source
        else:
            if one.target in last and last[one.target] != one.source:
                yield one.kind, last[one.target], one.source
            last[one.target] = one.source
