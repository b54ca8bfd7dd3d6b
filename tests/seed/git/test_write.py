from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pygit2
import pytest

from seed.errors import SidecarError
from seed.git.candidates import start_of
from seed.git.remote import default_branch, remote_name, without_credentials
from seed.git.repository import open_repository
from seed.git.write import branch_commit, identity, message, move_branch, write_commit

Git = Callable[..., str]


@pytest.fixture
def first(repository: Path, git: Git) -> str:
    (repository / "deep/er").mkdir(parents=True)
    (repository / "deep/er/run.sh").write_text("#!/bin/sh\n")
    (repository / "deep/er/run.sh").chmod(0o755)
    (repository / "link").symlink_to("deep")
    (repository / "plain.txt").write_text("plain\n")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    return git("rev-parse", "HEAD")


def test_git_itself_finds_the_commit_sound(repository: Path, git: Git, first: str) -> None:
    """Written, changed and removed files are what git reads back; modes are kept, and fsck has no complaint."""
    repo = open_repository(repository)
    files: dict[str, bytes | None] = {"deep/er/run.sh": b"#!/bin/bash\n", "new/a/b.yaml": b"x", "plain.txt": None}
    made = write_commit(repo, files, message("One", "Body."), parents=[first])
    assert move_branch(repo, "side", made, "", "test")
    git("fsck", "--strict")
    assert git("ls-tree", "-r", "--format=%(objectmode) %(path)", "side").split("\n") == [
        "100755 deep/er/run.sh",
        "120000 link",
        "100644 new/a/b.yaml",
    ]
    assert git("show", "side:deep/er/run.sh") == "#!/bin/bash"
    assert git("log", "-1", "--format=%P %s|%b", "side") == f"{first} One|Body."
    assert git("reflog", "-1", "--format=%gs", "side") == "sidecar: test"


def test_a_folder_that_gets_empty_goes(repository: Path, git: Git, first: str) -> None:
    """Git knows no empty folders, so the last file takes its folders along."""
    made = write_commit(open_repository(repository), {"deep/er/run.sh": None}, "x\n", parents=[first])
    assert git("ls-tree", "--name-only", made).split("\n") == ["link", "plain.txt"]


@pytest.mark.parametrize("path", ["plain.txt/below", "link", "deep"])
def test_it_never_writes_through_a_file_or_link(path: str, repository: Path, first: str) -> None:
    """A path that leads through a file, and one that is a link or a folder, is refused by name."""
    with pytest.raises(SidecarError, match=path.split("/", maxsplit=1)[0]):
        write_commit(open_repository(repository), {path: b"x"}, "x\n", parents=[first])


def test_of_two_writers_the_second_is_told(repository: Path, git: Git, first: str) -> None:
    """A branch moves only from where it was seen: creating, moving and deleting it lose no other writer's commit."""
    repo = open_repository(repository)
    one, two = (write_commit(repo, {"f": data}, "x\n", parents=[first]) for data in (b"1", b"2"))
    assert move_branch(repo, "side", one, "", "create")
    assert not move_branch(repo, "side", two, "", "create")
    assert not move_branch(repo, "side", two, first, "move")
    assert not move_branch(repo, "side", "", two, "delete")
    assert branch_commit(repo, "side") == one
    assert move_branch(repo, "side", two, one, "move")
    assert move_branch(repo, "side", "", two, "delete")
    assert git("branch", "--list", "side") == ""


def test_twenty_creations_of_one_branch_have_one_winner(repository: Path, first: str) -> None:
    """However many create the same branch at once, exactly one does."""
    repos = [open_repository(repository) for _ in range(20)]
    commits = [write_commit(r, {"f": bytes([n])}, "x\n", parents=[first]) for n, r in enumerate(repos)]
    with ThreadPoolExecutor(20) as pool:
        won = list(pool.map(lambda n: move_branch(repos[n], "side", commits[n], "", "race"), range(20)))
    assert won.count(True) == 1
    assert branch_commit(repos[0], "side") == commits[won.index(True)]


