"""Candidate branches: the record files that an agent's branch adds or changes against the commit it left."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pygit2

from seed.git.repository import Repository
from seed.git.tree import is_record_path, list_files, subtree

MARK = "knowledge/candidate/"


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
    """Return the record files each candidate branch adds or changes against its merge base with ``head``."""
    return candidates_at(repo, head, branches(repo))


def candidates_at(repo: Repository, head: str, tips: Iterable[tuple[str, str]]) -> list[Candidate]:
    """Return the candidates of given (ref, commit) pairs, as they stood then."""
    found = []
    for ref, commit in tips:
        base = _merge_base(repo, commit, head)
        before = {e.path: e.blob for e in list_files(repo, subtree(repo, base))} if base else {}
        found += [
            Candidate(ref, commit, entry.path, entry.blob)
            for entry in list_files(repo, subtree(repo, commit))
            if is_record_path(entry.path) and before.get(entry.path) != entry.blob
        ]
    return found


def _merge_base(repo: Repository, one: str, other: str) -> str:
    """Return the merge base of two commits, or "" where there is none or this clone is too shallow to tell."""
    try:
        base = repo.git.merge_base(one, other) if one and other else None
    except (KeyError, ValueError, pygit2.GitError):
        return ""
    return str(base) if base else ""
