"""`sidecar hooks`: keep the store warm from Git's hooks, beside the hooks that are there already."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sidecar.cli.common import examples, json_option, print_json, repo_option

if TYPE_CHECKING:
    from sidecar.hooks.status import Status

INVALID = 65
"""Exit code of `hooks run pre-commit` for invalid records (EX_DATAERR of sysexits.h): hooks/sidecar-hook fails the
commit for this one only, since an interpreter or package that is broken ends in 1 as well."""


@click.group(epilog=examples("sidecar hooks install", "sidecar hooks status"))
def hooks() -> None:
    """Install, remove or look at the Git hooks that keep the store warm and check staged records."""


@hooks.command(epilog=examples("sidecar hooks install"))
@json_option
@repo_option
def install(as_json: bool, repo: str) -> None:
    """Make our hooks run beside yours; what is there already is kept and still runs."""
    from seed.git.repository import open_repository
    from sidecar.hooks.install import install as put

    put(open_repository(Path(repo)))
    _show(repo, as_json=as_json)


@hooks.command(epilog=examples("sidecar hooks uninstall"))
@json_option
@repo_option
def uninstall(as_json: bool, repo: str) -> None:
    """Take our hooks out again; yours are restored byte for byte."""
    from seed.git.repository import open_repository
    from sidecar.hooks.install import uninstall as take

    take(open_repository(Path(repo)))
    _show(repo, as_json=as_json)


@hooks.command(epilog=examples("sidecar hooks status --json"))
@json_option
@repo_option
def status(as_json: bool, repo: str) -> None:
    """Say for each hook which of ours and yours really fire, where, and why."""
    _show(repo, as_json=as_json)


@hooks.command(hidden=True, epilog=examples("sidecar hooks run post-commit"))
@click.argument("name")
@repo_option
def run(name: str, repo: str) -> int:
    """Do what a hook is for. Called by hooks/sidecar-hook."""
    if name != "pre-commit":
        from sidecar.hooks.run import warm

        warm(name, Path(repo))
        return 0
    from sidecar.cli import main

    code = main(["check", "--staged", "--repo", repo])
    return INVALID if code == 1 else code


def _show(repo: str, *, as_json: bool) -> None:
    from seed.git.repository import open_repository
    from sidecar.hooks.status import status as look

    found = look(open_repository(Path(repo)))
    if as_json:
        print_json(_as_json(found))
    else:
        print("\n".join(_lines(found)))


def _as_json(found: Status) -> dict[str, object]:
    folder = found.folder
    return {
        "format": 1,
        "folder": str(folder.path),
        "set_by": folder.set_by,
        "shared": folder.shared,
        "installed": bool(found.python),
        "python": found.python,
        "log": found.log,
        "obstacle": found.obstacle,
        "hooks": [asdict(hook) for hook in found.hooks],
        "notes": list(found.notes),
        "last": list(found.last),
    }


def _lines(found: Status) -> list[str]:
    lines = [
        f"Git runs hooks from {found.folder.path}" + (f", set by {found.folder.set_by}" if found.folder.set_by else "")
    ]
    lines += [f"  {hook.name:<14} {hook.fires:<7} {hook.reason}".rstrip() for hook in found.hooks]
    lines += [f"Note: {note}" for note in found.notes]
    lines += [f"Log: {line}" for line in found.last]
    return lines
