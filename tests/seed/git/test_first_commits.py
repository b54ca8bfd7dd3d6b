from __future__ import annotations

from pathlib import Path

from seed.git.command import run_git
from seed.git.history import first_commits
from seed.git.repository import open_repository


def test_clones_begin_with_the_same_commit(repository: Path, tmp_path: Path) -> None:
    """A clone shares the first commit whatever comes later; another project shares none, an empty one has none."""
    assert first_commits(open_repository(repository)) == frozenset()
    run_git(["commit", "-q", "--allow-empty", "-m", "first"], repository)
    run_git(["clone", "-q", str(repository), str(tmp_path / "clone")], tmp_path)
    run_git(["commit", "-q", "--allow-empty", "-m", "second"], tmp_path / "clone")
    run_git(["init", "-q", str(tmp_path / "other")], tmp_path)
    run_git(["commit", "-q", "--allow-empty", "-m", "of its own"], tmp_path / "other")
    here, clone, other = (
        first_commits(open_repository(at)) for at in (repository, tmp_path / "clone", tmp_path / "other")
    )
    assert here == clone
    assert len(here) == 1
    assert not here & other
