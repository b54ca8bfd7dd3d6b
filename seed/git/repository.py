"""Open a repository as it really is: worktree, submodule, bare, shallow, detached or still without a commit."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pygit2

from seed.encodable import encodable
from seed.errors import SidecarError

KNOWLEDGE = "knowledge"


@dataclass(frozen=True, slots=True)
class Repository:
    """An open repository. ``common`` is the real path of git's common dir: worktrees of one clone share it."""

    git: pygit2.Repository
    common: Path
    root: Path
    name: str
    bare: bool


def open_repository(folder: Path) -> Repository:
    """Open the repository that holds ``folder``. Raises `SidecarError` saying what stands in the way."""
    if not folder.exists():
        raise SidecarError(f"{folder} does not exist", "name a folder inside a Git repository with --repo")
    if not os.access(folder, os.R_OK | os.X_OK if folder.is_dir() else os.R_OK):
        raise SidecarError(f"{folder} cannot be read: permission denied", "check the folder's permissions")
    try:
        # Unlike git itself, discovery by path never looks at GIT_DIR, which a hook may carry over.
        found = pygit2.discover_repository(str(folder.resolve()))
        if found is None:
            if any((part / ".git").exists() for part in (folder.resolve(), *folder.resolve().parents)):
                raise SidecarError(f"the .git of {folder} is no Git repository", "run 'git status' there to see why")
            raise SidecarError(f"{folder} is not in a Git repository", "run 'git init' there or name another --repo")
        git = pygit2.Repository(found)
    except pygit2.GitError as exc:
        raise _refused(folder, str(exc)) from None
    gitdir = Path(os.fsdecode(git.path))
    common = _common_dir(gitdir)
    root = Path(git.workdir).resolve() if git.workdir else common
    return Repository(git, common, root, _name(common), git.is_bare)


def _refused(folder: Path, reason: str) -> SidecarError:
    text = reason.lower()
    if "not owned" in text:
        return SidecarError(
            f"{folder} belongs to another user",
            f"git config --global --add safe.directory {folder.resolve()}",
        )
    if "objectformat" in text or "sha256" in text:
        return SidecarError(f"{folder} uses the SHA-256 object format, which libgit2 cannot read", "use a SHA-1 clone")
    if "reftable" in text or "refstorage" in text:
        return SidecarError(
            f"{folder} keeps its refs as reftable, which libgit2 cannot read", "git refs migrate --ref-format=files"
        )
    return SidecarError(f"{folder} cannot be opened as a Git repository: {reason}", "run 'git status' there to see why")


def _common_dir(gitdir: Path) -> Path:
    pointer = gitdir / "commondir"
    if pointer.is_file():
        return (gitdir / pointer.read_text(encoding="utf-8").strip()).resolve()
    return gitdir.resolve()


def _name(common: Path) -> str:
    folder = common.parent if common.name == ".git" else common
    return encodable(folder.name.removesuffix(".git")) or "repository"


def head_commit(repo: Repository) -> str:
    """Return the commit id of HEAD, or "" where there is no commit yet."""
    try:
        return "" if repo.git.head_is_unborn else str(repo.git.head.target)
    except pygit2.GitError as exc:
        raise SidecarError(f"HEAD cannot be read: {exc}", "run 'git fsck' to see what is damaged") from None


def resolve(repo: Repository, revision: str) -> str:
    """Return the commit id that ``revision`` names. Raises `SidecarError` when nothing bears that name."""
    try:
        found = repo.git.revparse_single(revision)
        return str(found.peel(pygit2.Commit).id)
    except (KeyError, ValueError, pygit2.GitError):
        raise SidecarError(
            f"no commit {revision!r} in {repo.name}", "name a branch, tag or commit that 'git log' shows"
        ) from None


def read_commit(repo: Repository, oid: str) -> pygit2.Commit:
    """Return a commit's object. Raises `SidecarError` where this clone lacks it."""
    try:
        return repo.git[oid].peel(pygit2.Commit)
    except (KeyError, ValueError, pygit2.GitError):
        raise SidecarError(f"commit {oid[:12]} is missing in this clone", f"git fetch origin {oid}") from None


def in_progress(repo: Repository) -> bool:
    """Tell whether a rebase, merge, cherry-pick, revert or bisect is under way."""
    gitdir = Path(os.fsdecode(repo.git.path))
    marks = ("rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "sequencer")
    return any((gitdir / mark).exists() for mark in marks)


def inside(repo: Repository, path: str) -> str:
    """Return an absolute path below the repository as its repository path; any other comes back as it is."""
    absolute = Path(path.strip())
    if not absolute.is_absolute():
        return path
    try:
        return absolute.resolve().relative_to(repo.root).as_posix()
    except (ValueError, OSError):
        return path


def stands(repo: Repository, path: str) -> bool:
    """Tell whether a repository path is a file or a folder below the root of the working tree now."""
    try:
        found = (repo.root / path.strip()).resolve()
        return repo.root in found.parents and found.exists()
    except (ValueError, OSError):  # a NUL, or a name that is too long
        return False
