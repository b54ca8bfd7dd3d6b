"""Changes to records that Git holds: found in a commit, made on a branch, and checked before the branch moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from seed.checker import check_repository
from seed.errors import SidecarError
from seed.git.remote import merge_base
from seed.git.repository import Repository
from seed.git.tree import UnreadableBlobError, is_record_path, list_files, read_blob, subtree
from seed.git.write import branch_commit, move_branch, write_commit
from seed.reader import parse_record
from seed.record import Record
from seed.yamltext import YamlFaultError, parse

_TRIES = 50


@dataclass(frozen=True, slots=True)
class Filed:
    """A record where a commit has it: its path, the bytes of its file, and what they say."""

    path: str
    data: bytes
    record: Record

    def line(self, *keys: str) -> int:
        """Return the 1-based line of the first of these top-level keys that the file has, else 1."""
        try:
            lines = parse(self.data).lines
        except YamlFaultError:
            return 1
        return next((lines[key] for key in keys if key in lines), 1)


def records_at(repo: Repository, commit: str, naming: str = "") -> Iterator[Filed]:
    """Yield the readable records of a commit, in path order; with ``naming`` only files that hold that text."""
    wanted = naming.casefold().encode()
    for entry in list_files(repo, subtree(repo, commit)):
        if not is_record_path(entry.path):
            continue
        try:
            data = read_blob(repo, entry.blob)
        except UnreadableBlobError:
            continue
        record = parse_record(data).record if wanted in data.lower() else None
        if record is not None:
            yield Filed(entry.path, data, record)


def find_record(repo: Repository, commit: str, ident: str) -> Filed | None:
    """Return the record with an id in a commit, without regard to case, or None."""
    wanted = ident.strip().casefold()
    return next((one for one in records_at(repo, commit, wanted) if one.record.id.casefold() == wanted), None)


def new_errors(repo: Repository, before: str, after: str) -> list[str]:
    """Return the errors of `check` that one commit has and the other had not, as lines of text."""
    known = {(f.path, f.reason) for f in check_repository(repo, commit=before).findings}
    return [
        f"{f.path}:{f.line}: {f.reason} - {f.fix}"
        for f in check_repository(repo, commit=after).findings
        if f.level == "error" and (f.path, f.reason) not in known
    ]


def must_check(repo: Repository, before: str, after: str) -> None:
    """Raise `SidecarError` (exit code 1) when a commit brings errors of its own."""
    if errors := new_errors(repo, before, after):
        raise SidecarError(f"check fails: {'; '.join(errors)}", "nothing was written; correct that first", code=1)


def on_branch(
    repo: Repository, branch: str, start: str, ident: str, edit: Callable[[Filed], bytes], text: Callable[[Filed], str]
) -> tuple[str, Filed]:
    """Edit one record on a branch and return (its commit, the record as it was); a missing branch is made.

    What stands on the branch already stays, unless it was merged: then the branch starts anew from ``start``. An edit
    that changes nothing makes no commit. Raises `SidecarError` when the record is not there or `check` fails.
    """
    for _ in range(_TRIES):
        tip = branch_commit(repo, branch)
        parent = tip if tip and merge_base(repo, tip, start) != tip else start
        held = find_record(repo, parent, ident)
        if held is None:
            raise SidecarError(f"there is no record {ident!r} at {parent[:12]}", "list the ids with 'sidecar list'")
        data = edit(held)
        if data == held.data:
            return tip, held
        commit = write_commit(repo, {held.path: data}, text(held), parents=[parent])
        must_check(repo, parent, commit)
        if move_branch(repo, branch, commit, tip, f"edit {held.record.id}"):
            return commit, held
    raise SidecarError(f"branch {branch} is written by many at once", "try again")


def appended(existing: Sequence[str], ident: str) -> list[str]:
    """Return a list of ids with one more at its end, each once, without regard to case."""
    return list(existing) if ident.casefold() in {one.casefold() for one in existing} else [*existing, ident]
