"""List the candidates that wait for a reviewer, and end one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from seed import blobs
from seed.errors import SidecarError
from seed.git.remote import default_branch, on_remote, push_command, remote_name
from seed.git.tree import subtree
from seed.git.write import branch_commit, move_branch
from seed.policy import Policy
from sidecar.pending import Pending, committed, pending, the
from sidecar.query import Query
from sidecar.quote import one_line

if TYPE_CHECKING:
    from sidecar.provider import Provider
    from sidecar.session import View

_NEAREST = 3


def listing(provider: Provider, *, budget: float = 2.0, nearest: bool = True) -> dict[str, Any]:
    """Return every candidate, local and remote, oldest first, with age, author and the nearest records in force.

    ``state`` is ``waiting``, or ``merged`` when the default branch has a record of that id. Without ``nearest`` no
    record is looked up, and no model is loaded.
    """
    repo, now = provider.session.repo, provider.clock().astimezone(UTC)
    policy = provider.session.policy(provider.session.wanted())
    base, remote = default_branch(repo, policy.default_branch), remote_name(repo)
    view, note = _view(provider, budget) if nearest else (None, "")
    waiting, found = pending(repo), []
    accepted = _ids(provider, subtree(repo, base.commit), policy) if base and waiting else frozenset()
    for one in waiting:
        author, when = committed(repo, one.commit)
        places = [] if one.remote else ["local"]
        if one.remote or on_remote(repo, remote, one.branch):
            places.append(one.remote or remote)
        found.append({
            "id": one.record.id,
            "kind": one.record.kind,
            "title": one_line(one.record.title),
            "state": "merged" if one.record.id.casefold() in accepted else "waiting",
            "date": when.isoformat(timespec="seconds"),
            "age_days": max((now - when).days, 0),
            "author": one_line(author, 80),
            "proposed_by": {key: one_line(value, 120) for key, value in one.record.proposed_by.items()},
            "seen_again": len(one.seen_again),
            "branch": one.branch,
            "commit": one.commit,
            "path": one.path,
            "places": places,
            "nearest": _nearest(provider, one, view, now) if view else [],
        })  # fmt: skip
    found.sort(key=lambda entry: (entry["date"], entry["id"]))
    return {"format": 1, "repository": repo.name, "candidates": found} | ({"note": note} if note else {})


def _ids(provider: Provider, tree: str, policy: Policy) -> frozenset[str]:
    session = provider.session
    read = blobs.records(session.repo, session.store, tree, policy)
    return frozenset(record.id.casefold() for _, record in read if record is not None)


def _view(provider: Provider, budget: float) -> tuple[View | None, str]:
    try:
        return provider.session.view(budget=budget), ""
    except SidecarError as exc:
        return None, f"the nearest records could not be looked up: {exc.message}"


def _nearest(provider: Provider, one: Pending, view: View, now: datetime) -> list[dict[str, str]]:
    answer, _ = provider.answer(Query(one.record.title, limit=_NEAREST), view, now)
    return [{"id": entry["id"], "title": entry["title"], "status": entry["status"]} for entry in answer["results"]]


def withdraw(provider: Provider, ident: str, reason: str = "") -> dict[str, Any]:
    """Delete a candidate's local branch and say how to delete the remote one, and how to get it back.

    Raises `SidecarError` when there is no such candidate or its branch is checked out.
    """
    repo = provider.session.repo
    one = the(repo, ident)
    local = branch_commit(repo, one.branch)
    if local and not move_branch(repo, one.branch, "", local, f"withdraw {' '.join(reason.split())}"):
        raise SidecarError(f"branch {one.branch} has just changed", f"look at it, then: sidecar withdraw {ident}")
    remote = one.remote or remote_name(repo)
    there = on_remote(repo, remote, one.branch)
    return {
        "format": 1,
        "id": one.record.id,
        "branch": one.branch,
        "commit": local or one.commit,
        "withdrawn": bool(local),
        "command": push_command(remote, one.branch, delete=True) if there else "",
        "restore": f"git branch {one.branch} {local or one.commit}",
        "repository": repo.name,
    }
