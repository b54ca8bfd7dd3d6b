"""Run the git command itself, for what libgit2 cannot do, without a hook's environment leaking in."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from seed.errors import SidecarError

# What Git exports to hooks and what would lead a call to another repository (decision-0009).
LEAKING = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
    "GIT_NAMESPACE",
    "GIT_QUARANTINE_PATH",
    "GIT_REFLOG_ACTION",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_CEILING_DIRECTORIES",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
)


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment for a git call: no hook variables, no prompts, English messages."""
    kept = {k: v for k, v in os.environ.items() if k not in LEAKING}
    return {**kept, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8", **(extra or {})}


def run_git(
    arguments: Sequence[str],
    cwd: Path,
    *,
    stdin: bytes = b"",
    check: bool = True,
    timeout: float = 60,
    extra: Mapping[str, str] | None = None,
    allowed: Sequence[int] = (0,),
) -> subprocess.CompletedProcess[bytes]:
    """Run ``git`` with a clean environment and ``extra`` variables.

    Raises `SidecarError` with git's own words, with ``check`` also for an exit code that is not ``allowed``.
    """
    try:
        done = subprocess.run(  # noqa: S603 - arguments are a list, no shell
            ["git", *arguments],  # noqa: S607 - git is found on the path, as users have it
            cwd=cwd,
            input=stdin,
            capture_output=True,
            env=clean_environment(extra),
            timeout=timeout,
            check=False,
        )
    except FileNotFoundError:
        raise SidecarError("git is not installed or not on the PATH", "install git and try again") from None
    except subprocess.TimeoutExpired:
        raise SidecarError(f"git {arguments[0]} took over {timeout:.0f} s", "run it by hand to see why") from None
    if check and done.returncode not in allowed:
        words = done.stderr.decode(errors="replace").strip().split("\n")[-1]
        raise SidecarError(f"git {' '.join(arguments[:2])} failed: {words}", "correct what git names and try again")
    return done
