"""Promote candidates: one branch that moves each to its place and closes what it overturns, for a reviewer to merge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from seed.authoring import FIRST_STATUS, folder_of
from seed.edit import with_values
from seed.errors import SidecarError
from seed.git.remote import default_branch
from seed.git.repository import Repository, read_commit
from seed.git.write import branch_commit, message, move_branch, write_commit
from seed.lifecycle import overturns
from seed.reader import parse_record
from seed.record import STATUSES, TRUSTS, fits
from sidecar.edits import Filed, appended, must_check, records_at
from sidecar.pending import Pending, the
from sidecar.propose import FOLDER, start_from
from sidecar.pull_request import Request, open_request

if TYPE_CHECKING:
    from sidecar.provider import Provider

_CLOSES = {"supersedes": ("superseded", "superseded_by"), "refutes": ("refuted", "refuted_by")}

_GATE = "not run here: the recall gate runs on the pull request (sidecar eval QUESTIONS --gate GATES)"


@dataclass(slots=True)
class _Work:
    """The records of the base by folded id, the files that change, and what to say of it; filled step by step."""

    held: dict[str, Filed]
    files: dict[str, bytes | None] = field(default_factory=dict)
    records: list[dict[str, Any]] = field(default_factory=list)
    closed: list[dict[str, Any]] = field(default_factory=list)


def promote(
    provider: Provider,
    idents: Sequence[str],
    *,
    status: str = "",
    trust: str = "",
    onto: str = "",
    send: bool = True,
) -> dict[str, Any]:
    """Make one branch that promotes candidates, check it, and open a pull request or say what to type.

    Without ``status`` each gets the one its kind starts with (a fact or finding: unverified); trust stays as it is
    unless ``trust`` is named. Raises `SidecarError` for an unknown id, a status that does not fit, and with exit code 1
    when `check` would fail.
    """
    repo = provider.session.repo
    policy = provider.session.policy(provider.session.wanted())
    ones = list({one.record.id: one for one in (the(repo, ident) for ident in idents)}.values())
    if not ones:
        raise SidecarError("no candidate is named", "see 'sidecar candidates'")
    _known(ones, status, trust)
    start = start_from(repo, policy, onto)
    work = _Work({one.record.id.casefold(): one for one in records_at(repo, start.commit)})
    for one in ones:
        _move(work, one, status or FIRST_STATUS[one.record.kind], trust)
    for one in ones:
        _close(work, one)
    branch = f"knowledge/promote/{ones[0].record.id}" + (f"-and-{len(ones) - 1}-more" if len(ones) > 1 else "")
    text = _message(ones, work)
    commit = write_commit(repo, work.files, text, parents=[start.commit])
    must_check(repo, start.commit, commit)
    told = {"format": 1, "branch": branch, "commit": _placed(repo, branch, commit), "records": work.records,
            "closed": work.closed, "base": {"ref": start.shown, "commit": start.commit}, "check": "passed",
            "gate": _GATE}  # fmt: skip
    subject, _, body = text.partition("\n")
    base = None if onto == "current" else default_branch(repo, policy.default_branch)
    request = Request(branch, base, subject, body.strip())
    return told | open_request(repo, request, send=send and policy.push != "never")


def _known(ones: Sequence[Pending], status: str, trust: str) -> None:
    if status and (status not in STATUSES or status in ("candidate", "unknown")):
        raise SidecarError(f"status {status!r} is none to promote to", f"use one of {', '.join(STATUSES)}")
    if trust and trust not in TRUSTS:
        raise SidecarError(f"trust {trust!r} is not known", f"use one of {', '.join(TRUSTS)}")
    for one in ones:
        if status and not fits(status, one.record.kind):
            raise SidecarError(f"{one.record.id} is a {one.record.kind} and cannot be {status}", "promote it alone")


def _move(work: _Work, one: Pending, status: str, trust: str) -> None:
    record = one.record
    if record.id.casefold() in work.held and work.held[record.id.casefold()].path != one.path:
        raise SidecarError(f"{record.id} is in the default branch already", f"sidecar withdraw {record.id}")
    changes = {"status": status, **({"trust": trust} if trust else {})}
    data = with_values(one.data, changes)
    path = f"{_home(work, record.kind)}/{record.id}.yaml" if one.path.startswith(FOLDER + "/") else one.path
    if path != one.path and record.id.casefold() in work.held:
        work.files[one.path] = None  # the candidate's branch itself was merged
    _put(work, path, data)
    told = {"id": record.id, "path": path, "status": status, "trust": trust or record.trust}
    raised = {"raised": f"trust {record.trust} -> {trust}"} if trust and trust != record.trust else {}
    work.records.append({**told, **raised})


def _put(work: _Work, path: str, data: bytes) -> None:
    record = parse_record(data).record
    if record is None:
        raise SidecarError(f"{path} would not be readable any more", "edit the candidate's branch by hand")
    work.files[path] = data
    work.held[record.id.casefold()] = Filed(path, data, record)


def _home(work: _Work, kind: str) -> str:
    """Return the folder where the base keeps most records of a kind, else the usual one."""
    folders = Counter(
        one.path.rsplit("/", 1)[0]
        for one in work.held.values()
        if one.record.kind == kind and not one.path.startswith(FOLDER + "/")
    )
    return min(folders, key=lambda folder: (-folders[folder], folder)) if folders else folder_of(kind)


def _close(work: _Work, one: Pending) -> None:
    """Write into each record that this one overturns what overturned it."""
    actor = work.held[one.record.id.casefold()].record
    for relation, (status, key) in _CLOSES.items():
        for target in actor.related(relation):
            held = work.held.get(target.casefold())
            if held is None or not overturns(relation, actor.status, held.record.status):
                continue  # one that is not there, or that this status does not overturn: check says so
            by = appended(held.record.related(key), actor.id)
            changes: Mapping[str, object] = {"status": status, key: by}
            if held.record.status == "refuted":  # refuted is stronger than superseded and stays
                changes = {key: by}
            _put(work, held.path, with_values(held.data, changes))
            work.closed.append({"id": held.record.id, "path": held.path, "status": changes.get("status", "refuted")})


def _message(ones: Sequence[Pending], work: _Work) -> str:
    first = ones[0].record
    more = f" and {len(ones) - 1} more" if len(ones) > 1 else ""
    lines = [f"- {told['id']} ({told['status']}, trust {told['trust']})"
             + (f": {told['raised']}" if "raised" in told else "") for told in work.records]  # fmt: skip
    lines += [f"- closes {told['id']} ({told['status']})" for told in work.closed]
    body = "\n".join(lines)
    return message(f"Promote {first.id}: {first.title}{more}", body, {"Candidate": " ".join(o.commit for o in ones)})


def _placed(repo: Repository, branch: str, commit: str) -> str:
    """Put a branch on a commit; one that says the same already stays, so that promoting twice is no error."""
    if move_branch(repo, branch, commit, "", "promote"):
        return commit
    there = branch_commit(repo, branch)
    mine, theirs = (read_commit(repo, oid) for oid in (commit, there))
    if mine.tree_id == theirs.tree_id and mine.parent_ids == theirs.parent_ids:
        return there
    raise SidecarError(f"branch {branch} is there already and differs", f"git branch -D {branch}")
