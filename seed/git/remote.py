"""The default branch, the remote, and pushing to it. Nothing here reaches a network unless it is asked to push."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pygit2

from seed.errors import SidecarError
from seed.git.command import run_git
from seed.git.repository import Repository

_USUAL = ("main", "master")
_CREDENTIALS = re.compile(r"://[^/@\s]+@")
_PUSH_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch as this clone knows it: full ref, the name to show (``origin/main``), its own name, and commit."""

    ref: str
    shown: str
    name: str
    commit: str


def remote_name(repo: Repository) -> str:
    """Return the remote to push to: remote.pushDefault, origin, else the only one; "" without a choice."""
    names = [name for name in repo.git.remotes.names() if name]
    config = repo.git.config
    configured = config["remote.pushDefault"] if "remote.pushDefault" in config else ""  # noqa: SIM401 - it has no get
    for name in (configured, "origin"):
        if name in names:
            return name
    return names[0] if len(names) == 1 else ""


def remote_url(repo: Repository, remote: str) -> str:
    """Return the URL that a push to a remote goes to, without credentials; "" where it is not known."""
    if not remote:
        return ""
    done = run_git(["remote", "get-url", "--push", remote], repo.root, check=False)
    return without_credentials(done.stdout.decode("utf-8", "replace").strip()) if done.returncode == 0 else ""


def without_credentials(text: str) -> str:
    """Return text with the user and password of every URL left out."""
    return _CREDENTIALS.sub("://", text)


def default_branch(repo: Repository, configured: str = "") -> Branch | None:
    """Return the branch that decisions are merged into, as far as this clone knows it, or None.

    In this order: the one that policy names, the remote's HEAD, main or master; each as the remote has it (when last
    fetched) before a local one. Without any of these there is none, and nothing is guessed from HEAD.
    """
    remote = remote_name(repo)
    for name in (configured, _remote_head(repo, remote), *_USUAL):
        if name and (found := _named(repo, remote, name)):
            return found
    return None


def _remote_head(repo: Repository, remote: str) -> str:
    prefix = f"refs/remotes/{remote}/"
    try:
        target = repo.git.references[prefix + "HEAD"].raw_target if remote else ""
    except (KeyError, ValueError, pygit2.GitError):
        return ""
    text = target.decode("utf-8", "replace") if isinstance(target, bytes) else str(target)
    return text.removeprefix(prefix) if text.startswith(prefix) else ""


def _named(repo: Repository, remote: str, name: str) -> Branch | None:
    places = [(f"refs/remotes/{remote}/{name}", f"{remote}/{name}")] if remote else []
    for ref, shown in (*places, (f"refs/heads/{name}", name)):
        try:
            commit = repo.git.lookup_reference(ref).peel(pygit2.Commit)
        except (KeyError, ValueError, pygit2.GitError):
            continue
        return Branch(ref, shown, name, str(commit.id))
    return None


def merge_base(repo: Repository, one: str, other: str) -> str:
    """Return the merge base of two commits, or "" where there is none or this clone is too shallow to tell."""
    try:
        base = repo.git.merge_base(one, other) if one and other else None
    except (KeyError, ValueError, pygit2.GitError):
        return ""
    return str(base) if base else ""


def on_remote(repo: Repository, remote: str, branch: str) -> str:
    """Return the commit that a remote has of a branch, as last fetched or pushed, or ""."""
    found = _named(repo, remote, branch) if remote else None
    return found.commit if found and found.ref.startswith("refs/remotes/") else ""


def push_command(remote: str, branch: str, *, delete: bool = False) -> str:
    """Return the command that pushes (or deletes) a branch, ready to be typed."""
    return f"git push {remote or 'origin'} {'--delete ' if delete else ''}{branch}"


def push(repo: Repository, remote: str, branch: str) -> str:
    """Push a local branch to a remote under the same name. Returns "", or why it did not arrive; never forces."""
    if not remote:
        return "there is no remote to push to"
    ref = f"refs/heads/{branch}"
    try:
        done = run_git(["push", "--porcelain", remote, f"{ref}:{ref}"], repo.root, check=False, timeout=_PUSH_SECONDS)
    except SidecarError as exc:
        return exc.message
    if done.returncode == 0:
        return ""
    lines = [line for line in (done.stderr or done.stdout).decode("utf-8", "replace").split("\n") if line.strip()]
    telling = [line for line in lines if not line.startswith(("hint:", "To "))]
    return without_credentials((telling or lines or ["git push failed"])[0].strip())
