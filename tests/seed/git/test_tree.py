from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pygit2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seed.errors import SidecarError
from seed.git import tree
from seed.git.repository import Repository, open_repository
from seed.git.tree import (
    UnreadableBlobError,
    configuration,
    difference,
    find,
    has_object,
    is_record_path,
    list_entries,
    list_files,
    read_blob,
    subtree,
)
from seed.yamltext import MAX_BYTES

Git = Callable[..., str]
Commit = Callable[..., str]


def listed(folder: Path, commit: str) -> list[str]:
    repo = open_repository(folder)
    return [entry.path for entry in list_files(repo, subtree(repo, commit))]


def test_files_are_listed_by_path_at_any_depth(repository: Path, commit: Commit) -> None:
    """Every regular file under knowledge/ of that commit, sorted, and none beside it."""
    first = commit(
        {"knowledge/b.yaml": "1", "knowledge/x/y/a.yaml": "2", "other.yaml": "3", "src/knowledge/c.yaml": "4"}
    )
    second = commit({"knowledge/b.yaml": None, "knowledge/notes.md": "5"})
    assert listed(repository, first) == ["knowledge/b.yaml", "knowledge/x/y/a.yaml"]
    assert listed(repository, second) == ["knowledge/notes.md", "knowledge/x/y/a.yaml"]


def test_a_commit_without_knowledge_has_no_files(repository: Path, commit: Commit) -> None:
    """An absent folder is no fault, and a file of that name is no folder."""
    assert listed(repository, commit({"a": "1"})) == []
    assert listed(repository, commit({"knowledge": "a file"})) == []


def test_links_and_submodules_are_not_read(repository: Path, commit: Commit, git: Git, tmp_path: Path) -> None:
    """What leads out of the repository is no file of it."""
    (tmp_path / "secret.yaml").write_text("secret")
    (repository / "knowledge").mkdir()
    (repository / "knowledge/link.yaml").symlink_to(tmp_path / "secret.yaml")
    inner = tmp_path / "inner"
    inner.mkdir()
    for arguments in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(["git", *arguments], cwd=inner, check=True)
    git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "knowledge/sub")
    head = commit({"knowledge/a.yaml": "1"})
    assert listed(repository, head) == ["knowledge/a.yaml"]
    repo = open_repository(repository)
    assert len(list_entries(repo, subtree(repo, head))) == 3


def test_a_link_in_place_of_knowledge_is_no_folder(repository: Path, commit: Commit, tmp_path: Path) -> None:
    """A link called knowledge is not followed."""
    (repository / "knowledge").symlink_to(tmp_path)
    assert listed(repository, commit({"a": "1"})) == []


def test_names_that_are_not_utf8_are_escaped_and_readable(repository: Path, commit: Commit) -> None:
    """A file name of other bytes is listed with its bytes escaped, and its content is read by its blob."""
    (repository / "knowledge").mkdir()
    (repository / "knowledge/caf\udce9.yaml").write_text("x")
    head = commit({})
    repo = open_repository(repository)
    (entry,) = list_files(repo, subtree(repo, head))
    assert entry.path == "knowledge/caf\\xe9.yaml"
    assert read_blob(repo, entry.blob) == b"x"
    assert find(repo, head, entry.path) is not None


def test_a_blob_is_measured_before_it_is_read(repository: Path, commit: Commit) -> None:
    """A file over the limit is refused with its size; one of exactly the limit is read."""
    head = commit({"knowledge/big.yaml": b"x" * (MAX_BYTES + 1), "knowledge/fits.yaml": b"x" * MAX_BYTES})
    repo = open_repository(repository)
    big, fits = list_files(repo, subtree(repo, head))
    assert len(read_blob(repo, fits.blob)) == MAX_BYTES
    with pytest.raises(UnreadableBlobError) as caught:
        read_blob(repo, big.blob)
    assert str(MAX_BYTES + 1) in caught.value.reason


def remove(repo: Repository, oid: str) -> None:
    file = repo.common / "objects" / oid[:2] / oid[2:]
    file.chmod(0o600)
    file.unlink()


