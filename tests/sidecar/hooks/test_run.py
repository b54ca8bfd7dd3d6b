"""What hooks do in real repositories: coalesce, stay quiet, and never stop Git."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from seed.git.hooks import save_setting
from seed.git.repository import open_repository
from sidecar.hooks.install import install
from sidecar.hooks.run import warm

OFF = ("-c", "core.hooksPath=/dev/null")


def hooked(clone: Any) -> None:
    install(open_repository(clone.folder))


def spans(log: list[str]) -> list[tuple[str, str, str]]:
    """Return (process, "seeding" or "seeded", commit) of each such line, in order."""
    words = [line.split() for line in log if ": seed" in line]
    return [(line[1], line[3], line[4].rstrip(":")) for line in words]


def assert_one_at_a_time(log: list[str]) -> None:
    found = spans(log)
    assert found
    for start, end in zip(found[::2], found[1::2], strict=True):
        assert (start[1], end[1]) == ("seeding", "seeded"), found
        assert (start[0], start[2]) == (end[0], end[2]), found


def test_ten_fast_commits_end_in_one_process_and_the_final_head(clone: Any) -> None:
    """However many commits come while one process seeds, they never seed side by side, and HEAD is seeded last."""
    hooked(clone)
    for number in range(10):
        clone.commit(number)
    clone.wait_for_head()
    assert_one_at_a_time(clone.log())
    assert len(spans(clone.log())) < 2 * 10


def test_a_rebase_of_twenty_commits_seeds_only_what_it_ends_in(clone: Any) -> None:
    """During a rebase hooks are quiet: no commit on the way is seeded, the final HEAD is."""
    clone.commit(0)
    clone.git("switch", "-q", "-c", "side")
    for number in range(1, 21):
        clone.write(number)
        clone.git("add", "-A")
        clone.git(*OFF, "commit", "-q", "-m", f"side {number}")
    before = clone.head()
    clone.git("switch", "-q", "main")
    clone.commit(100)
    clone.git("switch", "-q", "side")
    hooked(clone)
    clone.git("rebase", "-q", "main")
    clone.wait_for_head()
    assert {commit for _, _, commit in spans(clone.log())} <= {before, clone.head()}
    assert_one_at_a_time(clone.log())


@pytest.mark.parametrize(
    "change",
    [
        ("commit", "-q", "--amend", "-m", "amended", "--only", "knowledge"),
        ("switch", "-q", "side"),
        ("merge", "-q", "--ff-only", "side"),
        ("merge", "-q", "--no-edit", "other"),
        ("cherry-pick", "side", "other"),
        ("rebase", "-q", "other"),
        ("rebase", "-q", "side"),
        ("revert", "--no-edit", "HEAD"),
        ("checkout", "-q", "--detach", "side"),
    ],
)
def test_every_command_that_moves_head_warms_the_store(clone: Any, change: tuple[str, ...]) -> None:
    """After commit, amend, switch, merge, cherry-pick, rebase and revert the store gets the snapshot of HEAD."""
    clone.commit(1)
    clone.git("switch", "-q", "-c", "side")
    clone.commit(2)
    clone.git("switch", "-q", "-c", "other", "HEAD~")
    clone.commit(3)
    clone.git("switch", "-q", "main")
    if change[0] == "rebase" and change[-1] == "other":
        clone.commit(4)
    hooked(clone)
    if "--amend" in change:
        clone.write(1, "Because it is smaller.")
    clone.git(*change)
    clone.wait_for_head()


def test_pulls_warm_the_store(clone: Any, tmp_path: Path) -> None:
    """A fast-forward pull and a pull with rebase are warmed as well."""
    clone.commit(1)
    clone.git("clone", "-q", ".", str(tmp_path / "mine"))
    upstream, clone.folder = clone.folder, tmp_path / "mine"
    hooked(clone)
    for number, extra in ((2, ()), (3, ("--rebase",))):
        if extra:
            clone.commit(10)
            clone.wait_for_head()
        mine, clone.folder = clone.folder, upstream
        clone.commit(number)
        clone.folder = mine
        clone.git("pull", "-q", *extra)
        clone.wait_for_head()


def test_conflicts_are_waited_out(clone: Any) -> None:
    """A merge that stops at a conflict seeds nothing until it is committed."""
    clone.commit(1, "First wording.")
    clone.git("switch", "-q", "-c", "side")
    clone.commit(1, "Their wording.")
    clone.git("switch", "-q", "main")
    clone.commit(1, "Our wording.")
    hooked(clone)
    assert clone.git("merge", "side", ok=False).returncode == 1
    clone.write(1, "Both wordings.")
    clone.git("add", "-A")
    assert clone.log() == []
    clone.git("commit", "-q", "--no-edit")
    clone.wait_for_head()
    assert {commit for _, _, commit in spans(clone.log())} == {clone.head()}


def test_a_hook_within_a_sequence_waits_for_its_end(clone: Any) -> None:
    """The last hook of a cherry-pick fires before Git leaves it: what it asked for is done right after."""
    hooked(clone)
    clone.git(*OFF, "commit", "-q", "--allow-empty", "-m", "start")
    clone.write(1)
    clone.git("add", "-A")
    clone.git(*OFF, "commit", "-q", "-m", "1")
    mark = clone.folder / ".git" / "CHERRY_PICK_HEAD"
    mark.write_text(clone.head() + "\n")
    subprocess.run([clone.folder / ".git" / "hooks" / "post-commit"], cwd=clone.folder, check=True)
    time.sleep(1)
    assert clone.log() == []
    mark.unlink()
    clone.wait_for_head()


def test_a_background_run_within_a_sequence_seeds_nothing(clone: Any) -> None:
    """A sequence that begins after the shell looked is left alone too: its own hooks will ask."""
    clone.commit(1)
    (clone.folder / ".git" / "rebase-merge").mkdir()
    (clone.folder / ".git" / "sidecar-pending").touch()
    warm("post-commit", clone.folder)
    assert clone.log() == []
    assert clone.is_quiet()


def test_a_commit_that_touches_no_record_starts_no_python(clone: Any, fake_python: Path) -> None:
    """Once HEAD is seeded, a change outside knowledge/ is told apart in shell."""
    hooked(clone)
    clone.commit(1)
    clone.wait_for_head()
    save_setting(open_repository(clone.folder), "python", str(fake_python))
    (clone.folder / "code").write_text("1")
    clone.git("add", "-A")
    clone.git("commit", "-q", "-m", "code")
    clone.git("switch", "-q", "-c", "same")
    time.sleep(1)  # what should not start leaves nothing to wait for
    assert not (fake_python.parent / "calls").exists()
    clone.commit(2)
    clone.wait((fake_python.parent / "calls").exists)
    assert "pre-commit" in (fake_python.parent / "calls").read_text()


def test_a_candidate_branch_is_told_apart_too(clone: Any) -> None:
    """A new candidate changes the snapshot without changing HEAD: the next hook seeds it."""
    hooked(clone)
    clone.commit(1)
    clone.wait_for_head()
    clone.git("switch", "-q", "-c", "knowledge/candidate/x")
    clone.commit(2)
    clone.git("switch", "-q", "main")
    clone.wait(lambda: clone.has_snapshot() and clone.is_quiet())


def test_two_worktrees_are_both_seeded(clone: Any, tmp_path: Path) -> None:
    """Requests of several worktrees go to one process, and each worktree's own HEAD is seeded."""
    hooked(clone)
    clone.commit(1)
    clone.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = type(clone)(tmp_path / "side")
    side.commit(2)
    clone.commit(3)
    side.wait_for_head()
    clone.wait_for_head()
    assert_one_at_a_time(clone.log())


