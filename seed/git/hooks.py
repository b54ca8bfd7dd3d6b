"""What Git itself says of hooks: the folder it runs them from, who set that, and what this clone keeps about ours."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from seed.errors import SidecarError
from seed.git.command import run_git
from seed.git.repository import KNOWLEDGE, Repository

SECTION = "sidecar.hooks"
"""A section of .git/config, which no clone or pull carries over: hooks act only where it stands."""
CANDIDATES = ("refs/heads/knowledge/candidate/**", "refs/remotes/*/knowledge/candidate/**")


@dataclass(frozen=True, slots=True)
class HooksFolder:
    """Where Git looks for hooks.

    ``set_by`` is "" for the default; ``shared`` says that other repositories use it too; ``off`` is why Git runs no
    hooks at all, or "".
    """

    path: Path
    set_by: str
    shared: bool
    off: str


def git_folder(repo: Repository) -> Path:
    """Return the absolute git directory of this worktree."""
    return Path(os.fsdecode(repo.git.path)).resolve()


def _git(repo: Repository, *arguments: str, check: bool = True) -> str:
    done = run_git([f"--git-dir={git_folder(repo)}", *arguments], repo.root, check=check)
    return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def hooks_folder(repo: Repository) -> HooksFolder:
    """Ask Git for the folder its hooks run from; core.hooksPath of every scope and a relative one are honoured."""
    scope, _, value = _git(repo, "config", "--show-scope", "--get", "core.hooksPath", check=False).partition("\t")
    path = repo.root / _git(repo, "rev-parse", "--git-path", "hooks")
    set_by = f"core.hooksPath ({scope})" if scope else ""
    off = ""
    if repo.bare:
        off = f"{repo.root} is bare: nothing is committed or checked out there"
    elif scope and (not value or (path.exists() and not path.is_dir())):
        off = f"{set_by} is {value or 'empty'!r}, which is no folder"
    inside = any(path.resolve().is_relative_to(folder) for folder in (repo.common, repo.root))
    return HooksFolder(path, set_by, not inside, off)


def is_ignored(repo: Repository, path: Path) -> bool:
    """Tell whether Git leaves a path of the working tree out of what may be committed."""
    return (
        run_git([f"--git-dir={git_folder(repo)}", "check-ignore", "-q", str(path)], repo.root, check=False).returncode
        == 0
    )


def setting(repo: Repository, name: str) -> str:
    """Return one of this clone's own settings for hooks, or ""."""
    return _git(repo, "config", "--local", "--get", f"{SECTION}.{name}", check=False)


def save_setting(repo: Repository, name: str, value: str) -> None:
    """Keep a setting in this clone's configuration. Raises `SidecarError` when Git cannot write it."""
    if setting(repo, name) != value:
        _git(repo, "config", "--local", f"{SECTION}.{name}", value)


def forget_settings(repo: Repository) -> None:
    """Take the section out of this clone's configuration."""
    _git(repo, "config", "--local", "--remove-section", SECTION, check=False)


def worktree_folders(common: Path) -> list[Path]:
    """Return the git directories of a clone: its own and one for each linked worktree."""
    return [common, *sorted(common.glob("worktrees/*"))]


def state(folder: Path, commit: str) -> str:
    """Return the knowledge tree of a commit and the candidate branches, as hooks/sidecar-hook prints them."""
    git = f"--git-dir={folder}"
    tree = run_git([git, "rev-parse", "-q", "--verify", f"{commit}:{KNOWLEDGE}"], folder, check=False).stdout
    refs = run_git([git, "for-each-ref", "--format=%(objectname) %(refname)", *CANDIDATES], folder).stdout
    return (tree + refs).decode("utf-8", "surrogateescape").rstrip("\n")


def require_hooks(folder: HooksFolder) -> None:
    """Raise `SidecarError` where Git runs no hooks, or from a folder nobody has made yet, with what would change that.

    A folder that somebody's configuration names is theirs to make: it may serve every repository of the user, or be
    committed.
    """
    if folder.off:
        fix = "git config --unset core.hooksPath, in the file that sets it"
        raise SidecarError(
            f"no hook can fire: {folder.off}", fix if folder.set_by else "run 'sidecar seed' after a push"
        )
    if folder.set_by and not folder.path.exists():
        raise SidecarError(
            f"{folder.set_by} is {folder.path}, which is not there",
            f"make it if hooks shall live there: mkdir -p {folder.path}; else: git config --unset core.hooksPath",
        )
