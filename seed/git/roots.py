"""Where a history begins: two clones of one project share it, whatever their folders are called."""

from __future__ import annotations

import pygit2

from seed.git.repository import Repository, head_commit


def first_commits(repo: Repository) -> frozenset[str]:
    """Return the commits without a parent that HEAD descends from; none in an empty repository."""
    head = head_commit(repo)
    if not head:
        return frozenset()
    return frozenset(str(one.id) for one in repo.git.walk(pygit2.Oid(hex=head)) if not one.parent_ids)
