"""The effective status of every record, worked out over the whole snapshot. Pure (decision-0005).

The five rules: a record once in force retires what it supersedes; nothing is ever revived; refutation needs a
record that was accepted or verified; past ``valid_until`` is historical; precedence is unknown, candidate,
refuted, superseded, historical, own.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from seed.record import BACKWARD, Record, parse_day, valid_id

ONCE_IN_FORCE = frozenset({"accepted", "verified", "deprecated", "superseded", "refuted", "historical"})
_FINAL = frozenset({"unknown", "candidate", "refuted", "superseded", "historical"})
_INVERSE = {"supersedes": "superseded_by", "amends": "amended_by", "refutes": "refuted_by"}


@dataclass(frozen=True, slots=True)
class Edge:
    """One relation between two records, told from its acting end, with the record whose file says so."""

    relation: str
    actor: int
    target: int
    told_by: int


@dataclass(frozen=True, slots=True)
class Link:
    """One entry of a record's lineage: what it does to, or suffers from, another record."""

    relation: str
    id: str
    status: str


@dataclass(frozen=True, slots=True)
class Standing:
    """Effective status (before the clock is asked), lineage, and conflicts as (id, reason) of one record."""

    status: str
    lineage: tuple[Link, ...]
    conflicts: tuple[tuple[str, str], ...]


def by_id(records: Sequence[Record]) -> dict[str, list[int]]:
    """Return the ordinals of the records of each id; ids compare without case."""
    found: dict[str, list[int]] = defaultdict(list)
    for ordinal, record in enumerate(records):
        found[record.id.casefold()].append(ordinal)
    return found


def edges(records: Sequence[Record], index: Mapping[str, list[int]]) -> Iterable[Edge]:
    """Yield every relation whose two ends are in the snapshot, backward ones turned round."""
    for told_by, record in enumerate(records):
        for relation, target in record.relations:
            for other in index.get(target.casefold(), ()):
                if relation in BACKWARD:
                    yield Edge(BACKWARD[relation], other, told_by, told_by)
                else:
                    yield Edge(relation, told_by, other, told_by)


def standings(records: Sequence[Record], candidates: frozenset[int] = frozenset()) -> list[Standing]:
    """Return the standing of each record, in order. ``candidates`` are the ordinals that come from branches."""
    index = by_id(records)
    all_edges = list(dict.fromkeys(edges(records, index)))
    own = ["candidate" if n in candidates else record.status for n, record in enumerate(records)]
    refuted, superseded, conflicts = _retired(records, own, all_edges)
    for ordinal, record in enumerate(records):
        if ordinal not in candidates:
            for relation, retired in (("superseded_by", superseded), ("refuted_by", refuted)):
                if _names_nobody(record, relation, index, candidates):
                    retired.add(ordinal)
    status = [_precedence(own[n], n in refuted, n in superseded) for n in range(len(records))]
    for ordinal, relation, target in _unreadable(records):
        conflicts[ordinal].append((target, f"{relation} names no id, so what it retires may still answer"))
    for twins in index.values():
        settled = [n for n in twins if n not in candidates]
        for n in settled if len(settled) > 1 else ():
            conflicts[n].append((records[n].id, "another file has the same id"))
    lineage = _lineage(records, index, all_edges, status)
    return [Standing(status[n], tuple(lineage[n]), tuple(dict.fromkeys(conflicts[n]))) for n in range(len(records))]


def _unreadable(records: Sequence[Record]) -> Iterable[tuple[int, str, str]]:
    """Yield (ordinal, relation, what is written) of each relation that retires a record it does not name by an id."""
    for ordinal, record in enumerate(records):
        for relation, target in record.relations:
            if relation in ("supersedes", "refutes") and not valid_id(target):
                yield ordinal, relation, target


def _retired(
    records: Sequence[Record], own: Sequence[str], all_edges: Iterable[Edge]
) -> tuple[set[int], set[int], defaultdict[int, list[tuple[str, str]]]]:
    refuted: set[int] = set()
    superseded: set[int] = set()
    conflicts: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
    for edge in all_edges:
        if own[edge.told_by] == "candidate" or own[edge.actor] == "candidate":
            continue
        if overturns(edge.relation, own[edge.actor], own[edge.target]):
            (superseded if edge.relation == "supersedes" else refuted).add(edge.target)
            if records[edge.target].trust == "user_confirmed" != records[edge.actor].trust:
                conflicts[edge.actor].append((records[edge.target].id, "retires a user-confirmed record, is none"))
        elif edge.relation == "refutes" and own[edge.actor] == "unverified":
            conflicts[edge.target].append((records[edge.actor].id, "refuted by an unverified record"))
            conflicts[edge.actor].append((records[edge.target].id, "refutes it without being verified"))
    return refuted, superseded, conflicts


