"""What a commit changes, and the few records a fault could lie between: so that a check costs what was changed.

A record whose id, status, trust and relations stay as they are brings no fault with another one. Any other is looked
at with every file in which one of the ids in question stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from seed.check import same_name, stem
from seed.git.repository import Repository
from seed.git.sources import Source, of_change, of_entry, of_index
from seed.git.staging import Change, changes, mentioning
from seed.git.tree import UnreadableBlobError, is_record_path
from seed.reader import parse_record
from seed.record import Parsed, Problem, Record

MANY_CHANGES, MANY_ROUNDS = 500, 8
"""From here on every file is read: a chain of so many supersessions costs as much one search after the other."""


@dataclass(frozen=True, slots=True)
class Changed:
    """The files that a commit changes, and those beside which they have to be right.

    ``about`` are the casefolded ids of which every file that names them is here.
    """

    fresh: tuple[Source, ...]
    beside: tuple[Source, ...]
    about: frozenset[str]


def parsed(source: Source) -> Parsed:
    """Read one file as a record; never raises."""
    try:
        return parse_record(source.read())
    except UnreadableBlobError as exc:
        return Parsed(None, (Problem(1, exc.reason, exc.fix, fatal=True),))


def changed(repo: Repository) -> Changed | None:
    """Return what the index changes against HEAD, or None where every file has to be read. Raises `SidecarError`."""
    found = changes(repo)
    if len(found) > MANY_CHANGES:
        return None
    fresh = tuple(source for source in (of_change(repo, change) for change in found) if source)
    asked = _asked(repo, found)
    if not asked and not _renamed(found):
        return Changed(fresh, (), frozenset())
    beside = _Beside(repo, found).closed(asked)
    return Changed(fresh, *beside) if beside else None


def _asked(repo: Repository, found: Sequence[Change]) -> set[str]:
    """Return the ids that the changes bear on: those of records whose place among the others is not what it was."""
    asked: set[str] = set()
    for change in found:
        if is_record_path(change.path):
            ends = [of_entry(repo, entry) for entry in (change.before, change.now) if entry and not change.unmerged]
            records = [parsed(end).record if not end.refused else None for end in ends]
            if len({record and _place(record) for record in records}) != 1 or len(records) == 1:
                asked |= {name for record in records if record for name in _named(record)} | {stem(change.path)}
    return asked


def _place(record: Record) -> tuple[object, ...]:
    return record.id, record.status, record.trust, record.relations


def _named(record: Record) -> set[str]:
    return {record.id.casefold(), *(target.casefold() for _, target in record.relations)}


def _renamed(found: Iterable[Change]) -> bool:
    return any(change.before is None for change in found)


class _Beside:
    """Finds the unchanged files that name ids, and follows what those supersede, so that a circle is seen."""

    def __init__(self, repo: Repository, found: Sequence[Change]) -> None:
        self.repo = repo
        self.changed = {change.path for change in found}
        self.names = {same_name(change.path) for change in found}
        self.files = {s.path: s for s in of_index(repo) if is_record_path(s.path) and not s.refused}
        self.read: dict[str, Record | None] = {}

    def closed(self, asked: set[str]) -> tuple[tuple[Source, ...], frozenset[str]] | None:
        """Return the files beside the changed ones, and the ids of which no file is left out; None for too many."""
        about: set[str] = set()
        for _ in range(MANY_ROUNDS):
            if not asked:
                beside = [s for path, s in self.files.items() if path in self.read or same_name(path) in self.names]
                return tuple(s for s in beside if s.path not in self.changed), frozenset(about)
            paths = mentioning(self.repo, {word for word in asked if word.isascii()})
            if paths is None:
                return None
            about |= asked
            for path in self.files:
                if path not in self.read and (path in paths or stem(path) in asked):
                    self.read[path] = parsed(self.files[path]).record
            asked = self._superseded(about) - about
        return None

    def _superseded(self, about: set[str]) -> set[str]:
        found = set()
        for record in filter(None, self.read.values()):
            if record.id.casefold() in about:
                found |= {target.casefold() for target in record.related("supersedes")}
            if any(target.casefold() in about for target in record.related("superseded_by")):
                found.add(record.id.casefold())
        return found
