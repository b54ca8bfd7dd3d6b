"""Checks of the machine: Python, packages, git, SQLite, and the folder that everything is kept in."""

from __future__ import annotations

import locale
import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from seed.errors import SidecarError
from seed.git.command import LEAKING, run_git
from seed.store.paths import home
from sidecar.doctor.patient import Patient
from sidecar.doctor.table import Said
from sidecar.version import VERSION

_PYTHON, _GIT, _SQLITE = (3, 11), (2, 31), (3, 24)
"""Oldest that serve: Python as packaged; git with --path-format and --show-scope; SQLite with ON CONFLICT DO UPDATE."""
_LITTLE, _TOO_LITTLE = 500 << 20, 20 << 20
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def python(_: Patient) -> Iterator[Said]:
    """Tell the interpreter and whether it is new enough."""
    text = f"Python {sys.version.split()[0]} at {sys.executable}"
    if sys.version_info < _PYTHON:
        yield "critical", text, "install Python 3.11 or newer and the package into it"
    else:
        yield "ok", text, ""


def package(_: Patient) -> Iterator[Said]:
    """Tell the sidecar's version and where it runs from."""
    yield "ok", f"knowledge-sidecar {VERSION} from {Path(__file__).parents[2]}", ""


def dependencies(_: Patient) -> Iterator[Said]:
    """Tell which of the packages that ours needs are missing."""
    try:
        names = [_NAME.match(line) for line in requires("knowledge-sidecar") or () if "extra ==" not in line]
    except PackageNotFoundError:
        yield "info", "run from a checkout that is not installed", "python -m pip install -e ."
        return
    wanted = [match.group() for match in names if match]
    missing = [name for name in wanted if not _installed(name)]
    if missing:
        yield "critical", f"not installed: {', '.join(missing)}", f"python -m pip install {' '.join(missing)}"
    else:
        yield "ok", f"{len(wanted)} packages installed", ""


def _installed(name: str) -> bool:
    try:
        return bool(version(name))
    except PackageNotFoundError:
        return False


def git(_: Patient) -> Iterator[Said]:
    """Tell the version of git and whether it is new enough."""
    try:
        text = run_git(["--version"], Path.cwd()).stdout.decode(errors="replace").strip()
    except SidecarError as exc:
        yield "critical", exc.message, exc.fix
        return
    found = tuple(int(part) for part in re.findall(r"\d+", text)[:2])
    old = found < _GIT
    yield ("warning" if old else "ok"), text, "install git 2.31 or newer" if old else ""


def libgit2(_: Patient) -> Iterator[Said]:
    """Tell the version of the library that reads repositories."""
    import pygit2

    yield "ok", f"pygit2 {version('pygit2')} with libgit2 {pygit2.LIBGIT2_VERSION}", ""


def sqlite(_: Patient) -> Iterator[Said]:
    """Tell the version of SQLite and whether it is new enough."""
    old = sqlite3.sqlite_version_info < _SQLITE
    fix = "use a Python built with SQLite 3.24 or newer" if old else ""
    yield ("critical" if old else "ok"), f"SQLite {sqlite3.sqlite_version}", fix


def folder(_: Patient) -> Iterator[Said]:
    """Tell where stores, receipts and transcripts lie, and whether that can be written."""
    try:
        base = home()
    except SidecarError as exc:
        yield "critical", exc.message, exc.fix
        return
    above = next(part for part in (base, *base.parents) if part.exists())
    named = "SIDECAR_HOME" if os.environ.get("SIDECAR_HOME") else "the platform's folder for a user's data"
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        yield "critical", f"{base} ({named}) cannot be written", "set SIDECAR_HOME to a writable folder"
    else:
        yield "ok", f"{base} ({named})", ""


def disk(_: Patient) -> Iterator[Said]:
    """Tell how much room is left where everything is kept."""
    base = home()
    free = shutil.disk_usage(next(part for part in (base, *base.parents) if part.exists())).free
    text = f"{free >> 20} MiB free at {base}"
    if free < _LITTLE:
        fix = "free the disk, or run 'sidecar gc'"
        yield ("critical" if free < _TOO_LITTLE else "warning"), text, fix
    else:
        yield "ok", text, ""


def variables(_: Patient) -> Iterator[Said]:
    """Tell which variables of Git are set that would lead other tools to another repository; ours are not led."""
    found = [name for name in LEAKING if name in os.environ]
    if found:
        yield "info", f"set, and not followed: {', '.join(found)}", f"unset {' '.join(found)}"
    else:
        yield "ok", "no variable of Git leads to another repository", ""


def encoding(_: Patient) -> Iterator[Said]:
    """Tell in which encoding paths and text are written."""
    paths, text = sys.getfilesystemencoding(), locale.getpreferredencoding(do_setlocale=False)
    narrow = text.lower().replace("-", "") != "utf8"
    fix = "set PYTHONUTF8=1 to see every character" if narrow else ""
    yield ("info" if narrow else "ok"), f"paths in {paths}, text in {text}", fix
