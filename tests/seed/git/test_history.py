from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from seed.git.history import history
from seed.git.repository import open_repository

PATH = "knowledge/a.yaml"


def git(folder: Path, *arguments: str) -> str:
    """Run git and return its output."""
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder: Path, message: str, **files: str) -> str:
    """Write files and commit them; returns the commit."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def subjects(folder: Path, path: str = PATH, **bounds: float) -> tuple[list[str], bool]:
    """Return the subjects of the commits that touched a path, and whether they are all."""
    head = git(folder, "rev-parse", "HEAD")
    found, complete = history(open_repository(folder), head, path, **bounds)  # type: ignore[arg-type]
    return [touch.subject for touch in found], complete


def test_only_commits_that_changed_the_file_count(repository: Path) -> None:
    """Commits that left the file as it was are not among those that touched it, newest first."""
    commit(repository, "add", **{PATH: "one"})
    commit(repository, "other", other="x")
    commit(repository, "change\n\nwith a body", **{PATH: "two"})
    assert subjects(repository) == (["change", "add"], True)
    assert subjects(repository)[0] == git(repository, "log", "--format=%s", "--", PATH).split("\n")


def test_a_file_moved_unchanged_is_followed(repository: Path) -> None:
    """A rename is one of the commits, and those before it under the old name follow."""
    commit(repository, "add", **{"knowledge/old.yaml": "a record"})
    git(repository, "mv", "knowledge/old.yaml", PATH)
    commit(repository, "move")
    assert subjects(repository) == (["move", "add"], True)


def test_a_merge_leads_to_the_branch_that_changed_the_file(repository: Path) -> None:
    """A merge that took a branch's version is not itself a change; the branch's commit is."""
    commit(repository, "add", **{PATH: "one"})
    git(repository, "checkout", "-q", "-b", "side")
    commit(repository, "on the side", **{PATH: "two"})
    git(repository, "checkout", "-q", "main")
    commit(repository, "on main", other="x")
    git(repository, "merge", "-q", "--no-ff", "-m", "merge", "side")
    assert subjects(repository) == (["on the side", "add"], True)


def test_a_bound_is_said(repository: Path) -> None:
    """Where the number of commits or the time ends the search, the answer is marked as not complete."""
    for n in range(4):
        commit(repository, f"change {n}", **{PATH: str(n)})
    assert subjects(repository, limit=2) == (["change 3", "change 2"], False)
    assert subjects(repository, limit=4)[1] is True
    assert subjects(repository, seconds=0) == ([], False)


def test_a_shallow_clone_ends_where_it_was_cut(repository: Path, tmp_path: Path) -> None:
    """In a shallow clone the history ends at the cut without failing."""
    for n in range(3):
        commit(repository, f"change {n}", **{PATH: str(n)})
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository}", "shallow")
    found, _ = subjects(tmp_path / "shallow")
    assert found in ([], ["change 2"])


@pytest.mark.parametrize("path", ["knowledge/none.yaml", "", "a//b"])
def test_a_path_that_never_was_has_no_history(repository: Path, path: str) -> None:
    """A path no commit holds has no history, however odd it is."""
    commit(repository, "add", **{PATH: "one"})
    assert subjects(repository, path) == ([], True)
