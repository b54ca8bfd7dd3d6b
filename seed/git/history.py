"""Which commits touched a file: by libgit2 alone, so that a partial clone is never made to fetch."""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass
from datetime import UTC, datetime

import pygit2

from seed.git.repository import Repository, head_commit

_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Touch:
    """One commit that changed a file: id, author's date (ISO 8601, UTC), author's name, subject line."""

    commit: str
    date: str
    author: str
    subject: str


def history(
    repo: Repository, commit: str, path: str, limit: int = 10, seconds: float = _SECONDS
) -> tuple[tuple[Touch, ...], bool]:
    """Return (commits that changed ``path``, newest first; whether these are all of them).

    A parent with the same file is followed alone, as `git log` does; a file that was moved unchanged is followed
    to its old place. Ends at ``limit`` commits or after ``seconds``, and where a shallow clone ends.
    """
    end = time.monotonic() + seconds
    found: list[Touch] = []
    seen: set[tuple[str, str]] = set()
    waiting = [(0, commit, path)]
    while waiting:
        _, oid, at = heapq.heappop(waiting)
        if (oid, at) in seen:
            continue
        seen.add((oid, at))
        if len(found) >= limit or time.monotonic() >= end:
            return tuple(found), False
        try:
            node = repo.git[oid].peel(pygit2.Commit)
            parents = list(node.parents)
        except (KeyError, ValueError, pygit2.GitError):
            return tuple(found), False
        here = _blob(node, at)
        same = [parent for parent in parents if _blob(parent, at) == here]
        if not same and here:
            found.append(_touch(node))
        for parent in same[:1] or parents:
            before = at if _blob(parent, at) else _moved_from(parent, node, here)
            if before:
                heapq.heappush(waiting, (-parent.commit_time, str(parent.id), before))
    return tuple(found), True


def _blob(commit: pygit2.Commit, path: str) -> str:
    try:
        return str(commit.tree[path].id)
    except (KeyError, ValueError, pygit2.GitError):
        return ""


def _moved_from(before: pygit2.Commit, after: pygit2.Commit, blob: str) -> str:
    """Return the path that held the same bytes before and is gone after, or ""."""
    if not blob:
        return ""
    for delta in before.tree.diff_to_tree(after.tree, flags=pygit2.enums.DiffOption.SKIP_BINARY_CHECK).deltas:
        if delta.status == pygit2.enums.DeltaStatus.DELETED and str(delta.old_file.id) == blob:
            return str(delta.old_file.path)
    return ""


def _touch(commit: pygit2.Commit) -> Touch:
    author = commit.author
    when = datetime.fromtimestamp(author.time, UTC).isoformat(timespec="seconds")
    return Touch(str(commit.id), when, author.name, commit.message.strip().split("\n", 1)[0])


def first_commits(repo: Repository) -> frozenset[str]:
    """Return the commits without a parent that HEAD descends from; none in an empty repository."""
    head = head_commit(repo)
    if not head:
        return frozenset()
    return frozenset(str(one.id) for one in repo.git.walk(pygit2.Oid(hex=head)) if not one.parent_ids)
