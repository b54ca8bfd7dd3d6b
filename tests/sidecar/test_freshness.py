"""After whatever moves HEAD or a candidate branch, an answer is of HEAD or says that it is stale, with both commits."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from seed.git.repository import open_repository
from seed.store.lock import exclusive
from sidecar.hooks.install import install
from sidecar.provider import Provider
from sidecar.query import Query

POLICY = "format: 1\nembedder: {model: toy, languages: 'off'}\n"
Git = Callable[..., str]
EVERYTHING = Query(limit=50, statuses=("all",), listing=True)


def write(folder: Path, number: int, title: str = "") -> None:
    (folder / "knowledge").mkdir(exist_ok=True)
    (folder / "knowledge" / "policy.yaml").write_text(POLICY)
    (folder / "knowledge" / f"decision-{number:04}.yaml").write_text(
        f"id: decision-{number:04}\nkind: decision\ntitle: {title or f'Choice {number}'}\nstatus: accepted\n"
        f"date: 2026-01-{number:02}\nbody: |\n  Because of reason {number}.\n"
    )


@pytest.fixture
def git(repository: Path) -> Git:
    def run(*arguments: str, ok: bool = True, cwd: Path = repository) -> str:
        done = subprocess.run(["git", *arguments], cwd=cwd, capture_output=True, text=True, check=False)
        assert not ok or done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


def commit(git: Git, folder: Path, number: int, title: str = "") -> None:
    write(folder, number, title)
    git("add", "-A", cwd=folder)
    git("commit", "-q", "-m", f"record {number}", cwd=folder)


@pytest.fixture(params=["hooks", "no hooks"])
def project(request: pytest.FixtureRequest, repository: Path, git: Git) -> Iterator[Path]:
    """Records 1 and 2 on main, 1 and 3 on side, 1 with another title on clash; hooks installed or not."""
    commit(git, repository, 1)
    for branch, number, title in (("side", 3, ""), ("clash", 2, "Their choice")):
        git("switch", "-q", "-c", branch, "main")
        commit(git, repository, number, title)
        git("switch", "-q", "main")
    commit(git, repository, 2)
    if request.param == "hooks":
        install(open_repository(repository))
    yield repository
    for sequence in ("merge", "rebase"):
        git(sequence, "--abort", ok=False)  # else the hook's process would wait for its end
    _wait_for_hooks(repository)


def _wait_for_hooks(folder: Path) -> None:
    end = time.monotonic() + 30
    while list(open_repository(folder).common.rglob("sidecar-pending")) and time.monotonic() < end:
        time.sleep(0.05)


def amend(git: Git, folder: Path) -> None:
    write(folder, 2, "Choice 2, amended")
    git("commit", "-q", "-a", "--amend", "--no-edit")


def pull(*flags: str) -> Callable[[Git, Path], None]:
    def run(git: Git, folder: Path) -> None:
        upstream = folder.parent / "upstream"
        git("clone", "-q", "--no-hardlinks", str(folder), str(upstream))
        commit(git, upstream, 7)
        git("remote", "add", "origin", str(upstream))
        if "--rebase" in flags:
            commit(git, folder, 8)
        git("pull", "-q", *flags, "origin", "main")

    return run


def stash_pop(git: Git, folder: Path) -> None:
    write(folder, 2, "Choice 2, in the working tree")
    git("stash", "-q")
    commit(git, folder, 9)
    git("stash", "pop", "-q")


def conflict(git: Git, _folder: Path) -> None:
    git("merge", "-q", "clash", ok=False)


def conflict_resolved(git: Git, folder: Path) -> None:
    conflict(git, folder)
    write(folder, 2, "Both choices")
    git("commit", "-q", "-a", "--no-edit")


def collected(git: Git, _folder: Path) -> None:
    git("reset", "-q", "--hard", "HEAD~")
    git("reflog", "expire", "--expire=now", "--all")
    git("gc", "-q", "--prune=now")


def candidate(git: Git, folder: Path) -> None:
    git("switch", "-q", "-c", "knowledge/candidate/new")
    commit(git, folder, 6)
    git("switch", "-q", "main")


MOVES: dict[str, Callable[[Git, Path], Any]] = {
    "commit": lambda git, folder: commit(git, folder, 4),
    "amend": amend,
    "branch switch": lambda git, _: git("switch", "-q", "side"),
    "detached": lambda git, _: git("checkout", "-q", "--detach", "side"),
    "reset --hard": lambda git, _: git("reset", "-q", "--hard", "side"),
    "fast-forward pull": pull("--ff-only"),
    "pull --rebase": pull("--rebase"),
    "cherry-pick": lambda git, _: git("cherry-pick", "side"),
    "revert": lambda git, _: git("revert", "--no-edit", "HEAD"),
    "rebase": lambda git, _: git("rebase", "-q", "side"),
    "merge": lambda git, _: git("merge", "-q", "--no-edit", "side"),
    "merge left in conflict": conflict,
    "merge with conflicts": conflict_resolved,
    "rebase left in conflict": lambda git, _: git("rebase", "-q", "clash", ok=False),
    "stash pop": stash_pop,
    "gc of the seeded commit": collected,
    "candidate branch": candidate,
    "orphan branch": lambda git, _: git("switch", "-q", "--orphan", "empty"),
}


def titles_of_head(git: Git) -> set[str]:
    """The titles of HEAD's records, read by git alone."""
    if not git("rev-parse", "-q", "--verify", "HEAD", ok=False):
        return set()
    found = git("grep", "-h", "^title: ", "HEAD", "--", "knowledge", ok=False)
    return {line.removeprefix("title: ") for line in found.split("\n") if line}