def test_what_this_clone_lacks_is_named_and_never_fetched(repository: Path, commit: Commit) -> None:
    """A missing blob, tree or commit says which, and how the user may fetch it."""
    head = commit({"knowledge/a.yaml": "1"})
    repo = open_repository(repository)
    (entry,) = list_files(repo, subtree(repo, head))
    tree = subtree(repo, head)
    remove(repo, entry.blob)
    again = open_repository(repository)
    assert not has_object(again, entry.blob)
    with pytest.raises(UnreadableBlobError) as blob:
        read_blob(again, entry.blob)
    assert "git fetch" in blob.value.fix
    remove(repo, tree)
    with pytest.raises(SidecarError, match="is missing in this clone"):
        list_files(open_repository(repository), tree)
    with pytest.raises(SidecarError, match="is missing in this clone"):
        subtree(again, "1" * 40)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("knowledge/a.yaml", True),
        ("knowledge/x/policy.yaml", True),
        ("knowledge/policy.yaml", False),
        ("knowledge/glossary.yaml", False),
        ("knowledge/a.yml", False),
        ("knowledge/a.md", False),
        ("knowledgeable/a.yaml", False),
        ("src/knowledge/a.yaml", False),
    ],
)
def test_a_record_is_a_yaml_file_under_knowledge(path: str, *, expected: bool) -> None:
    """Configuration at its place is no record, and no other suffix or folder is read."""
    assert is_record_path(path) is expected


def test_a_file_is_found_by_its_path(repository: Path, commit: Commit) -> None:
    """One entry of a commit, or nothing."""
    head = commit({"knowledge/x/a.yaml": "1"})
    repo = open_repository(repository)
    assert find(repo, head, "knowledge/x/a.yaml") is not None
    assert find(repo, head, "knowledge/y/a.yaml") is None
    assert find(repo, head, "knowledge/x/b.yaml") is None


LEAF = st.tuples(st.sampled_from([0o100644, 0o100755, 0o120000, 0o160000]), st.sampled_from([b"1", b"2", b"3"]))
NAMES = st.sampled_from([b"a.yaml", b"b", b"c", b".git", b"x/y", b"\xff"])
TREES = st.recursive(LEAF, lambda below: st.lists(st.tuples(NAMES, below), max_size=5), max_leaves=14).filter(
    lambda made: isinstance(made, list)
)


def written(repo: Repository, made: Any) -> tuple[int, str]:
    """Write a tree as it is described, however malformed, and return (mode, id)."""
    if isinstance(made, tuple):
        return made[0], str(repo.git.create_blob(made[1]))
    entries = [(name, *written(repo, below)) for name, below in made]
    data = b"".join(b"%o %s\0" % (mode, name) + bytes.fromhex(oid) for name, mode, oid in entries)
    return 0o40000, str(repo.git.odb.write(pygit2.enums.ObjectType.TREE, data))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TREES, TREES)
def test_what_differs_is_what_two_listings_differ_in(repository: Path, before: Any, after: Any) -> None:
    """One tree less what is gone, with what is new, is the other: also with names twice, or such as no file has."""
    repo = open_repository(repository)
    old, new = written(repo, before)[1], written(repo, after)[1]
    told = difference(repo, old, new)
    listings = [Counter(list_files(repo, tree)) for tree in (old, new)]
    assert listings[0] - Counter(told.gone) + Counter(told.new) == listings[1]
    assert Counter(told.gone) <= listings[0]
    assert difference(repo, "", new).new == list_files(repo, new)
    assert difference(repo, old, "").gone == list_files(repo, old)


def test_an_equal_folder_is_not_opened(repository: Path, commit: Commit, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a difference costs is what the changed folders hold."""
    commit({f"knowledge/{n}/{m}/a.yaml": f"{n} {m}" for n in range(3) for m in range(3)})
    before = subtree(repo := open_repository(repository), commit({"x": "1"}))
    after = subtree(repo, commit({"knowledge/1/2/a.yaml": "changed"}))
    seen, real = [], tree.raw_entries
    monkeypatch.setattr(tree, "raw_entries", lambda repo, oid: (seen.append(oid), real(repo, oid))[1])
    told = difference(repo, before, after)
    assert [entry.path for entry in told.gone] == [entry.path for entry in told.new] == ["knowledge/1/2/a.yaml"]
    assert len(seen) == 2 * 3


def test_the_configuration_is_the_policy_and_the_glossary(repository: Path, commit: Commit, tmp_path: Path) -> None:
    """Both files by path where they lie directly under knowledge/; a link leads nowhere, and no tree has none."""
    files = {"knowledge/policy.yaml": "1", "knowledge/glossary.yaml": "2", "knowledge/x/policy.yaml": "3"}
    repo = open_repository(repository)
    held = configuration(repo, subtree(repo, commit({**files, "knowledge/a.yaml": "4"})))
    assert [entry.path for entry in held] == ["knowledge/glossary.yaml", "knowledge/policy.yaml"]
    (repository / "knowledge/policy.yaml").unlink()
    (repository / "knowledge/policy.yaml").symlink_to(tmp_path / "policy.yaml")
    head = commit({"knowledge/a.yaml": "5"})
    assert [entry.path for entry in configuration(repo, subtree(repo, head))] == ["knowledge/glossary.yaml"]
    assert configuration(repo, "") == []
