"""Candidate branches: the record files that an agent's branch adds or changes against the commit it left."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import pygit2

from seed.git.remote import merge_base
from seed.git.repository import Repository
from seed.git.tree import difference, is_record_path, subtree
from seed.git.write import PROPOSED_BY

MARK = "knowledge/candidate/"
_TRAILER = re.compile(rf"^{PROPOSED_BY}: ", re.MULTILINE)
_MAX_COMMITS = 100
"""A proposal is one commit, and one more for each time it was seen again after it was pushed."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate file: the branch it stands on, that branch's commit, path and blob."""

    ref: str
    commit: str
    path: str
    blob: str


def branches(repo: Repository) -> list[tuple[str, str]]:
    """Return (ref, commit) of every candidate branch; a local one wins over its remote twin."""
    found: dict[str, tuple[str, str]] = {}
    for raw in repo.git.raw_listall_references():
        ref = raw.decode("utf-8", "backslashreplace")
        local = ref.startswith("refs/heads/" + MARK)
        if not local and not (ref.startswith("refs/remotes/") and "/" + MARK in ref):
            continue
        name = ref.split(MARK, 1)[1]
        if local or name not in found:
            try:
                found[name] = (ref, str(repo.git.lookup_reference(ref).peel(pygit2.Commit).id))
            except (KeyError, ValueError, pygit2.GitError):
                continue  # a ref that is being deleted, or that names no commit, proposes nothing
    return sorted(found.values())


def candidates(repo: Repository, head: str) -> list[Candidate]:
    """Return the record files that each candidate branch adds or changes; ``head`` is the commit that answers."""
    return candidates_at(repo, head, branches(repo))


def candidates_at(repo: Repository, head: str, tips: Iterable[tuple[str, str]]) -> list[Candidate]:
    """Return the candidates of given (ref, commit) pairs, as they stood then."""
    found = []
    for ref, commit in tips:
        base = start_of(repo, commit) or merge_base(repo, commit, head)
        before = subtree(repo, base) if base else ""
        told = difference(repo, before, subtree(repo, commit))
        as_before = {(entry.path, entry.blob) for entry in told.gone}  # of another mode, which proposes nothing
        found += [
            Candidate(ref, commit, entry.path, entry.blob)
            for entry in told.new
            if is_record_path(entry.path) and (entry.path, entry.blob) not in as_before
        ]
    return found


def start_of(repo: Repository, commit: str) -> str:
    """Return the commit that a proposal was put on: the first one behind it without a proposal's trailer, or "".

    It is exact where the merge base is not: on a branch that lags behind the default branch, what that has accepted
    since would look like part of every proposal. "" for a branch that was not made by `sidecar propose`.
    """
    try:
        node = repo.git[commit].peel(pygit2.Commit)
        first = node
        for _ in range(_MAX_COMMITS):
            if not _TRAILER.search(node.message):
                return str(node.id) if node.id != first.id else ""
            if len(node.parents) != 1:
                return ""
            node = node.parents[0]
    except (KeyError, ValueError, pygit2.GitError):
        pass  # a shallow clone ends before the proposal begins
    return ""
