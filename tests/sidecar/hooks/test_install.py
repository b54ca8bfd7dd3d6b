"""Installing into folders as they really are: shared, tracked, switched off, another tool's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from seed.errors import SidecarError
from seed.git.command import LEAKING
from seed.git.hooks import save_setting, setting
from seed.git.repository import open_repository
from sidecar.hooks import NAMES
from sidecar.hooks.install import install, uninstall
from sidecar.hooks.status import status


def fires(folder: Path) -> set[str]:
    return {hook.fires for hook in status(open_repository(folder)).hooks}


def test_a_shared_folder_serves_who_installed_and_nobody_else(clone: Any, other: Any, tmp_path: Path) -> None:
    """Under a global core.hooksPath ours do nothing in a repository without an install; the last one out restores."""
    shared = tmp_path / "shared"
    shared.mkdir()
    clone.git("config", "--global", "core.hooksPath", str(shared))
    third = type(clone)(tmp_path / "third")
    subprocess.run(["git", "init", "-q", str(third.folder)], check=True)
    install(open_repository(clone.folder))
    install(open_repository(other.folder))
    assert status(open_repository(clone.folder)).folder.shared
    third.commit(1)
    clone.commit(1)
    clone.wait_for_head()
    assert third.log() == []
    assert fires(third.folder) == {"none"}

    uninstall(open_repository(clone.folder))
    assert fires(clone.folder) == {"none"}
    assert fires(other.folder) == {"ours"}
    uninstall(open_repository(other.folder))
    assert list(shared.iterdir()) == []


def test_a_clone_that_was_deleted_does_not_hold_a_shared_folder(clone: Any, other: Any, tmp_path: Path) -> None:
    """Who is gone without an uninstall is not counted among those who still use the folder."""
    (tmp_path / "shared").mkdir()
    clone.git("config", "--global", "core.hooksPath", str(tmp_path / "shared"))
    install(open_repository(clone.folder))
    install(open_repository(other.folder))
    other.folder.rename(tmp_path / "moved away")
    uninstall(open_repository(clone.folder))
    assert list((tmp_path / "shared").iterdir()) == []


def test_a_tracked_folder_is_named_and_its_lines_are_inert_elsewhere(clone: Any, tmp_path: Path) -> None:
    """Our lines in a tracked folder hold no path of this machine, and do nothing in a clone without an install."""
    clone.git("config", "core.hooksPath", ".githooks")
    (clone.folder / ".githooks").mkdir()
    install(open_repository(clone.folder))
    assert "part of the working tree" in status(open_repository(clone.folder)).notes[0]
    for file in (clone.folder / ".githooks").iterdir():
        assert sys.executable not in file.read_text()
        assert str(tmp_path) not in file.read_text()
    clone.commit(1)
    clone.wait_for_head()
    clone.git("clone", "-q", ".", str(tmp_path / "theirs"))
    theirs = type(clone)(tmp_path / "theirs")
    theirs.git("config", "core.hooksPath", ".githooks")
    theirs.commit(2)
    assert theirs.log() == []
    assert fires(theirs.folder) == {"none"}


@pytest.mark.parametrize("value", ["/dev/null", ""])
def test_hooks_that_are_switched_off_are_left_off(clone: Any, value: str) -> None:
    """A core.hooksPath that is no folder runs no hook: install says so with what to do, status too."""
    clone.git("config", "core.hooksPath", value)
    with pytest.raises(SidecarError, match=r"core\.hooksPath \(local\).*git config --unset"):
        install(open_repository(clone.folder))
    found = status(open_repository(clone.folder))
    assert {hook.fires for hook in found.hooks} == {"none"}
    assert "no folder" in found.hooks[0].reason


def test_a_bare_repository_is_told_what_to_do_instead(tmp_path: Path) -> None:
    """Where nothing is committed or checked out no hook of ours can fire, and install says what does the job."""
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "bare.git")], check=True)
    with pytest.raises(SidecarError, match="sidecar seed"):
        install(open_repository(tmp_path / "bare.git"))


def test_a_folder_that_cannot_be_written_is_named(clone: Any) -> None:
    """A disk that refuses ends in one line with the path, and no hook of theirs is lost."""
    hooks = clone.folder / ".git/hooks"
    shutil.rmtree(hooks)
    hooks.write_text("")
    with pytest.raises(SidecarError, match="cannot be changed"):
        install(open_repository(clone.folder))


@pytest.mark.parametrize("place", [".githooks", "/nowhere/hooks", "~/hooks"])
def test_a_folder_that_somebody_configured_is_never_made_unasked(clone: Any, place: str) -> None:
    """A core.hooksPath that is not there yet may serve every repository of the user: install says how to make it."""
    clone.git("config", "core.hooksPath", place)
    with pytest.raises(SidecarError, match=r"which is not there - make it .* mkdir -p"):
        install(open_repository(clone.folder))
    assert not (clone.folder / ".githooks").exists()
    assert setting(open_repository(clone.folder), "python") == ""


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("python", "is gone: run 'sidecar hooks install' again"),
        ("script", "sidecar-hook is missing"),
        ("settings", "not installed"),
        ("mode", "not executable"),
    ],
)
def test_status_names_what_keeps_ours_from_firing(clone: Any, fault: str, reason: str) -> None:
    """Status reads what Git would run now, not what was once installed."""
    repo = open_repository(clone.folder)
    install(repo)
    hooks = repo.common / "hooks"
    if fault == "python":
        save_setting(repo, "python", "/nonexistent/python")
    elif fault == "script":
        (hooks / "sidecar-hook").unlink()
    elif fault == "settings":
        clone.git("config", "--remove-section", "sidecar.hooks")
    else:
        for name in NAMES:
            (hooks / name).chmod(0o644)
    for hook in status(repo).hooks:
        assert (hook.fires, reason in hook.reason) == ("none", True), hook
    install(repo)
    assert fires(clone.folder) == {"ours"}


def test_the_framework_installed_after_ours_runs_both_once(
    clone: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """'pre-commit install' moves ours to .legacy and runs it; status says both, and uninstall leaves theirs alone."""
    pytest.importorskip("pre_commit")
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "pre-commit"))
    (clone.folder / ".pre-commit-config.yaml").write_text("repos: []\n")
    repo = open_repository(clone.folder)
    install(repo)
    framework = [sys.executable, "-m", "pre_commit"]
    subprocess.run([*framework, "install"], cwd=clone.folder, check=True, capture_output=True)
    hooks = repo.common / "hooks"
    theirs = (hooks / "pre-commit").read_bytes()
    install(repo)
    assert (hooks / "pre-commit").read_bytes() == theirs
    assert {h.name: h.fires for h in status(repo).hooks}["pre-commit"] == "both"
    clone.commit(1)
    clone.wait_for_head()
    uninstall(repo)
    assert (hooks / "pre-commit").read_bytes() == theirs
    assert not (hooks / "pre-commit.legacy").exists()


def test_a_hook_they_rewrote_is_told_and_taken_up_again(clone: Any) -> None:
    """When a tool writes its hook over ours, status says theirs, and a new install puts ours beside it."""
    repo = open_repository(clone.folder)
    install(repo)
    hook = repo.common / "hooks" / "post-commit"
    hook.write_text("#!/bin/sh\n:\n")
    assert {h.name: h.fires for h in status(repo).hooks}["post-commit"] == "theirs"
    install(repo)
    assert {h.name: h.fires for h in status(repo).hooks}["post-commit"] == "both"
    uninstall(repo)
    assert hook.read_text() == "#!/bin/sh\n:\n"


def test_the_mode_of_their_hook_is_kept(clone: Any) -> None:
    """Our lines go into a file that stays as private as it was, and come out of it the same way."""
    repo = open_repository(clone.folder)
    hook = repo.common / "hooks" / "post-commit"
    hook.write_text("#!/bin/sh\n:\n")
    hook.chmod(0o700)
    install(repo)
    assert hook.stat().st_mode & 0o777 == 0o700
    uninstall(repo)
    assert hook.stat().st_mode & 0o777 == 0o700


def test_the_command_line_says_the_same_in_text_and_json(clone: Any, sidecar: Any) -> None:
    """install, status and uninstall each end in what really fires, from a subfolder too."""
    (clone.folder / "deep").mkdir()
    repo = ("--repo", str(clone.folder / "deep"))
    assert "post-commit    ours" in sidecar("hooks", "install", *repo).stdout
    found = json.loads(sidecar("hooks", "status", "--json", *repo).stdout)
    assert found["format"] == 1
    assert [hook["fires"] for hook in found["hooks"]] == ["ours"] * 5
    assert found["python"] == sys.executable
    assert "post-commit    none" in sidecar("hooks", "uninstall", *repo).stdout


def test_an_error_is_one_line_with_its_fix(clone: Any, sidecar: Any) -> None:
    """The command line ends in exit code 2 and one line."""
    clone.git("config", "core.hooksPath", "/dev/null")
    done = sidecar("hooks", "install", "--repo", str(clone.folder))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "git config --unset core.hooksPath" in done.stderr


def test_what_git_calls_local_to_a_repository_never_reaches_our_git_calls() -> None:
    """Every variable that Git itself names as local to one repository is dropped."""
    named = subprocess.run(["git", "rev-parse", "--local-env-vars"], check=True, capture_output=True, text=True)
    assert set(named.stdout.split()) <= set(LEAKING)


def test_the_frameworks_hook_is_offered_as_it_is_written() -> None:
    """.pre-commit-hooks.yaml runs the staged check for changes under knowledge/ only."""
    import re

    import yaml

    path = Path(__file__).parents[3] / ".pre-commit-hooks.yaml"
    if not path.exists():
        pytest.skip("not a checkout")
    hooks = {one["id"]: one for one in yaml.safe_load(path.read_text())}
    hook = hooks["sidecar-check"]
    assert hook["entry"] == "sidecar check --staged"
    assert re.search(hook["files"], "knowledge/decisions/a.yaml")
    assert not re.search(hook["files"], os.fspath(Path("src/knowledge/a.py")))