def overturns(relation: str, actor: str, target: str) -> bool:
    """Tell whether a record whose own status is ``actor`` retires by this relation one whose own is ``target``."""
    if relation == "supersedes":
        return actor in ONCE_IN_FORCE or actor == "unverified" == target
    return relation == "refutes" and actor in ONCE_IN_FORCE


def _names_nobody(record: Record, relation: str, index: Mapping[str, list[int]], candidates: frozenset[int]) -> bool:
    """Tell whether a file names a successor or refuter that is nowhere: it says itself that it is overturned.

    A candidate is nowhere yet, or an unreviewed branch could bring an overturned record back.
    """
    return any(all(n in candidates for n in index.get(target.casefold(), ())) for target in record.related(relation))


def _precedence(own: str, refuted: bool, superseded: bool) -> str:
    if own in ("unknown", "candidate"):
        return own
    if refuted or own == "refuted":
        return "refuted"
    if superseded or own == "superseded":
        return "superseded"
    return own


def _lineage(
    records: Sequence[Record],
    index: Mapping[str, list[int]],
    all_edges: Iterable[Edge],
    status: Sequence[str],
) -> list[list[Link]]:
    found: list[dict[tuple[str, str], Link]] = [{} for _ in records]
    for edge in all_edges:
        ends = [(edge.actor, edge.relation, edge.target)]
        if edge.relation in _INVERSE:
            ends.append((edge.target, _INVERSE[edge.relation], edge.actor))
        for at, relation, other in ends:
            found[at].setdefault((relation, records[other].id), Link(relation, records[other].id, status[other]))
    for n, record in enumerate(records):
        for relation, target in record.relations:
            if target.casefold() not in index:
                found[n].setdefault((relation, target), Link(relation, target, "missing"))
    return [list(links.values()) for links in found]


def at_day(status: str, valid_until: str, today: date) -> str:
    """Apply the clock: past ``valid_until`` (inclusive, UTC) is historical; an unreadable one is unknown."""
    if not valid_until or status in _FINAL:
        return status
    last = parse_day(valid_until)
    if last is None:
        return "unknown"
    return "historical" if today > last else status


def cycles(records: Sequence[Record]) -> list[list[int]]:
    """Return supersession cycles as lists of ordinals, smallest first: every member of any cycle is in one of them."""
    index = by_id(records)
    below: dict[int, list[int]] = defaultdict(list)
    above: dict[int, list[int]] = defaultdict(list)
    for edge in dict.fromkeys(edges(records, index)):
        if edge.relation == "supersedes":
            below[edge.actor].append(edge.target)
            above[edge.target].append(edge.actor)
    found: list[list[int]] = []
    covered: set[int] = set()
    for start in sorted(_held(below) & _held(above)):
        if start not in covered:
            loop = _way_back(start, below)
            covered.update(loop)
            found += [loop] if loop else []
    return found


def _held(following: Mapping[int, Sequence[int]]) -> set[int]:
    """Return the nodes that are left once those that nothing leads to are taken away, again and again.

    Seen from both ends only cycles and what lies between them are left, so that long chains cost no search.
    """
    incoming = Counter(other for others in following.values() for other in others)
    left = set(following) | set(incoming)
    waiting = [node for node in left if not incoming[node]]
    while waiting:
        node = waiting.pop()
        left.discard(node)
        for other in following.get(node, ()):
            incoming[other] -= 1
            if not incoming[other]:
                waiting.append(other)
    return left


def _way_back(start: int, below: Mapping[int, Sequence[int]]) -> list[int]:
    """Return a shortest cycle through ``start``, found breadth first, or nothing."""
    before: dict[int, int] = {}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for other in below.get(node, ()):
            if other == start:
                loop = [node]
                while loop[-1] != start:
                    loop.append(before[loop[-1]])
                return loop[::-1]
            if other not in before:
                before[other] = node
                waiting.append(other)
    return []
