"""Propose a record: a commit on a branch of its own, straight in the object database, for a reviewer to promote."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seed.edit import with_values
from seed.errors import SidecarError
from seed.git.candidates import MARK
from seed.git.remote import default_branch, on_remote, push, push_command, remote_name
from seed.git.repository import Repository, head_commit, read_commit
from seed.git.write import PROPOSED_BY, branch_commit, message, move_branch, write_commit
from seed.policy import Policy
from sidecar.draft import CANDIDATE, Draft, Proposer, as_written, draft, file_of, read_values
from sidecar.hints import hints_or_reason, twin_of
from sidecar.pending import Pending, pending

if TYPE_CHECKING:
    from sidecar.provider import Provider

FOLDER = "knowledge/candidates"
_TRIES = 200
"""Each failed try means that another writer got through, so this bounds how many may be at it at once."""


@dataclass(frozen=True, slots=True)
class Start:
    """The commit that a new branch starts from, and the name of where that is."""

    commit: str
    shown: str


def proposer(agent: str = "", session: str = "", work: str = "") -> Proposer:
    """Return who proposes; SIDECAR_AGENT, SIDECAR_SESSION and SIDECAR_WORK of the environment come first."""
    named = [os.environ.get(f"SIDECAR_{name}", "").strip() for name in ("AGENT", "SESSION", "WORK")]
    values = [env or given.strip() for env, given in zip(named, (agent, session, work), strict=True)]
    return Proposer(*(" ".join(value.split())[:200] for value in values))


def propose(
    provider: Provider,
    record: Mapping[str, object] | str | bytes,
    who: Proposer,
    *,
    onto: str = "",
    dry_run: bool = False,
    where: str = "record",
    budget: float = 2.0,
) -> dict[str, Any]:
    """Commit a record as a candidate on its own branch and say where, and what it is close to.

    ``onto="current"`` (or ``onto: current`` in the record) starts the branch at HEAD instead of the default branch;
    ``budget`` seconds bound the look at the store. Raises `SidecarError` for a record that breaks a rule, a secret in
    it, or a session that has proposed as much as policy lets it.
    """
    repo, now = provider.session.repo, provider.clock()
    policy = provider.session.policy(provider.session.wanted())
    given = dict(record) if isinstance(record, Mapping) else read_values(record, where)
    onto = str(given.pop("onto", "") or onto)
    text = b"" if isinstance(record, Mapping) else record.encode() if isinstance(record, str) else record
    made = as_written(draft(given, who, now.date()), text)
    start = start_from(repo, policy, onto)
    waiting = pending(repo)
    hints, warnings = hints_or_reason(provider, made.record, waiting, now, budget)
    told = _told(repo, start, hints, [*made.warnings, *warnings])
    if dry_run:
        return told | _place(made, "") | {"dry_run": True}
    for salt in range(1, _TRIES):
        twin = twin_of(made.record, waiting)
        written = _seen_again(repo, twin, made) if twin else _new(repo, policy, made, start, waiting)
        if written:
            return told | written | publish(repo, policy, written["branch"])
        waiting = pending(repo)
        if twin is None and twin_of(made.record, waiting) is None:
            made = as_written(draft(given, who, now.date(), salt=salt), text)  # the id is taken by something else
    raise SidecarError("too many proposals are written at once", "try again")


def start_from(repo: Repository, policy: Policy, onto: str = "") -> Start:
    """Return where a branch starts: the default branch, or HEAD for ``current``. Raises `SidecarError`."""
    if onto not in ("", "default", "current"):
        raise SidecarError(f"onto {onto!r} is not known", "use 'current' for HEAD, or leave it out")
    base = None if onto == "current" else default_branch(repo, policy.default_branch)
    if base is not None:
        return Start(base.commit, base.shown)
    head = head_commit(repo)
    if not head:
        raise SidecarError(f"{repo.name} has no commit yet", "make the first one: git commit --allow-empty -m start")
    return Start(head, "HEAD")


def _told(repo: Repository, start: Start, hints: list[dict[str, Any]], warnings: list[str]) -> dict[str, Any]:
    return {
        "format": 1,
        "status": CANDIDATE,
        "repository": repo.name,
        "base": {"ref": start.shown, "commit": start.commit},
        "write_hints": hints,
        "warnings": warnings,
    }


def _place(made: Draft, commit: str) -> dict[str, Any]:
    ident = made.record.id
    path = f"{FOLDER}/{ident}.yaml"
    return {"id": ident, "branch": MARK + ident, "commit": commit, "path": path, "seen_again": 0}


def _new(repo: Repository, policy: Policy, made: Draft, start: Start, waiting: Sequence[Pending]) -> dict[str, Any]:
    """Write the candidate on a new branch; returns where, or {} when a branch of that name is there already."""
    _within_limit(policy, made, waiting)
    place = _place(made, "")
    text = message(f"Propose {made.record.id}: {made.record.title}", trailers=trailers(made))
    commit = write_commit(repo, {place["path"]: made.data}, text, parents=[start.commit])
    return place | {"commit": commit} if move_branch(repo, place["branch"], commit, "", "propose") else {}


def trailers(made: Draft) -> dict[str, str]:
    """Return the commit trailers that keep who proposed a record."""
    by = made.record.proposed_by
    return {PROPOSED_BY: by.get("agent", "unknown"), "Session": by.get("session", ""), "Work": by.get("work", "")}


def _seen_again(repo: Repository, twin: Pending, made: Draft) -> dict[str, Any]:
    """Count a proposal on the pending candidate that says the same; returns where, or {} when that one just changed."""
    by = {key: value for key, value in made.record.proposed_by.items() if key != "claimed"}
    entry = {"date": str(made.values["date"]), **by}
    file_of({"seen_again": entry})
    seen = [*twin.seen_again, entry]
    commit = amend(repo, twin, with_values(twin.data, {"seen_again": seen}, after="proposed_by"), trailers(made))
    place = {"id": twin.record.id, "branch": twin.branch, "commit": commit, "path": twin.path}
    return {**place, "seen_again": len(seen)} if commit else {}


def amend(repo: Repository, one: Pending, data: bytes, trailer: Mapping[str, str], *, subject: str = "") -> str:
    """Replace a candidate's file; returns the new commit, or "" when the branch has moved since it was read.

    The commit is amended; one that a remote has already gets a commit on top, so that a push never needs force.
    """
    node = read_commit(repo, one.commit)
    remote = remote_name(repo)
    shared = bool(one.remote) or on_remote(repo, remote, one.branch) == one.commit
    text = message(subject or f"Propose {one.record.id} again", trailers=trailer) if shared else node.message
    parents = [one.commit] if shared else [str(parent) for parent in node.parent_ids]
    author = None if shared else node.author
    commit = write_commit(repo, {one.path: data}, text, parents=parents, tree_of=one.commit, author=author)
    return commit if move_branch(repo, one.branch, commit, "" if one.remote else one.commit, "amend") else ""


def _within_limit(policy: Policy, made: Draft, waiting: Sequence[Pending]) -> None:
    """Raise `SidecarError` when a session, or an agent without one on a day, has proposed as much as it may."""
    by = made.record.proposed_by
    session, agent = by.get("session", ""), by.get("agent", "unknown")
    if not session and agent == "unknown":
        return  # a person at a command line
    mine = [one for one in waiting if one.record.proposed_by.get("session", "") == session]
    if not session:
        mine = [
            one for one in mine if one.record.proposed_by.get("agent") == agent and one.record.date == made.record.date
        ]
    if len(mine) >= policy.per_session:
        who = f"session {session}" if session else f"{agent} today"
        raise SidecarError(
            f"{who} has {len(mine)} proposals waiting, as many as policy allows (candidates.per_session)",
            "have some reviewed, or withdraw one: sidecar candidates",
        )


def publish(repo: Repository, policy: Policy, branch: str) -> dict[str, Any]:
    """Push a branch if policy says so (``candidates.push: auto``); returns pushed, command, and a push's failure."""
    if policy.push == "never" or not branch_commit(repo, branch):
        return {"pushed": False, "command": ""}
    remote = remote_name(repo)
    if not remote:
        return {"pushed": False, "command": "", "push_note": "there is no remote to push to"}
    command = push_command(remote, branch)
    if policy.push == "ask":
        return {"pushed": False, "command": command}
    reason = push(repo, remote, branch)
    return {"pushed": False, "command": command, "push_note": reason} if reason else {"pushed": True, "command": ""}
