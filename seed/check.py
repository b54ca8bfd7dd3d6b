"""What `sidecar check` finds over a whole set of records: faults of one file, and of files together. Pure.

An error is what makes an answer wrong or a record silent; a warning is what makes an answer poorer.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from seed.lifecycle import Edge, by_id, cycles, edges, overturns
from seed.record import BACKWARD, Parsed, Record

Level = Literal["error", "warning"]
LineOf = Callable[[str, str], int]
CONFIRMED = "user_confirmed"
_INVERSE = {forward: backward for backward, forward in BACKWARD.items()}
_DECIDING = frozenset({"supersedes", "refutes", "superseded_by", "refuted_by"})
"""Relations on which a status hangs: with a wrong id there, what was overturned may go on answering. The others only
add to the lineage."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of `check`: where, how bad, why, and what to do. ``line`` is 1-based."""

    path: str
    line: int
    level: Level
    reason: str
    fix: str


@dataclass(frozen=True, slots=True)
class _Whole:
    """The readable records with their paths, in path order, and what looking across them needs."""

    paths: tuple[str, ...]
    records: tuple[Record, ...]
    index: Mapping[str, list[int]]
    edges: tuple[Edge, ...]
    unread: frozenset[str]
    line_of: LineOf
    about: frozenset[str] | None

    def judged(self, ident: str) -> bool:
        """Tell whether every record that bears on this id is here, so that what is missing can be told."""
        return self.about is None or ident.casefold() in self.about

    def at(self, ordinal: int, key: str, level: Level, reason: str, fix: str) -> Finding:
        path = self.paths[ordinal]
        return Finding(path, self.line_of(path, key), level, reason, fix)

    def told(self, edge: Edge, level: Level, reason: str, fix: str) -> Finding:
        key = edge.relation if edge.told_by == edge.actor else _INVERSE.get(edge.relation, edge.relation)
        return self.at(edge.told_by, key, level, reason, fix)


def check(
    files: Sequence[tuple[str, Parsed]],
    line_of: LineOf = lambda _path, _key: 1,
    about: frozenset[str] | None = None,
) -> list[Finding]:
    """Return every finding over all record files, sorted by path and line.

    ``line_of`` tells the line of a top-level key in a file; it is asked only for findings across files. Where the files
    are only a part, ``about`` names the casefolded ids of which every file that names them is in it.
    """
    ordered = sorted(files, key=lambda item: item[0])
    found = [
        Finding(path, problem.line, problem.level, problem.reason, problem.fix)
        for path, parsed in ordered
        for problem in parsed.problems
    ]
    found += _twin_paths([path for path, _ in ordered])
    whole = _whole(ordered, line_of, about)
    for rule in (_twin_ids, _cycles, _dangling, _unexplained, _without_effect, _trust):
        found += rule(whole)
    return in_order(found)


def in_order(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings by path, line, level and text, each once."""
    return sorted(dict.fromkeys(findings), key=lambda f: (f.path, f.line, f.level, f.reason))


def _whole(ordered: Sequence[tuple[str, Parsed]], line_of: LineOf, about: frozenset[str] | None) -> _Whole:
    readable = [(path, parsed.record) for path, parsed in ordered if parsed.record is not None]
    records = tuple(record for _, record in readable)
    index = by_id(records)
    # A relation told from both ends is one fact; the acting end's file is where it is changed.
    told = sorted(edges(records, index), key=lambda edge: edge.told_by == edge.actor)
    single = {(edge.relation, edge.actor, edge.target): edge for edge in told}
    unread = frozenset(stem(path) for path, parsed in ordered if parsed.record is None)
    return _Whole(tuple(path for path, _ in readable), records, index, tuple(single.values()), unread, line_of, about)


def stem(path: str) -> str:
    """Return the id that a file's name suggests, casefolded."""
    return path.rsplit("/", 1)[-1].removesuffix(".yaml").casefold()


def same_name(path: str) -> str:
    """Return what two paths have in common that some file systems take for one."""
    return unicodedata.normalize("NFC", path).casefold()


def _twin_paths(paths: Sequence[str]) -> Iterator[Finding]:
    twins: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        twins[same_name(path)].append(path)
    for group in twins.values():
        for path in group if len(group) > 1 else ():
            others = ", ".join(other for other in group if other != path)
            reason = f"the path differs from {others} only in case or Unicode form, so some checkouts keep just one"
            yield Finding(path, 1, "error", reason, "rename one of them with 'git mv'")


def _twin_ids(whole: _Whole) -> Iterator[Finding]:
    for ident, twins in whole.index.items():
        for n in twins if len(twins) > 1 and whole.judged(ident) else ():
            others = ", ".join(whole.paths[other] for other in twins if other != n)
            reason = f"id {whole.records[n].id!r} is also the id in {others}"
            yield whole.at(n, "id", "error", reason, f"give one a free id: sidecar renumber {whole.paths[n]}")


def _cycles(whole: _Whole) -> Iterator[Finding]:
    for loop in cycles(whole.records):
        chain = " -> ".join(whole.records[n].id for n in (*loop, loop[0]))
        for n in loop:
            key = "supersedes" if whole.records[n].related("supersedes") else "superseded_by"
            reason = f"supersession runs in a circle, so none of these answers: {chain}"
            yield whole.at(n, key, "error", reason, "delete the relation that is not true")


def _dangling(whole: _Whole) -> Iterator[Finding]:
    for n, record in enumerate(whole.records):
        for relation, target in record.relations:
            known = target.casefold() in whole.index or target.casefold() in whole.unread
            if known or not whole.judged(target):
                continue
            level: Level = "error" if relation in _DECIDING else "warning"
            dead = relation in ("superseded_by", "refuted_by")
            end = "a dead successor: no record here has that id" if dead else "no record here"
            reason = f"{relation} names {target!r}, which is {end}"
            yield whole.at(n, relation, level, reason, "correct the id, add that record, or delete the line")


def _unexplained(whole: _Whole) -> Iterator[Finding]:
    succeeded = {edge.target for edge in whole.edges if edge.relation == "supersedes"}
    for n, record in enumerate(whole.records):
        if (
            record.status == "superseded"
            and n not in succeeded
            and whole.judged(record.id)
            and not record.related("superseded_by")
        ):
            reason = "the record says superseded, but nothing says by what"
            yield whole.at(n, "status", "warning", reason, "add 'superseded_by: [id]', or say deprecated")


def _without_effect(whole: _Whole) -> Iterator[Finding]:
    for edge in whole.edges:
        actor, target = whole.records[edge.actor], whole.records[edge.target]
        if edge.relation not in ("supersedes", "refutes") or actor.status != "unverified":
            continue
        if not overturns(edge.relation, actor.status, target.status):
            reason = f"{actor.id} is unverified, so it {edge.relation} nothing: {target.id} goes on as it is"
            yield whole.told(edge, "warning", reason, f"verify {actor.id} and set its status to verified")


def _trust(whole: _Whole) -> Iterator[Finding]:
    for edge in whole.edges:
        actor, target = whole.records[edge.actor], whole.records[edge.target]
        if target.trust != CONFIRMED or actor.trust == CONFIRMED or edge.actor == edge.target:
            continue
        if overturns(edge.relation, actor.status, target.status):
            reason = (
                f"{target.id} was confirmed by a user, but {actor.id}, which {edge.relation} it, "
                f"is only {actor.trust or 'document_extracted'}"
            )
            fix = f"have a user confirm {actor.id} ('trust: {CONFIRMED}'), or leave {target.id} in force"
            yield whole.told(edge, "error", reason, fix)
