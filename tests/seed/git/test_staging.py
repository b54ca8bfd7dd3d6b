from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from seed.git.repository import open_repository
from seed.git.staging import staged

Git = Callable[..., str]
Commit = Callable[..., str]
TEXT = "id: a\nkind: fact\ntitle: T\nstatus: verified\n"


def paths(folder: Path) -> list[str]:
    return [entry.path for entry in staged(open_repository(folder)).entries]


def test_the_index_is_read_and_not_the_working_tree(repository: Path, git: Git) -> None:
    """What is staged counts: files only written do not, and files outside knowledge/ do not."""
    (repository / "knowledge").mkdir()
    for name in ("knowledge/a.yaml", "knowledge/b.yaml", "other.yaml"):
        (repository / name).write_text(TEXT)
    git("add", "knowledge/a.yaml", "other.yaml")
    assert paths(repository) == ["knowledge/a.yaml"]


def test_a_repository_without_an_index_has_nothing_staged(repository: Path) -> None:
    """A fresh repository has no index file, and that is no fault."""
    assert paths(repository) == []


def test_the_index_of_a_partial_commit_is_honoured(repository: Path, commit: Commit, git: Git) -> None:
    """`git commit FILE` makes a commit from an index of its own, which the hook's environment names."""
    commit({"knowledge/a.yaml": TEXT, "knowledge/b.yaml": TEXT})
    hook = repository / ".git/hooks/pre-commit"
    hook.write_text('#!/bin/sh\ncp "$GIT_INDEX_FILE" "$GIT_INDEX_FILE.kept"; ls .git/*.kept > kept\n')
    hook.chmod(0o755)
    (repository / "knowledge/b.yaml").write_text(TEXT + "# changed\n")
    git("rm", "-q", "--cached", "knowledge/a.yaml")
    git("commit", "-q", "-m", "only b", "knowledge/b.yaml")
    kept = repository / (repository / "kept").read_text().strip()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_INDEX_FILE", str(kept))
        assert paths(repository) == ["knowledge/a.yaml", "knowledge/b.yaml"]
        patch.setenv("GIT_INDEX_FILE", str(kept.relative_to(repository)))
        assert paths(repository) == ["knowledge/a.yaml", "knowledge/b.yaml"]
    assert paths(repository) == ["knowledge/b.yaml"]


def test_the_index_of_another_repository_is_passed_over(
    repository: Path, commit: Commit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook of one repository that asks about another must not lead the answer astray."""
    commit({"knowledge/a.yaml": TEXT})
    other = tmp_path / "other"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    (other / "x").write_text("x")
    subprocess.run(["git", "add", "x"], cwd=other, check=True)
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    assert paths(repository) == ["knowledge/a.yaml"]


def test_a_split_index_is_read_by_git_itself(repository: Path, commit: Commit, git: Git) -> None:
    """An index that libgit2 does not know is read all the same."""
    commit({"knowledge/a.yaml": TEXT})
    git("update-index", "--split-index")
    assert paths(repository) == ["knowledge/a.yaml"]


def test_a_linked_worktree_has_an_index_of_its_own(repository: Path, commit: Commit, git: Git, tmp_path: Path) -> None:
    """What is staged in one worktree is not staged in another."""
    commit({"knowledge/a.yaml": TEXT})
    git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    (tmp_path / "side/knowledge/b.yaml").write_text(TEXT)
    git("add", "-A", cwd=tmp_path / "side")
    assert paths(tmp_path / "side") == ["knowledge/a.yaml", "knowledge/b.yaml"]
    assert paths(repository) == ["knowledge/a.yaml"]


def test_what_is_only_intended_is_not_staged(repository: Path, git: Git) -> None:
    """`git add --intent-to-add` leaves an entry that is not part of the commit; an empty file that is added is."""
    (repository / "knowledge").mkdir()
    (repository / "knowledge/a.yaml").write_text(TEXT)
    (repository / "knowledge/b.yaml").write_text("")
    git("add", "-N", "knowledge/a.yaml")
    git("add", "knowledge/b.yaml")
    assert paths(repository) == ["knowledge/b.yaml"]


@pytest.mark.parametrize("split", [False, True])
def test_an_unfinished_merge_is_named(repository: Path, commit: Commit, git: Git, *, split: bool) -> None:
    """A path with conflicting stages is no entry, and is named as unmerged."""
    commit({"knowledge/a.yaml": "one\n"})
    git("checkout", "-q", "-b", "side")
    commit({"knowledge/a.yaml": "two\n"})
    git("checkout", "-q", "main")
    commit({"knowledge/a.yaml": "three\n"})
    subprocess.run(["git", "merge", "-q", "side"], cwd=repository, check=False, capture_output=True)
    if split:
        git("update-index", "--split-index")
    found = staged(open_repository(repository))
    assert (found.entries, found.unmerged) == ([], ["knowledge/a.yaml"])


def test_names_that_are_not_utf8_are_escaped_as_in_a_tree(repository: Path, git: Git) -> None:
    """A file name of other bytes is listed with its bytes escaped."""
    (repository / "knowledge").mkdir()
    (repository / "knowledge/caf\udce9.yaml").write_text(TEXT)
    git("add", "-A")
    assert paths(repository) == ["knowledge/caf\\xe9.yaml"]
