"""Change or retire a record: a candidate is amended or withdrawn; one that Git holds gets a branch, never an edit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from seed.edit import with_values
from seed.errors import SidecarError
from seed.git.repository import head_commit
from seed.git.write import message
from seed.reader import as_text, parse_record
from sidecar.candidates import withdraw
from sidecar.draft import Proposer, refuse_secrets
from sidecar.edits import Filed, find_record, on_branch
from sidecar.pending import Pending, by_id, pending
from sidecar.propose import amend, publish, start_from

if TYPE_CHECKING:
    from sidecar.provider import Provider

FILE_BACKED = "memory/file-backed"
DONE_BRANCH = "knowledge/done"
TODO = "todo"
_KEPT = ("id", "proposed_by", "seen_again", "format", "trust")
_TRIES = 50
_OFFER = "this record lives in Git and changes by pull request; with propose: true the branch for it is made"
_MADE = "a reviewer merges the branch"


def revise(
    provider: Provider, ident: str, change: Mapping[str, object], who: Proposer, *, propose: bool = False
) -> dict[str, Any]:
    """Set keys of a record (None removes one): a candidate is amended, a record in Git answers `memory/file-backed`.

    With ``propose`` the branch that makes the edit is written. Raises `SidecarError` for an unknown id, for keys that
    only a reviewer changes, a secret, or a change that makes the record unreadable.
    """
    wanted = {str(key): None if value is None else as_text(value) for key, value in change.items()}
    if not wanted:
        raise SidecarError("the change is empty", "name the keys to set, such as {title: ...}")
    if refused := [key for key in wanted if key in _KEPT]:
        raise SidecarError(f"{', '.join(refused)} cannot be revised", "a reviewer changes that when it is promoted")
    refuse_secrets(wanted, b"")
    waiting = by_id(pending(provider.session.repo), ident)
    if waiting is not None:
        return _amended(provider, ident, wanted, who)

    def edit(held: Filed) -> bytes:
        return _readable(with_values(held.data, wanted), held.data)

    text = _subject(f"Revise {{id}}: {', '.join(wanted)}", who=who)
    return _file_backed(provider, ident, "revise", tuple(wanted), edit, text, write=propose)


def forget(provider: Provider, ident: str, reason: str, who: Proposer, *, propose: bool = False) -> dict[str, Any]:
    """Retire a record: a candidate is withdrawn, a record in Git answers `memory/file-backed`.

    With ``propose`` a branch is written that sets its status to deprecated, with the reason in the commit; the file
    stays, so that its history can be read. Raises `SidecarError` for an unknown id.
    """
    if by_id(pending(provider.session.repo), ident) is not None:
        return {**withdraw(provider, ident, reason), "state": "withdrawn"}

    def edit(held: Filed) -> bytes:
        return with_values(held.data, {"status": "deprecated"})

    refuse_secrets({"reason": reason}, b"")
    text = _subject("Retire {id}: {title}", reason, who)
    return _file_backed(provider, ident, "forget", ("status",), edit, text, write=propose)


def done(provider: Provider, ident: str) -> dict[str, Any]:
    """Propose closing an open item: its tag `todo` becomes `done`, on the one branch knowledge/done.

    Raises `SidecarError` when the record is not there or is no open item.
    """
    repo = provider.session.repo
    policy = provider.session.policy(provider.session.wanted())
    start = start_from(repo, policy)

    def edit(held: Filed) -> bytes:
        tags = list(held.record.tags)
        if TODO not in (tag.casefold() for tag in tags):
            if "done" in (tag.casefold() for tag in tags):
                return held.data
            raise SidecarError(f"{held.record.id} is no open item", f"only a record tagged {TODO} can be closed")
        return with_values(held.data, {"tags": ["done" if tag.casefold() == TODO else tag for tag in tags]})

    commit, held = on_branch(repo, DONE_BRANCH, start.commit, ident, edit, _subject("Close {id}: {title}"))
    return {
        "format": 1,
        "id": held.record.id,
        "path": held.path,
        "branch": DONE_BRANCH,
        "commit": commit,
        "base": {"ref": start.shown, "commit": start.commit},
        "repository": repo.name,
        **publish(repo, policy, DONE_BRANCH),
    }


def _amended(provider: Provider, ident: str, change: Mapping[str, object], who: Proposer) -> dict[str, Any]:
    repo = provider.session.repo
    if "status" in change:
        raise SidecarError("a candidate's status cannot be revised", "it gets its status when it is promoted")
    for _ in range(_TRIES):
        one = by_id(pending(repo), ident)
        if one is None:
            break
        data = _readable(with_values(one.data, change), one.data)
        refuse_secrets({}, data)
        if data == one.data:
            return _told(provider, one, one.commit)
        trailer = {"Proposed-By": who.agent or "unknown", "Session": who.session, "Work": who.work}
        if commit := amend(repo, one, data, trailer, subject=f"Revise {one.record.id}: {', '.join(change)}"):
            return _told(provider, one, commit)
    raise SidecarError(f"candidate {ident} changes all the time", "try again")


def _told(provider: Provider, one: Pending, commit: str) -> dict[str, Any]:
    policy = provider.session.policy(provider.session.wanted())
    return {
        "format": 1,
        "id": one.record.id,
        "status": "candidate",
        "state": "amended" if commit != one.commit else "unchanged",
        "branch": one.branch,
        "commit": commit,
        "path": one.path,
        "repository": provider.session.repo.name,
        **publish(provider.session.repo, policy, one.branch),
    }


def _readable(data: bytes, before: bytes) -> bytes:
    """Return the file if it still holds a record, with no fault that it had not before."""
    parsed, known = parse_record(data), {p.reason for p in parse_record(before).problems}
    errors = [p for p in parsed.problems if p.level == "error" and p.reason not in known]
    if parsed.record is None or errors:
        raise SidecarError("; ".join(p.reason for p in errors), "; ".join(p.fix for p in errors))
    return data


def _file_backed(
    provider: Provider,
    ident: str,
    verb: str,
    keys: tuple[str, ...],
    edit: Callable[[Filed], bytes],
    text: Callable[[Filed], str],
    *,
    write: bool,
) -> dict[str, Any]:
    repo = provider.session.repo
    policy = provider.session.policy(provider.session.wanted())
    head, start = head_commit(repo), start_from(repo, policy)
    here, there = (find_record(repo, commit, ident) for commit in (head, start.commit))
    held = here or there
    if held is None:
        raise SidecarError(f"there is no record {ident!r}", "list the ids with 'sidecar list'")
    branch = f"knowledge/{verb}/{held.record.id}"
    told = {
        "format": 1,
        "code": FILE_BACKED,
        "id": held.record.id,
        "status": held.record.status,
        "path": held.path,
        "line": held.line(*keys, "id"),
        "commit": head if here else start.commit,
        "branch": branch,
        "repository": repo.name,
    }
    if not write:
        return {**told, "written": False, "message": _OFFER}
    made, _ = on_branch(repo, branch, start.commit if there else head, ident, edit, text)
    return {**told, "written": True, "edit": made, "message": _MADE, **publish(repo, policy, branch)}


def _subject(subject: str, reason: str = "", who: Proposer | None = None) -> Callable[[Filed], str]:
    asked = {"Asked-By": who.agent or "unknown", "Session": who.session, "Work": who.work} if who else {}

    def text(held: Filed) -> str:
        return message(subject.replace("{id}", held.record.id).replace("{title}", held.record.title), reason, asked)

    return text