def assert_of_head(answer: dict[str, Any], git: Git) -> None:
    revision = answer["revision"]
    head = git("rev-parse", "-q", "--verify", "HEAD", ok=False)
    assert (revision["commit"], revision["head"], revision["stale"]) == (head, head, False)
    of_head = {hit["title"] for hit in answer["results"] if hit["status"] != "candidate"}
    assert of_head == titles_of_head(git)


@pytest.mark.parametrize("move", MOVES)
def test_an_answer_is_of_head_after_whatever_moved_it(project: Path, git: Git, move: str) -> None:
    """A server that was open before the move and one that opens after it both answer from the new HEAD."""
    with closing(Provider(project)) as server:
        assert_of_head(server.recall(EVERYTHING), git)
        MOVES[move](git, project)
        assert_of_head(server.recall(EVERYTHING, budget=30.0), git)
    with closing(Provider(project)) as later:
        assert_of_head(later.recall(EVERYTHING, budget=30.0), git)


@pytest.mark.parametrize("move", [m for m in MOVES if m not in {"merge left in conflict", "orphan branch"}])
def test_an_answer_that_cannot_be_of_head_says_so(project: Path, git: Git, move: str) -> None:
    """While another process holds the seeding lock, the last snapshot answers, stale, and both commits are named."""
    with closing(Provider(project)) as server:
        before = server.recall(EVERYTHING)
        _wait_for_hooks(project)
        with exclusive(server.session.store.lock_path, 5.0):
            MOVES[move](git, project)
            answer = server.recall(EVERYTHING, budget=0.2)
        revision = answer["revision"]
        assert revision["stale"]
        assert revision["head"] == git("rev-parse", "HEAD")
        assert revision["commit"] == before["revision"]["commit"]
        assert [hit["title"] for hit in answer["results"]] == [hit["title"] for hit in before["results"]]
        assert_of_head(server.recall(EVERYTHING, budget=30.0), git)


def test_candidates_come_and_go_with_their_branches(project: Path, git: Git) -> None:
    """A new, a moved and a deleted candidate branch each change the next answer, without a new HEAD."""
    with closing(Provider(project)) as server:

        def proposed() -> set[str]:
            found = server.recall(EVERYTHING, budget=30.0)["results"]
            return {hit["title"] for hit in found if hit["status"] == "candidate"}

        assert proposed() == set()
        candidate(git, project)
        assert proposed() == {"Choice 6"}
        git("switch", "-q", "knowledge/candidate/new")
        write(project, 6, "Choice 6, reworded")
        git("commit", "-q", "-a", "-m", "reword")
        git("switch", "-q", "main")
        assert proposed() == {"Choice 6, reworded"}
        git("branch", "-q", "-D", "knowledge/candidate/new")
        assert proposed() == set()


def test_what_is_only_in_the_working_tree_is_counted_not_answered(project: Path, git: Git) -> None:
    """An answer is of the commit: an edit that is not committed shows in `withheld.uncommitted` alone."""
    stash_pop(git, project)
    with closing(Provider(project)) as server:
        answer = server.recall(EVERYTHING, budget=30.0)
    assert_of_head(answer, git)
    assert answer["withheld"]["uncommitted"] == 1


def test_another_repository_in_the_environment_changes_no_answer(
    project: Path, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GIT_DIR, GIT_WORK_TREE and GIT_INDEX_FILE of another repository are not looked at by a question."""
    other = tmp_path / "other"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    commit(git, other, 9)
    head = git("rev-parse", "HEAD")
    for name, value in (("GIT_DIR", ".git"), ("GIT_WORK_TREE", "."), ("GIT_INDEX_FILE", ".git/index")):
        monkeypatch.setenv(name, os.fspath(other / value))
    with closing(Provider(project)) as server:
        answer = server.recall(EVERYTHING)
    assert answer["revision"]["commit"] == head
    assert "Choice 9" not in {hit["title"] for hit in answer["results"]}
    monkeypatch.undo()