def test_a_branch_that_is_checked_out_is_left_alone(repository: Path, git: Git, first: str) -> None:
    """Moving it would leave that worktree's files behind, so it is refused, also for another worktree's branch."""
    repo = open_repository(repository)
    made = write_commit(repo, {"f": b"1"}, "x\n", parents=[first])
    git("worktree", "add", "-q", "-b", "side", str(repository.parent / "other"))
    for branch in ("main", "side"):
        with pytest.raises(SidecarError, match=f"branch {branch} is checked out"):
            move_branch(repo, branch, made, first, "move")


def test_what_git_refuses_is_said_in_its_words(repository: Path, git: Git, first: str) -> None:
    """A branch name in the way of another one is an error that names it."""
    git("branch", "knowledge")
    with pytest.raises(SidecarError, match="refs/heads/knowledge"):
        move_branch(open_repository(repository), "knowledge/candidate/x", first, "", "create")


def test_identity_is_gits_own(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Name, address, time and zone come from where git takes them: environment before configuration."""
    repo = open_repository(repository)
    assert (identity(repo).name, identity(repo).email) == ("Test", "test@localhost")
    for key, value in (("NAME", "A. Uthor"), ("EMAIL", "a@x.org"), ("DATE", "1700000000 -0330")):
        monkeypatch.setenv(f"GIT_AUTHOR_{key}", value)
    author = identity(repo, "AUTHOR")
    assert (author.name, author.email, author.time, author.offset) == ("A. Uthor", "a@x.org", 1700000000, -210)
    assert identity(repo).name == "Test"


def test_a_message_keeps_trailers_on_one_line() -> None:
    """A value cannot add a line of its own to the commit, and an empty one is left out."""
    text = message("Sub\nject", "", {"Proposed-By": "a\n\nSigned-off-by: b", "Session": " "})
    assert text == "Sub ject\n\nProposed-By: a Signed-off-by: b\n"


def test_default_branch_in_its_order(repository: Path, git: Git, first: str, tmp_path: Path) -> None:
    """Policy's name, then the remote's HEAD, then main; each as the remote has it before a local one."""

    def found(configured: str = "") -> str:
        branch = default_branch(open_repository(repository), configured)
        return branch.shown if branch else ""

    assert found() == "main"
    git("clone", "-q", "--bare", str(repository), str(tmp_path / "b.git"))
    git("remote", "add", "origin", str(tmp_path / "b.git"))
    git("push", "-q", "origin", "main", "main:trunk")
    assert (remote_name(open_repository(repository)), found()) == ("origin", "origin/main")
    git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    assert found() == "origin/trunk"
    git("branch", "develop")
    assert found("develop") == "develop"
    assert found("nowhere") == "origin/trunk"
    git("remote", "add", "fork", str(tmp_path / "b.git"))
    git("config", "remote.pushDefault", "fork")
    assert remote_name(open_repository(repository)) == "fork"
    del first


def test_no_credentials_in_what_is_said() -> None:
    """A URL in git's words is shown without user and password."""
    assert without_credentials("to https://u:p@h.org/x failed") == "to https://h.org/x failed"


def test_a_proposal_begins_where_its_trailers_begin(repository: Path, git: Git, first: str) -> None:
    """The commits of a proposal bear its trailer; a branch without it, or with a merge, is left to the merge base."""
    repo = open_repository(repository)

    def commit(parents: list[Any], trailer: str) -> str:
        return write_commit(repo, {"f": b"1"}, message("x", "", {"Proposed-By": trailer}), parents=parents)

    one = commit([first], "a")
    two = commit([one], "b")
    assert start_of(repo, two) == first
    assert start_of(repo, first) == ""
    assert start_of(repo, commit([two, first], "c")) == ""
    assert isinstance(repo.git[two], pygit2.Commit)
    del git
