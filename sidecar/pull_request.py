"""Open a pull request with the tool that is there, or say exactly what to type. Nothing here merges."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from typing import Any

from seed.git.command import clean_environment
from seed.git.remote import Branch, push, push_command, remote_name, remote_url, without_credentials
from seed.git.repository import Repository

_SECONDS = 60.0
_ADDRESS = re.compile(
    r"(?:https?://|ssh://)?(?:[^@/]*@)?(?P<host>[^/:]+\.[^/:]+)(?::\d+/|[/:])(?P<path>.+?)(?:\.git)?/?$"
)


@dataclass(frozen=True, slots=True)
class Request:
    """A pull request to open: the branch, where it goes, and what it says."""

    branch: str
    base: Branch | None
    title: str
    body: str


def tool_for(url: str) -> str:
    """Return the installed tool that opens pull requests at a remote: gh, glab, or ""."""
    found = [name for name in ("gh", "glab") if shutil.which(name)]
    for mark, name in (("github", "gh"), ("gitlab", "glab")):
        if mark in url.casefold():
            return name if name in found else ""
    # A host of one's own says nothing by its name; the only tool that is installed will know.
    return found[0] if len(found) == 1 and _ADDRESS.match(url) else ""


def open_request(repo: Repository, request: Request, *, send: bool = True) -> dict[str, Any]:
    """Push and open a pull request. Returns ``{pushed, pull_request, commands, note}``; never raises, never merges.

    ``commands`` are what is left to type, empty when the pull request is open.
    """
    remote = remote_name(repo)
    if not remote:
        into = request.base.name if request.base else "the default branch"
        commands = [f"git switch {into}", f"git merge --no-ff {request.branch}"]
        return _told(commands, "there is no remote: a reviewer merges the branch here")
    tool = tool_for(remote_url(repo, remote))
    if not send or not tool:
        note = "not sent, as asked" if not send else "no gh or glab for this remote: type the commands"
        return _told(_commands(repo, remote, tool, request), note)
    if reason := push(repo, remote, request.branch):
        return _told(_commands(repo, remote, tool, request), f"the push did not arrive: {reason}")
    address, reason = _create(repo, tool, request)
    left = _commands(repo, remote, tool, request)[1:] if reason else []
    note = f"pushed, but {tool} did not open the pull request: {reason}" if reason else ""
    return {"pushed": True, "pull_request": address, "commands": left, "note": note}


def _told(commands: list[str], note: str) -> dict[str, Any]:
    return {"pushed": False, "pull_request": "", "commands": commands, "note": note}


def _commands(repo: Repository, remote: str, tool: str, request: Request) -> list[str]:
    base = request.base.name if request.base else ""
    into, title = (shlex.quote(base) if base else "main"), shlex.quote(request.title)
    first = push_command(remote, request.branch)
    url = remote_url(repo, remote)
    if tool == "gh" or (not tool and "github" in url):
        return [first, f"gh pr create --head {request.branch} --base {into} --title {title} --body ''"]
    if tool == "glab" or (not tool and "gitlab" in url):
        return [first, f"glab mr create --source-branch {request.branch} --target-branch {into} --title {title} --yes"]
    return [first]


def _arguments(tool: str, request: Request) -> list[str]:
    base = request.base.name if request.base else ""
    if tool == "gh":
        into = ["--base", base] if base else []
        return ["gh", "pr", "create", "--head", request.branch, *into, "--title", request.title, "--body", request.body]
    into = ["--target-branch", base] if base else []
    return ["glab", "mr", "create", "--source-branch", request.branch, *into, "--title", request.title,
            "--description", request.body, "--yes"]  # fmt: skip


def _create(repo: Repository, tool: str, request: Request) -> tuple[str, str]:
    """Return (address of the pull request, "") or ("", why there is none)."""
    environment = clean_environment({"GH_PROMPT_DISABLED": "1", "NO_PROMPT": "1", "NO_COLOR": "1"})
    try:
        done = subprocess.run(  # noqa: S603 - arguments are a list, no shell; the tool is the user's own
            _arguments(tool, request), cwd=os.fspath(repo.root), capture_output=True, stdin=subprocess.DEVNULL,
            timeout=_SECONDS, check=False, env=environment,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as exc:
        return "", without_credentials(str(exc))
    out, err = (part.decode("utf-8", "replace").strip() for part in (done.stdout, done.stderr))
    if done.returncode:
        return "", without_credentials((err or out or f"exit code {done.returncode}").split("\n")[0])
    found = re.search(r"https?://\S+", out) or re.search(r"https?://\S+", err)
    return (found.group() if found else out.split("\n")[-1]), ""
