"""Every kind of hook of a user's, in every kind of clone: theirs keep running, ours run beside, both come out again."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seed.git.hooks import hooks_folder
from seed.git.repository import open_repository
from sidecar.hooks.install import install, uninstall
from sidecar.hooks.status import status

HUSKY = '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n'
HUSKY_H = (
    '#!/usr/bin/env sh\nn=$(basename "$0")\ns=$(dirname "$(dirname "$0")")/$n\n[ ! -f "$s" ] || exec sh -e "$s" "$@"\n'
)
FRAMEWORK = """repos:
- repo: local
  hooks:
  - id: theirs
    name: theirs
    language: system
    always_run: true
    pass_filenames: false
    entry: sh -c 'echo pre-commit >>"$0"' %s
"""

Setup = Callable[[Path, Path], None]


def _script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def _hooks(folder: Path) -> Path:
    return hooks_folder(open_repository(folder)).path


def none(_folder: Path, _seen: Path) -> None:
    """No hook of theirs."""


def own(folder: Path, seen: Path) -> None:
    for name in ("pre-commit", "post-commit"):
        _script(_hooks(folder) / name, f'#!/bin/sh\necho {name} >>"{seen}"\n')


def program(folder: Path, seen: Path) -> None:
    write = f"open({str(seen)!r}, 'a').write(pathlib.Path(sys.argv[0]).name + '\\n')"
    text = f"#!{sys.executable}\nimport pathlib, sys\n{write}\n"
    _script(_hooks(folder) / "pre-commit", text)
    (folder / "scripts").mkdir()
    _script(folder / "scripts" / "any", text)
    (_hooks(folder) / "post-commit").symlink_to(os.path.relpath(folder / "scripts" / "any", _hooks(folder)))


def husky(folder: Path, seen: Path) -> None:
    subprocess.run(["git", "config", "core.hooksPath", ".husky/_"], cwd=folder, check=True)
    _script(folder / ".husky/_/h", HUSKY_H)
    (folder / ".husky/_/.gitignore").write_text("*\n")
    for name in ("pre-commit", "post-commit"):
        _script(folder / ".husky/_" / name, HUSKY)
        (folder / ".husky" / name).write_text(f'echo {name} >>"{seen}"\n')


def everywhere(_folder: Path, seen: Path) -> None:
    shared = seen.parent / "shared hooks"
    subprocess.run(["git", "config", "--global", "core.hooksPath", str(shared)], check=True)
    for name in ("pre-commit", "post-commit"):
        _script(shared / name, f'#!/bin/bash -eu\necho {name} >>"{seen}"\n')


def framework(folder: Path, seen: Path) -> None:
    pytest.importorskip("pre_commit")
    (folder / ".pre-commit-config.yaml").write_text(FRAMEWORK % seen)
    command = [sys.executable, "-m", "pre_commit", "install"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


STYLES: dict[str, tuple[Setup, set[str]]] = {
    "no hook": (none, set()),
    "own shell hooks": (own, {"pre-commit", "post-commit"}),
    "own program and link": (program, {"pre-commit", "post-commit"}),
    "husky": (husky, {"pre-commit", "post-commit"}),
    "global core.hooksPath": (everywhere, {"pre-commit", "post-commit"}),
    "pre-commit framework": (framework, {"pre-commit"}),
}


def plain(base: Path) -> Path:
    subprocess.run(["git", "clone", "-q", str(base), "clone"], cwd=base.parent, check=True)
    return base.parent / "clone"


def worktree(base: Path) -> Path:
    subprocess.run(["git", "worktree", "add", "-q", "-b", "side", str(base.parent / "side")], cwd=base, check=True)
    return base.parent / "side"


def submodule(base: Path) -> Path:
    outer = base.parent / "outer"
    subprocess.run(["git", "init", "-q", str(outer)], check=True)
    add = ["git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(base), "inner"]
    subprocess.run(add, cwd=outer, check=True, capture_output=True)
    return outer / "inner"


def _everything(folder: Path) -> dict[str, tuple[int, str | bytes]]:
    """Every file and link below the hooks folder, with mode and bytes, and the clone's configuration."""
    common = open_repository(folder).common
    files = [*_hooks(folder).rglob("*"), common / "config"]
    return {
        str(path): (path.lstat().st_mode, str(path.readlink()) if path.is_symlink() else path.read_bytes())
        for path in files
        if path.is_symlink() or path.is_file()
    }


@pytest.mark.parametrize("kind", [plain, worktree, submodule])
@pytest.mark.parametrize("style", STYLES)
def test_theirs_run_ours_run_and_uninstall_restores(
    clone: Any, tmp_path: Path, kind: Callable[[Path], Path], style: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In each kind of clone with each kind of hook: both fire, install is idempotent, uninstall restores every byte."""
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "pre-commit"))
    clone.git("commit", "-q", "--allow-empty", "-m", "start")
    clone.folder = folder = kind(clone.folder)
    setup, theirs = STYLES[style]
    setup(folder, tmp_path / "seen")
    before = _everything(folder)
    repo = open_repository(folder)

    install(repo)
    once = _everything(folder)
    install(repo)
    assert _everything(folder) == once
    fires = {hook.name: hook.fires for hook in status(repo).hooks}
    assert fires == {name: "both" if name in theirs else "ours" for name in fires}

    clone.commit(1)
    clone.wait_for_head()
    seen = tmp_path / "seen"
    assert set(seen.read_text().split() if seen.exists() else []) == theirs

    uninstall(repo)
    assert _everything(folder) == before
    assert {hook.fires for hook in status(repo).hooks if hook.name in theirs} <= {"theirs"}
