"""A snapshot: the records of one commit as seeded. Pure data that the store keeps and the sidecar answers from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from seed.lifecycle import Link
from seed.policy import Policy
from seed.record import Problem, Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from seed.facets import Facet


_KEPT = tuple(part.name for part in fields(Record) if part.name != "body")


@dataclass(frozen=True, slots=True)
class Head:
    """A record less its body, with what the snapshot made of it. ``status`` is effective before the clock.

    ``origin`` is "" for a record of the commit, else the ref of the candidate branch it stands on.
    """

    record: Record
    path: str
    blob: str
    status: str
    lineage: tuple[Link, ...] = ()
    conflicts: tuple[tuple[str, str], ...] = ()
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file under knowledge/ that gave no record, why, and its blob."""

    path: str
    problem: Problem
    blob: str = ""


@dataclass(frozen=True, slots=True)
class Cut:
    """One passage of a record as the store knows it: passage number, section, offsets into the body."""

    pid: int
    section: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The heads in path order, with the numbers of their passages.

    ``pids`` (n,) uint32 passage numbers in head order, ``owners`` (n,) uint32 the ordinal of each passage's head,
    ``titles`` (len(heads),) uint32 the number of each head's words-only document. ``tips`` are the candidate branches
    as (ref, commit). ``facets`` hold what filters ask of every head; without them they are worked out. ``version`` is
    that of the parsed files: only under the same one can a later snapshot take heads over.
    """

    key: str
    commit: str
    tree: str
    candidates: str
    policy: Policy
    heads: Sequence[Head]
    unreadable: tuple[Unreadable, ...]
    pids: NDArray[np.uint32]
    owners: NDArray[np.uint32]
    titles: NDArray[np.uint32]
    glossary: dict[str, tuple[str, ...]] = field(default_factory=dict)
    policy_fault: str = ""
    tips: tuple[tuple[str, str], ...] = ()
    facets: Mapping[str, Facet] = field(default_factory=dict)
    version: str = ""


def record_to_json(record: Record) -> dict[str, Any]:
    """Return a record as sparse JSON data, without its body, which is read from Git when it is asked for."""
    return {name: value for name in _KEPT if (value := getattr(record, name))}


def head_to_list(head: Head) -> list[object]:
    """Return a head as JSON data."""
    return [
        record_to_json(head.record),
        head.path,
        head.blob,
        head.status,
        [[x.relation, x.id, x.status] for x in head.lineage],
        [list(c) for c in head.conflicts],
        head.origin,
    ]


def record_from_json(data: dict[str, Any]) -> Record:
    """Return a record (without body) from its sparse JSON."""
    values = dict(data)
    for key in ("tags", "paths", "source"):
        if key in values:
            values[key] = tuple(values[key])
    if "relations" in values:
        values["relations"] = tuple((str(r), str(t)) for r, t in values["relations"])
    return Record(**values)


def head_from_list(data: list[Any]) -> Head:
    """Return the head that `head_to_list` wrote."""
    record, path, blob, status, lineage, conflicts, origin = data
    return Head(
        record_from_json(record),
        str(path),
        str(blob),
        str(status),
        tuple(Link(*link) for link in lineage),
        tuple((c[0], c[1]) for c in conflicts),
        str(origin),
    )
