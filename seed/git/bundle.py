"""Candidate branches as a git bundle: what no remote has, in one file that any clone can fetch from."""

from __future__ import annotations

from pathlib import Path

from seed.git.candidates import MARK
from seed.git.command import run_git
from seed.git.repository import Repository

_BRANCHES = f"refs/heads/{MARK}"


def write_bundle(repo: Repository, file: Path) -> int:
    """Write the local candidate branches that hold anything a remote lacks. Returns how many; without any, no file.

    Commits that a remote has are left out: the clone that reads the bundle must have fetched them. Raises
    `SidecarError` when git cannot write it.
    """
    arguments = ["for-each-ref", "--format=%(refname)", _BRANCHES]
    names = run_git(arguments, repo.root).stdout.decode("utf-8", "surrogateescape").split()
    alone = [name for name in names if run_git(["rev-list", "-n1", name, "--not", "--remotes"], repo.root).stdout]
    if alone:
        run_git(["bundle", "create", "-q", str(file), *alone, "--not", "--remotes"], repo.root)
    return len(alone)


def read_bundle(repo: Repository, file: Path) -> tuple[int, list[str]]:
    """Fetch candidate branches from a bundle. Returns (how many came or moved forward, those that went another way).

    A branch is never forced: one that has other commits here stays as it is and is named. Raises `SidecarError` when
    the bundle cannot be read, or builds on commits that this clone lacks.
    """
    run_git(["bundle", "verify", "-q", str(file)], repo.root)
    listed = run_git(["bundle", "list-heads", str(file)], repo.root).stdout.decode("utf-8", "surrogateescape")
    heads = [line.partition(" ")[::2] for line in listed.split("\n") if f" {_BRANCHES}" in line]
    before = {name: _tip(repo, name) for _, name in heads}
    spec = f"{_BRANCHES}*:{_BRANCHES}*"
    run_git(["fetch", "-q", "--no-tags", "--no-write-fetch-head", str(file), spec], repo.root, check=False)
    came = [name for _, name in heads if _tip(repo, name) != before[name]]
    return len(came), [name for commit, name in heads if not _holds(repo, name, commit)]


def _tip(repo: Repository, name: str) -> str:
    return run_git(["rev-parse", "-q", "--verify", name], repo.root, check=False).stdout.decode().strip()


def _holds(repo: Repository, name: str, commit: str) -> bool:
    return run_git(["merge-base", "--is-ancestor", commit, name], repo.root, check=False).returncode == 0