@pytest.mark.parametrize(
    "fault", ["gone", "broken", "package missing", "store on a full disk", "script gone", "settings gone"]
)
def test_a_fault_of_ours_never_fails_or_talks_into_a_commit(
    clone: Any, fake_python: Path, tmp_path: Path, fault: str
) -> None:
    """Environment deleted, interpreter broken, package or disk gone: every commit passes, without a word of ours."""
    hooked(clone)
    clone.commit(0)
    clone.wait_for_head()
    repo = open_repository(clone.folder)
    save_setting(repo, "python", str(fake_python))
    if fault == "gone":
        fake_python.unlink()
    elif fault == "broken":
        fake_python.write_text("#!/nonexistent/interpreter\n")
    elif fault == "package missing":
        fake_python.write_text("#!/bin/sh\necho No module named sidecar >&2\nexit 1\n")
    elif fault == "store on a full disk":
        save_setting(repo, "python", sys.executable)
        (tmp_path / "file").write_text("")
        clone.environment = {"SIDECAR_HOME": str(tmp_path / "file" / "home")}
    elif fault == "script gone":
        (repo.common / "hooks" / "sidecar-hook").unlink()
    else:
        clone.git("config", "--remove-section", "sidecar.hooks")
    clone.write(1)
    clone.git("add", "-A")
    done = clone.git("commit", "-q", "-m", "1")
    assert (done.stdout, done.stderr) == ("", "")
    if fault in {"gone", "broken", "package missing"}:
        clone.wait(lambda: any(" post-commit " in line for line in clone.log()))
        assert any(" pre-commit " in line for line in clone.log())


