from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from seed.errors import SidecarError
from seed.git.repository import open_repository
from seed.renumber import Renumbered, renumber

Text = Callable[..., str]


def change(folder: Path, which: str, to: str = "") -> Renumbered:
    return renumber(open_repository(folder), which, to)


def state(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in (folder / "knowledge").rglob("*") if p.is_file()}


@pytest.fixture
def records(repository: Path, record_text: Text) -> Path:
    folder = repository / "knowledge"
    folder.mkdir()
    (folder / "d-0001.yaml").write_text("# mine\n" + record_text("d-0001"))
    (folder / "d-0002-slug.yaml").write_text(
        record_text("d-0002") + "supersedes: ['D-0001']  # why\nrelates_to: d-0001\n"
    )
    (folder / "d-0003.yaml").write_text(record_text("d-0003", body="As d-0001 says, d-00010 not.\n"))
    return repository


def test_file_id_and_every_relation_change(records: Path) -> None:
    """The record gets the next free id, its file the new name, and each relation names it; comments stay."""
    before = state(records)
    done = change(records, "d-0001")
    assert (done.old, done.new, done.path) == ("d-0001", "d-0004", "knowledge/d-0004.yaml")
    assert done.changed == ("knowledge/d-0002-slug.yaml",)
    referring = before["knowledge/d-0002-slug.yaml"].replace(b"'D-0001'", b"'d-0004'")
    assert state(records) == {
        "knowledge/d-0004.yaml": before["knowledge/d-0001.yaml"].replace(b"id: d-0001", b"id: d-0004"),
        "knowledge/d-0002-slug.yaml": referring.replace(b"to: d-0001", b"to: d-0004"),
        "knowledge/d-0003.yaml": before["knowledge/d-0003.yaml"],
    }


def test_prose_that_names_the_old_id_is_reported(records: Path) -> None:
    """What a person wrote is not rewritten; the places are listed, whole words only."""
    done = change(records, "d-0001", "free")
    assert ("knowledge/d-0003.yaml", 6) in done.left
    assert all(path != "knowledge/d-0002-slug.yaml" for path, _ in done.left)


def test_the_slug_of_a_file_name_stays(records: Path) -> None:
    """A file named by its id and more keeps what comes after the id."""
    assert change(records, "d-0002").path == "knowledge/d-0004-slug.yaml"


def test_of_two_files_with_one_id_the_references_stay_with_the_one_that_keeps_it(
    records: Path, record_text: Text
) -> None:
    """A shared id is changed by path, no relation moves, and those that may have meant it are listed."""
    (records / "knowledge/twin.yaml").write_text(record_text("D-0001"))
    with pytest.raises(SidecarError, match="by its path"):
        change(records, "d-0001")
    done = change(records, "knowledge/twin.yaml")
    assert (done.new, done.path, done.changed) == ("D-0004", "knowledge/twin.yaml", ())
    assert {path for path, _ in done.left} >= {"knowledge/d-0002-slug.yaml", "knowledge/d-0003.yaml"}


@pytest.mark.parametrize("to", ["d-0003", "D-0003", "d-0001", "a b", "x..y", "d-0009"])
def test_an_id_that_is_taken_or_not_allowed_is_refused(records: Path, to: str) -> None:
    """A new id must be free, as an id and as a file, and be allowed; otherwise nothing changes."""
    (records / "knowledge/d-0009.yaml").write_text("id: [")
    before = state(records)
    with pytest.raises(SidecarError):
        change(records, "d-0001", to)
    assert state(records) == before


def test_an_unknown_record_is_refused(records: Path) -> None:
    """A record that is not there cannot be renumbered."""
    with pytest.raises(SidecarError, match="no record"):
        change(records, "d-9999")


def test_a_way_of_writing_that_cannot_be_edited_changes_nothing(records: Path) -> None:
    """Where a reference stands behind an alias, the whole command is refused and names the file."""
    (records / "knowledge/d-0005.yaml").write_text(
        "id: d-0005\nkind: fact\ntitle: &a d-0001\nstatus: verified\nrelates_to: *a\n"
    )
    before = state(records)
    with pytest.raises(SidecarError, match=r"d-0005\.yaml"):
        change(records, "d-0001")
    assert state(records) == before


@pytest.mark.parametrize("fail_at", [1, 2])
def test_a_failure_in_the_middle_leaves_everything_as_it_was(
    records: Path, monkeypatch: pytest.MonkeyPatch, fail_at: int
) -> None:
    """When a file cannot be moved into place, those that were are put back and no scratch file stays."""
    before = state(records)
    calls = 0
    move = Path.replace

    def failing(self: Path, target: Path) -> Path:
        nonlocal calls
        calls += 1
        if calls == fail_at:
            raise OSError(28, "No space left on device", str(target))
        return move(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(SidecarError, match="nothing was changed"):
        change(records, "d-0001")
    assert state(records) == before


def test_a_failing_rename_puts_the_contents_back(records: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last step is the rename; when it fails, every content is the old one again."""
    before = state(records)

    def failing(_self: Path, target: Path) -> Path:
        raise OSError(1, "Operation not permitted", str(target))

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(SidecarError, match="nothing was changed"):
        change(records, "d-0001")
    assert state(records) == before
