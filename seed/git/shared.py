"""A name for a repository that is the same on every machine, where its clones are to share one place."""

from __future__ import annotations

import re

from seed.git.command import run_git
from seed.git.repository import Repository, head_commit

SETTING = "sidecar.repository"
"""The setting of git that names a repository outright: for mirrors, or clones whose remotes differ."""
_SCHEME = re.compile(r"(?:ssh|https?|git|git\+ssh|ssh\+git)://(?:[^@/]*@)?([^/:]+)(?::\d+)?/+(.+)", re.IGNORECASE)
_SCP = re.compile(r"(?:[^@/:]+@)?([^/:@]{2,}):(?!//)/*(.+)")
_LONGEST = 300


def shared_name(repo: Repository) -> str:
    """Return the name: what git's own setting says, else where ``origin`` lies, else the first commit.

    A fork has another origin and so a name of its own; a clone over ssh and one over https have the same. Only a
    clone without a remote on another machine is known by its first commit.
    """
    config = repo.git.config
    if SETTING in config and (named := str(config[SETTING]).strip()):
        return named[:_LONGEST]
    return from_url(_origin(repo))[:_LONGEST] or f"commit/{_root(repo) or 'none'}/{repo.name}"


def from_url(url: str) -> str:
    """Return ``host/path`` of a remote, without user, port, credentials and ``.git``; "" for a path of this machine."""
    found = _SCHEME.fullmatch(url.strip()) or ("://" not in url and _SCP.fullmatch(url.strip()))
    if not found:
        return ""
    host, path = found.group(1).lower(), found.group(2).strip("/").removesuffix(".git").strip("/")
    return f"{host}/{path}" if path else ""


def _origin(repo: Repository) -> str:
    """Return the URL that is fetched from: of ``origin``, else of the only remote."""
    names = [name for name in repo.git.remotes.names() if name]
    name = "origin" if "origin" in names else names[0] if len(names) == 1 else ""
    key = f"remote.{name}.url"
    config = repo.git.config
    return str(config[key]) if name and key in config else ""  # as written: no rewriting by this machine's settings


def _root(repo: Repository) -> str:
    if not head_commit(repo):
        return ""
    done = run_git(["rev-list", "--first-parent", "--max-parents=0", "HEAD"], repo.root, check=False)
    return done.stdout.decode(errors="replace").strip().split("\n")[0] if done.returncode == 0 else ""