def test_the_log_is_bounded_when_nobody_is_left_to_trim_it(clone: Any) -> None:
    """A shim whose environment is gone writes to the log only below 64 kB."""
    hooked(clone)
    clone.commit(0)
    clone.wait_for_head()
    save_setting(open_repository(clone.folder), "python", "/nonexistent/python")
    log = clone.store / "hooks.log"
    log.write_text("x" * 65536)
    clone.commit(1)
    clone.wait(clone.is_quiet)
    assert log.stat().st_size == 65536


def test_their_failing_hook_still_fails_the_commit(clone: Any) -> None:
    """The exit code of a user's own pre-commit is Git's to see, in shell and in any other language."""
    hooks = open_repository(clone.folder).common / "hooks"
    for first in ("/bin/sh", "/usr/bin/env python3"):
        (hooks / "pre-commit").unlink(missing_ok=True)
        (hooks / "pre-commit").write_text(f"#!{first}\nexit(7)\n" if "python" in first else f"#!{first}\nexit 7\n")
        (hooks / "pre-commit").chmod(0o755)
        hooked(clone)
        clone.write(1)
        clone.git("add", "-A")
        assert clone.git("commit", "-q", "-m", "1", ok=False).returncode == 1


def test_their_post_rewrite_gets_arguments_and_standard_input(clone: Any, tmp_path: Path) -> None:
    """What Git tells a hook reaches the user's own one unchanged, beside ours."""
    hook = open_repository(clone.folder).common / "hooks" / "post-rewrite"
    hook.write_text(f'#!/bin/sh\necho "$@" >"{tmp_path}/seen"\ncat >>"{tmp_path}/seen"\n')
    hook.chmod(0o755)
    hooked(clone)
    old = clone.commit(1)
    clone.git("commit", "-q", "--amend", "-m", "again")
    assert (tmp_path / "seen").read_text().split() == ["amend", old, clone.head()]


@pytest.mark.parametrize("valid", [True, False])
def test_staged_records_are_checked_as_they_would_be_committed(clone: Any, valid: bool) -> None:
    """An invalid record fails the commit and says why, also with 'commit -a' and its index of its own."""
    clone.commit(1)
    hooked(clone)
    path = clone.write(1, "Changed.")
    if not valid:
        path.write_text(path.read_text().replace("status: accepted", "status: whatever"))
    done = clone.git("commit", "-q", "-a", "-m", "2", ok=False)
    assert (done.returncode == 0) == valid
    assert ("knowledge/decision-0001.yaml" in done.stderr) != valid


def test_another_repository_in_the_environment_is_not_taken_for_this_one(clone: Any, other: Any, sidecar: Any) -> None:
    """GIT_DIR and its like in the environment lead neither install nor a background run to another repository."""
    other.commit(9)
    stray = {
        "GIT_DIR": str(other.folder / ".git"),
        "GIT_WORK_TREE": str(other.folder),
        "GIT_INDEX_FILE": str(other.folder / ".git" / "index"),
        "GIT_COMMON_DIR": str(other.folder / ".git"),
    }
    before = (other.folder / ".git" / "config").read_bytes()
    assert sidecar("hooks", "install", "--repo", str(clone.folder), **stray).returncode == 0
    assert (other.folder / ".git" / "config").read_bytes() == before
    assert not (other.folder / ".git" / "hooks" / "post-commit").exists()
    clone.commit(1)
    clone.wait_for_head()
    (clone.folder / ".git" / "sidecar-pending").touch()
    (clone.store / "hooks.log").unlink()
    assert sidecar("hooks", "run", "post-commit", "--repo", str(clone.folder), **stray).returncode == 0
    clone.wait_for_head()
    assert other.log() == []


def test_the_repository_git_commits_to_is_the_one_that_is_seeded(clone: Any, other: Any) -> None:
    """With GIT_DIR elsewhere than the folder, as for dotfiles, Git's own choice holds, not the folder's repository."""
    clone.commit(1)
    hooked(other)
    other.folder, folder = clone.folder, other.folder
    other.environment = {"GIT_DIR": str(folder / ".git"), "GIT_WORK_TREE": str(clone.folder)}
    other.write(5)
    other.git("add", "knowledge")
    other.git("commit", "-q", "-m", "elsewhere")
    other.folder, other.environment = folder, {}
    other.wait_for_head()
    assert clone.log() == []


def test_a_seeding_process_that_is_killed_blocks_nobody(clone: Any) -> None:
    """A mark left by a process that died is ignored once it is two minutes old."""
    hooked(clone)
    mark = clone.folder / ".git" / "sidecar-pending"
    mark.touch()
    os.utime(mark, (0, 0))
    clone.commit(1)
    clone.wait_for_head()
