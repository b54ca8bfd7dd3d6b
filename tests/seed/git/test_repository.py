from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from seed.errors import SidecarError
from seed.git.candidates import branches, candidates
from seed.git.repository import head_commit, in_progress, open_repository, resolve
from seed.git.worktree import WorkingTree

Git = Callable[..., str]
Commit = Callable[..., str]
Text = Callable[..., str]


def test_a_repository_opens_from_any_folder_inside(repository: Path, commit: Commit) -> None:
    """A subfolder, also one below knowledge/, opens the same repository."""
    head = commit({"src/deep/x.py": "x"})
    root, inside = open_repository(repository), open_repository(repository / "src/deep")
    assert (inside.root, inside.common, inside.name, inside.bare) == (root.root, root.common, "project", False)
    assert head_commit(inside) == head


def test_worktrees_of_a_clone_share_their_common_folder(
    repository: Path, commit: Commit, git: Git, tmp_path: Path
) -> None:
    """A linked worktree has its own root and HEAD, and the store of its clone."""
    commit({"a": "1"})
    git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    (tmp_path / "side/b").write_text("2")
    git("add", "-A", cwd=tmp_path / "side")
    git("commit", "-q", "-m", "side", cwd=tmp_path / "side")
    main, side = open_repository(repository), open_repository(tmp_path / "side")
    assert (side.common, side.name) == (main.common, main.name)
    assert side.root == (tmp_path / "side").resolve()
    assert head_commit(side) != head_commit(main)


def test_a_bare_repository_opens(repository: Path, commit: Commit, tmp_path: Path) -> None:
    """Without a working tree there is HEAD, and nothing is uncommitted."""
    head = commit({"a": "1"})
    subprocess.run(["git", "clone", "-q", "--bare", str(repository), str(tmp_path / "b.git")], check=True)
    bare = open_repository(tmp_path / "b.git")
    assert (bare.bare, bare.name, head_commit(bare), WorkingTree(bare).uncommitted()) == (True, "b", head, 0)


def test_a_detached_head_is_a_commit(repository: Path, commit: Commit, git: Git) -> None:
    """HEAD may name a commit and no branch."""
    head = commit({"a": "1"})
    git("checkout", "-q", "--detach")
    assert head_commit(open_repository(repository)) == head


def test_without_a_commit_head_is_empty(repository: Path) -> None:
    """A fresh repository is no fault."""
    assert head_commit(open_repository(repository)) == ""


def test_a_moved_head_is_seen_by_an_open_repository(repository: Path, commit: Commit) -> None:
    """A repository that stays open answers for the HEAD of now."""
    commit({"a": "1"})
    opened = open_repository(repository)
    assert head_commit(opened) != ""
    later = commit({"a": "2"})
    assert head_commit(opened) == later


def test_the_environment_of_a_hook_leads_nowhere_else(
    repository: Path, commit: Commit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GIT_DIR of another repository, as a hook carries it over, is passed over."""
    head = commit({"a": "1"})
    subprocess.run(["git", "init", "-q", str(tmp_path / "other")], check=True)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other/.git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    assert head_commit(open_repository(repository)) == head


def test_what_is_no_repository_is_one_line(tmp_path: Path) -> None:
    """A folder outside any repository, and one that is not there, say what to do."""
    for folder in (tmp_path, tmp_path / "gone"):
        with pytest.raises(SidecarError) as caught:
            open_repository(folder)
        assert caught.value.fix


@pytest.mark.parametrize("name", ["main", "HEAD", "v1", "HEAD~0"])
def test_a_revision_is_whatever_git_takes(repository: Path, commit: Commit, git: Git, name: str) -> None:
    """Branches, annotated tags and expressions name commits."""
    head = commit({"a": "1"})
    git("tag", "-a", "v1", "-m", "one")
    assert resolve(open_repository(repository), name) == head
    assert resolve(open_repository(repository), head[:10]) == head


@pytest.mark.parametrize("name", ["nope", "HEAD~9", "HEAD:a", "", "0000000000"])
def test_a_revision_that_names_no_commit_is_one_line(repository: Path, commit: Commit, name: str) -> None:
    """A name of nothing, or of a file, is refused."""
    commit({"a": "1"})
    with pytest.raises(SidecarError, match="no commit"):
        resolve(open_repository(repository), name)


def test_a_merge_under_way_is_noticed(repository: Path, commit: Commit, git: Git) -> None:
    """Hooks keep still while git itself is in the middle of something."""
    commit({"a": "1"})
    git("checkout", "-q", "-b", "side")
    commit({"a": "2"})
    git("checkout", "-q", "main")
    commit({"a": "3"})
    assert not in_progress(open_repository(repository))
    subprocess.run(["git", "merge", "side"], cwd=repository, check=False, capture_output=True)
    assert in_progress(open_repository(repository))


def test_records_that_are_not_committed_are_counted(repository: Path, commit: Commit, record_text: Text) -> None:
    """Changed and new record files count; line ends and other files do not."""
    commit({"knowledge/a.yaml": record_text("a"), "knowledge/b.yaml": record_text("b")})
    assert WorkingTree(open_repository(repository)).uncommitted() == 0
    (repository / "knowledge/a.yaml").write_text(record_text("a").replace("\n", "\r\n"), newline="")
    (repository / "knowledge/notes.md").write_text("x")
    assert WorkingTree(open_repository(repository)).uncommitted() == 0
    (repository / "knowledge/b.yaml").write_text(record_text("b", title="Other"))
    (repository / "knowledge/c.yaml").write_text(record_text("c"))
    assert WorkingTree(open_repository(repository)).uncommitted() == 2


def test_candidate_branches_give_what_they_add_or_change(
    repository: Path, commit: Commit, git: Git, record_text: Text
) -> None:
    """A candidate is a record file that its branch added or changed since it left; the rest of the branch is not."""
    base = commit({"knowledge/a.yaml": record_text("a"), "knowledge/b.yaml": record_text("b")})
    git("checkout", "-q", "-b", "knowledge/candidate/x")
    tip = commit(
        {"knowledge/new.yaml": record_text("new"), "knowledge/b.yaml": record_text("b", title="Else"), "x": "1"}
    )
    git("checkout", "-q", "main")
    head = commit({"knowledge/a.yaml": record_text("a", title="Moved on")})
    opened = open_repository(repository)
    assert {(c.ref, c.commit, c.path) for c in candidates(opened, head)} == {
        ("refs/heads/knowledge/candidate/x", tip, "knowledge/new.yaml"),
        ("refs/heads/knowledge/candidate/x", tip, "knowledge/b.yaml"),
    }
    assert base != head


def test_a_local_candidate_wins_over_its_remote_twin(repository: Path, commit: Commit, git: Git) -> None:
    """One name is one candidate; remote ones count where there is no local branch."""
    first = commit({"a": "1"})
    second = commit({"a": "2"})
    git("update-ref", "refs/remotes/origin/knowledge/candidate/x", first)
    git("update-ref", "refs/heads/knowledge/candidate/x", second)
    git("update-ref", "refs/remotes/origin/knowledge/candidate/y", first)
    git("update-ref", "refs/heads/other", first)
    assert branches(open_repository(repository)) == [
        ("refs/heads/knowledge/candidate/x", second),
        ("refs/remotes/origin/knowledge/candidate/y", first),
    ]
