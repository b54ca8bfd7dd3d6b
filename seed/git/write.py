"""Write commits straight into the object database: no checkout, index or working tree is read or touched.

A branch moves by compare-and-swap (`git update-ref REF NEW OLD`), so that of two writers at once neither is lost:
the one that comes second is told, and builds on what the first one wrote.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence

import pygit2

from seed.errors import SidecarError
from seed.git.command import run_git
from seed.git.repository import Repository

NOBODY = ("sidecar", "sidecar@localhost")
PROPOSED_BY = "Proposed-By"
_ABSENT = "0" * 40
_NO_FILES = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""Git's id of a tree that holds nothing."""
_IDENT = re.compile(r"(?P<name>.*?) ?<(?P<email>[^<>]*)> (?P<time>\d+) (?P<zone>[+-]\d{4})")
_BLOB, _EXECUTABLE, _TREE = 0o100644, 0o100755, 0o40000
_PAUSES = (0.0, 0.01, 0.05, 0.2, 0.5)
"""Seconds before each try while another process holds the lock of the same ref."""


def identity(repo: Repository, role: str = "COMMITTER") -> pygit2.Signature:
    """Return who git itself would write as ``role`` (AUTHOR or COMMITTER), with its time; without one, `NOBODY`."""
    done = run_git(["var", f"GIT_{role}_IDENT"], repo.root, check=False)
    match = _IDENT.fullmatch(done.stdout.decode("utf-8", "replace").strip())
    if done.returncode or match is None or not match["name"] or not match["email"]:
        return pygit2.Signature(*NOBODY)
    hours, minutes = int(match["zone"][:3]), int(match["zone"][0] + match["zone"][3:])
    return pygit2.Signature(match["name"], match["email"], int(match["time"]), hours * 60 + minutes)


def message(subject: str, body: str = "", trailers: Mapping[str, str] | None = None) -> str:
    """Return a commit message: subject line, body, and the trailers that have a value, each on one line."""
    lines = [f"{key}: {' '.join(value.split())}" for key, value in (trailers or {}).items() if value.strip()]
    parts = [" ".join(subject.split()), body.strip(), "\n".join(lines)]
    return "\n\n".join(part for part in parts if part) + "\n"


def write_commit(
    repo: Repository,
    files: Mapping[str, bytes | None],
    text: str,
    *,
    parents: Sequence[str],
    tree_of: str = "",
    author: pygit2.Signature | None = None,
) -> str:
    """Write a commit and return its id; no ref moves.

    ``files`` maps repository paths to bytes, or to None for a removal, on top of the tree of ``tree_of`` (the first
    parent unless named). A file that is there keeps its mode. Raises `SidecarError` where a path leads through a file.
    """
    start = tree_of or (parents[0] if parents else "")
    try:
        base = str(repo.git[start].peel(pygit2.Tree).id) if start else ""
        tree = _tree(repo, base, files)
        who = identity(repo)
        made = repo.git.create_commit(None, author or identity(repo, "AUTHOR"), who, text, tree, list(parents))
    except (KeyError, ValueError, OSError, pygit2.GitError) as exc:
        raise SidecarError(f"the commit cannot be written: {exc}", "run 'git fsck' to see what is damaged") from None
    return str(made)


def _tree(repo: Repository, base: str, files: Mapping[str, bytes | None], at: str = "") -> str:
    builder = repo.git.TreeBuilder(base) if base else repo.git.TreeBuilder()
    below: dict[str, dict[str, bytes | None]] = defaultdict(dict)
    for path, data in files.items():
        name, _, rest = path.partition("/")
        below[name][rest] = data
    for name, inside in below.items():
        entry = builder.get(name)
        mode = int(entry.filemode) if entry is not None else 0
        if "" in inside:
            _place(repo, builder, name, mode, inside[""], at)
        elif mode and mode != _TREE:
            raise SidecarError(f"{at}{name} is a file, so nothing can be written below it", "rename that file")
        else:
            child = _tree(repo, str(entry.id) if entry is not None else "", inside, f"{at}{name}/")
            if child != _NO_FILES:
                builder.insert(name, child, _TREE)
            elif mode:
                builder.remove(name)
    return str(builder.write())


def _place(repo: Repository, builder: pygit2.TreeBuilder, name: str, mode: int, data: bytes | None, at: str) -> None:
    if mode and mode not in (_BLOB, _EXECUTABLE):
        raise SidecarError(f"{at}{name} is no regular file", "put the record itself there, as a regular file")
    if data is not None:
        builder.insert(name, repo.git.create_blob(data), mode or _BLOB)
    elif mode:
        builder.remove(name)


def branch_commit(repo: Repository, branch: str) -> str:
    """Return the commit of a local branch, or "" where there is none."""
    try:
        return str(repo.git.lookup_reference("refs/heads/" + branch).peel(pygit2.Commit).id)
    except (KeyError, ValueError, pygit2.GitError):
        return ""


def move_branch(repo: Repository, branch: str, new: str, old: str, why: str) -> bool:
    """Move a local branch from ``old`` ("" creates it) to ``new`` ("" deletes it); False when it is not at ``old``.

    Raises `SidecarError` when the branch is checked out somewhere, since its files would lag behind, and when git
    refuses for another reason.
    """
    if old and checked_out(repo, branch):
        raise SidecarError(f"branch {branch} is checked out", "switch that worktree to another branch and try again")
    ref = "refs/heads/" + branch
    arguments = ["-d", ref, old] if not new else [ref, new, old or _ABSENT]
    words = ""
    for pause in _PAUSES:
        time.sleep(pause)
        done = run_git(["update-ref", "-m", f"sidecar: {why}", *arguments], repo.root, check=False)
        if done.returncode == 0:
            return True
        if branch_commit(repo, branch) != old:
            return False
        words = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
    raise SidecarError(f"branch {branch} cannot be written: {words}", "correct what git names and try again")


def checked_out(repo: Repository, branch: str) -> bool:
    """Tell whether any worktree has a local branch checked out."""
    try:
        return bool(repo.git.branches.local[branch].is_checked_out())
    except (KeyError, ValueError, pygit2.GitError):
        return False
