"""Put our hooks into the folder Git runs them from, and take them out again: the I/O around `sidecar.hooks.plan`."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from seed.errors import SidecarError
from seed.git import hooks as git_hooks
from seed.git.hooks import HooksFolder, hooks_folder
from seed.git.repository import Repository
from seed.store.paths import store_folder
from sidecar.hooks import NAMES, SCRIPT, log, shim
from sidecar.hooks.plan import Found, Place, Step, install_steps, uninstall_steps

THEIRS = "sidecar-theirs"
USERS = "sidecar-repositories"
"""In a folder that several repositories share: the common dirs of those that installed, one a line."""
MARKS = ("sidecar-pending", "sidecar-seeded")


def look(path: Path) -> Found:
    """Return what stands at a path; a link is not followed for its content."""
    if not os.path.lexists(path):
        return Found()
    link = path.is_symlink()
    content = path.read_bytes() if path.is_file() else b""
    return Found(content, os.access(path, os.X_OK) and path.is_file(), link)


def places(folder: Path) -> list[Place]:
    """Return what stands at each of our hooks' paths."""
    return [Place(n, look(folder / n), look(folder / THEIRS / n), look(folder / f"{n}.legacy")) for n in NAMES]


def install(repo: Repository) -> HooksFolder:
    """Make our hooks run beside whatever is there; a second time it changes nothing. Raises `SidecarError`."""
    folder = hooks_folder(repo)
    git_hooks.require_hooks(folder)
    steps = [step for place in places(folder.path) for step in install_steps(place, shim(place.name))]
    if look(folder.path / SCRIPT) != Found(shim(SCRIPT), executable=True):
        steps.insert(0, Step("write", SCRIPT, shim(SCRIPT)))
    git_hooks.save_setting(repo, "python", sys.executable)
    git_hooks.save_setting(repo, "log", str(store_folder(repo.name, repo.common) / log.NAME))
    with _named(folder.path):
        _apply(folder.path, steps)
        if folder.shared:
            _note_users(folder.path, lambda users: [*users, str(repo.common)])
    return folder


def uninstall(repo: Repository) -> HooksFolder:
    """Restore the folder byte for byte; lines that other repositories still use stay. Raises `SidecarError`."""
    folder = hooks_folder(repo)
    steps = [step for place in places(folder.path) for step in uninstall_steps(place)]
    git_hooks.forget_settings(repo)
    with _named(folder.path):
        for gitdir in git_hooks.worktree_folders(repo.common):
            for mark in MARKS:
                (gitdir / mark).unlink(missing_ok=True)
        others = folder.shared and _note_users(folder.path, lambda users: [u for u in users if u != str(repo.common)])
        if not others:
            _apply(folder.path, [*steps, Step("remove", SCRIPT)])
    return folder


@contextmanager
def _named(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        raise SidecarError(
            f"{exc.filename or folder} cannot be changed: {exc.strerror}", "make it writable and try again"
        ) from None


def _note_users(folder: Path, change: Callable[[list[str]], Iterable[str]]) -> list[str]:
    """Rewrite who uses a shared folder, less clones that are gone. Returns who is left."""
    path = folder / USERS
    before = path.read_text(encoding="utf-8", errors="surrogateescape").split("\n") if path.exists() else []
    after = [user for user in dict.fromkeys(change(before)) if user and Path(user).is_dir()]
    if after:
        _replace(path, "".join(f"{user}\n" for user in after).encode("utf-8", "surrogateescape"), 0o644)
    else:
        path.unlink(missing_ok=True)
    return after


def _apply(folder: Path, steps: Iterable[Step]) -> None:
    for step in steps:
        _DO[step.do](folder, step)
    if (folder / THEIRS).is_dir() and not any((folder / THEIRS).iterdir()):
        (folder / THEIRS).rmdir()


def _write(folder: Path, step: Step) -> None:
    path = folder / step.name
    _replace(path, step.content, path.stat().st_mode & 0o777 if step.keep_mode else 0o755)


def _replace(path: Path, content: bytes, mode: int) -> None:
    """Replace a file in one move: at no moment is there a hook less than before."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    part.write_bytes(content)
    part.chmod(mode)
    part.replace(path)


def _remove(folder: Path, step: Step) -> None:
    (folder / step.name).unlink(missing_ok=True)


def _aside(folder: Path, step: Step) -> None:
    source, target = folder / step.name, folder / THEIRS / step.name
    target.parent.mkdir(exist_ok=True)
    if source.is_symlink():
        target.symlink_to(_deeper(_target(source)))
    else:
        shutil.copy2(source, target)


def _back(folder: Path, step: Step) -> None:
    source, target = folder / THEIRS / step.name, folder / step.name
    if not source.is_symlink():
        source.replace(target)
        return
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    part.symlink_to(_target(source).removeprefix("../"))
    part.replace(target)
    source.unlink()


def _target(link: Path) -> str:
    return os.readlink(link)  # noqa: PTH115 - a Path would normalise the text that is to come back byte for byte


def _deeper(named: str) -> str:
    return named if Path(named).is_absolute() else f"../{named}"


_DO: dict[str, Callable[[Path, Step], None]] = {"write": _write, "remove": _remove, "aside": _aside, "back": _back}
