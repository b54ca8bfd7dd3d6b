"""What the default branch has changed or retired since the commit that answers left it (`on_base`).

An old feature branch must not sell an overturned decision: such a result says what became of it, and the verdict is
then at most `weak`. Everything hangs on two knowledge trees, which the receipt records, so that an answer replays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from seed import blobs
from seed.errors import SidecarError, UnfinishedError
from seed.git.remote import Branch, default_branch, merge_base
from seed.git.repository import Repository
from seed.git.tree import Entry, has_object, subtree
from seed.lifecycle import Link, at_day, standings
from seed.policy import Policy
from seed.record import Record
from seed.store.engine import Engine
from sidecar.answer import NO_SUCCESSOR

_SUCCEEDED = {"superseded_by": "superseded by", "refuted_by": "refuted by"}
_OVERTURNED = ("superseded", "refuted")


@dataclass(frozen=True, slots=True)
class Base:
    """The default branch: its name, its commit, its knowledge tree, and the tree where the answering commit left it."""

    ref: str
    commit: str
    tree: str
    left: str

    def to_json(self) -> dict[str, str]:
        """Return what a receipt keeps."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class State:
    """One record in one tree: the blob of its file, its status before the clock, valid_until, and its successors."""

    blob: str
    status: str
    valid_until: str
    after: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class States:
    """The records of one tree by folded id; ``whole`` is False when some files could not be read."""

    by_id: Mapping[str, State]
    whole: bool


class Bases:
    """Finds the default branch and reads its records; both are remembered, since they move seldom."""

    def __init__(self, repo: Repository, store: Callable[[], Engine]) -> None:
        self.repo = repo
        self.store = store
        self.budget: float | None = None
        """Seconds for reading a branch's records; past them the call ends in an error, and the next one goes on."""
        self._found: dict[tuple[str, str], Base | None] = {}
        self._states: dict[tuple[str, int], States] = {}

    def find(self, commit: str, policy: Policy) -> Base | None:
        """Return the default branch as seen from a commit, or None where there is none or no common history."""
        branch = default_branch(self.repo, policy.default_branch) if commit else None
        if branch is None:
            return None
        key = (commit, branch.ref + branch.commit)
        if key not in self._found:
            self._found[key] = self._between(branch, commit)
        return self._found[key]

    def _between(self, branch: Branch, commit: str) -> Base | None:
        left = merge_base(self.repo, commit, branch.commit)
        try:
            trees = [subtree(self.repo, one) for one in (branch.commit, left)] if left else []
        except SidecarError:
            return None  # a clone without these trees cannot compare, and nothing is fetched unasked
        complete = trees and all(not tree or has_object(self.repo, tree) for tree in trees)
        return Base(branch.shown, branch.commit, *trees) if complete else None

    def since(self, base: Base | None, policy: Policy, today: date) -> Since | None:
        """Return what the default branch has changed, or None when it has changed no record. Raises `SidecarError`."""
        if base is None or base.tree == base.left:
            return None
        return Since(base, self._read(base.tree, policy), self._read(base.left, policy), today)

    def in_time(self, base: Base, policy: Policy) -> bool:
        """Tell whether the branch's records can be read within the budget; what was read until then is kept."""
        try:
            self.since(base, policy, date.min)
        except UnfinishedError:
            return False
        return True

    def _read(self, tree: str, policy: Policy) -> States:
        key = (tree, policy.passage_chars)
        if tree and not has_object(self.repo, tree):
            raise SidecarError(f"the knowledge tree {tree[:12]} of the default branch", "git fetch")
        if key not in self._states:
            try:
                read = blobs.records(self.repo, self.store(), tree, policy, self.budget) if tree else []
            except UnfinishedError as exc:
                raise UnfinishedError(f"the default branch, to compare with: {exc.message}", "ask again") from None
            self._states[key] = _states(read)
        return self._states[key]


def _states(read: Sequence[tuple[Entry, Record | None]]) -> States:
    readable = [(entry.blob, record) for entry, record in read if record is not None]
    found: dict[str, State] = {}
    for (blob, record), standing in zip(readable, standings([r for _, r in readable]), strict=True):
        after = tuple(x for x in standing.lineage if x.relation in _SUCCEEDED and x.status not in NO_SUCCESSOR)
        found.setdefault(record.id.casefold(), State(blob, standing.status, record.valid_until, after))
    return States(found, whole=len(readable) == len(read))


@dataclass(frozen=True, slots=True)
class Since:
    """The records of the default branch now, and where it was left, on one day."""

    base: Base
    now: States
    left: States
    today: date

    def mark(self, entries: Iterable[dict[str, Any]]) -> bool:
        """Set ``on_base`` of the entries of an answer that differ there; tell whether any does. Candidates never do."""
        found = False
        for entry in entries:
            there = None if entry.get("branch") else self.of(entry["id"], entry["status"], entry["blob"])
            if there is not None:
                entry["on_base"] = there
                found = True
        return found

    def of(self, ident: str, status: str, blob: str) -> dict[str, Any] | None:
        """Return ``{ref, commit, status, reason}`` for a record that differs there through a change made there."""
        key = ident.casefold()
        there, before = self.now.by_id.get(key), self.left.by_id.get(key)
        if there is None:
            return self._told("missing", "deleted there") if before is not None and self.now.whole else None
        new = self._status(there)
        if (there.blob, new) == (blob, status) or (before and (there.blob, new) == (before.blob, self._status(before))):
            return None
        return self._told(new, self._reason(there, new, status, before))

    def _status(self, state: State) -> str:
        return at_day(state.status, state.valid_until, self.today)

    def _reason(self, there: State, new: str, here: str, before: State | None) -> str:
        after = [f"{_SUCCEEDED[link.relation]} {link.id}" for link in there.after]
        if new != here:
            return ", ".join(after) if after and new in _OVERTURNED else f"{new} there, {here} here"
        return "its text was changed there" if before else "another record has this id there"

    def _told(self, status: str, reason: str) -> dict[str, Any]:
        base = self.base
        return {"ref": base.ref, "commit": base.commit, "status": status, "reason": reason}


def base_from_json(data: Mapping[str, str] | None) -> Base | None:
    """Return the base that a receipt recorded, or None."""
    return Base(data["ref"], data["commit"], data["tree"], data["left"]) if data else None
