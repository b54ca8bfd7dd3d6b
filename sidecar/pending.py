"""The candidates that wait for a reviewer, as Git has them: no store is needed to see or to change one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from seed.errors import SidecarError
from seed.git.candidates import MARK, candidates
from seed.git.repository import Repository, head_commit, read_commit
from seed.git.tree import UnreadableBlobError, read_blob
from seed.reader import parse_record
from seed.record import Record


@dataclass(frozen=True, slots=True)
class Pending:
    """One candidate: its record and file, the branch's own name, its commit, and the remote it was found on ("")."""

    record: Record
    data: bytes
    path: str
    blob: str
    branch: str
    commit: str
    remote: str

    @property
    def seen_again(self) -> list[object]:
        """Return one entry for each time it was proposed again."""
        found = self.record.extra.get("seen_again", [])
        return list(found) if isinstance(found, list) else [found]


def pending(repo: Repository) -> list[Pending]:
    """Return every readable candidate, local and remote ones, a local branch before its remote twin."""
    found = []
    for one in candidates(repo, head_commit(repo)):
        try:
            data = read_blob(repo, one.blob)
        except UnreadableBlobError:
            continue
        record = parse_record(data).record
        if record is not None:
            remote = one.ref.removeprefix("refs/remotes/").split("/", 1)[0] if "refs/remotes/" in one.ref else ""
            branch = MARK + one.ref.split(MARK, 1)[1]
            found.append(Pending(record, data, one.path, one.blob, branch, one.commit, remote))
    return found


def by_id(found: Sequence[Pending], ident: str) -> Pending | None:
    """Return the candidate with an id, without regard to case, or None."""
    return next((one for one in found if one.record.id.casefold() == ident.strip().casefold()), None)


def the(repo: Repository, ident: str) -> Pending:
    """Return the candidate with an id. Raises `SidecarError` naming near ones."""
    found = pending(repo)
    one = by_id(found, ident)
    if one is None:
        from difflib import get_close_matches

        near = get_close_matches(ident, [p.record.id for p in found], n=3, cutoff=0.4)
        fix = f"did you mean {', '.join(near)}?" if near else "see 'sidecar candidates'"
        raise SidecarError(f"there is no candidate {ident!r}", fix)
    return one


def committed(repo: Repository, commit: str) -> tuple[str, datetime]:
    """Return (author's name, author's time in UTC) of a commit."""
    node = read_commit(repo, commit)
    return node.author.name, datetime.fromtimestamp(node.author.time, UTC)
