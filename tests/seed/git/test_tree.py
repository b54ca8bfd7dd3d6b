from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from seed.errors import SidecarError
from seed.git.repository import Repository, open_repository
from seed.git.tree import (
    UnreadableBlobError,
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
