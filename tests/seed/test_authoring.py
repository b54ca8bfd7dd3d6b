from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from seed.authoring import next_id, start_record
from seed.checker import check_repository
from seed.errors import SidecarError
from seed.git.repository import open_repository
from seed.reader import parse_record
from seed.record import KINDS

Text = Callable[..., str]
TODAY = date(2026, 11, 29)


def start(folder: Path, kind: str, title: str = "A title") -> tuple[str, Path]:
    return start_record(open_repository(folder), kind, title, TODAY)


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_record_passes_check(repository: Path, kind: str) -> None:
    """What `new` writes is sound but for its text, in the folder of its kind, with today's date."""
    ident, file = start(repository, kind)
    record = parse_record(file.read_bytes()).record
    assert record is not None
    assert (record.id, record.kind, record.date) == (f"{kind}-0001", kind, "2026-11-29")
    assert file.name == f"{ident}.yaml"
    found = check_repository(open_repository(repository)).findings
    assert [f.reason for f in found] in ([], ["the body has headings and no text yet"])


def test_decisions_start_accepted_and_facts_unverified(repository: Path) -> None:
    """A decision written into a pull request is one; a fact waits to be verified."""
    statuses = {kind: parse_record(start(repository, kind)[1].read_bytes()).record for kind in KINDS}
    assert {kind: record.status for kind, record in statuses.items() if record} == {
        "decision": "accepted",
        "adr": "accepted",
        "history": "historical",
        "fact": "unverified",
        "finding": "unverified",
    }


def test_the_id_is_the_largest_number_plus_one(repository: Path, record_text: Text) -> None:
    """Ids in files of any name count, without regard to case, and gaps are not filled."""
    (repository / "knowledge").mkdir()
    (repository / "knowledge/x.yaml").write_text(record_text("Decision-0041"))
    (repository / "knowledge/decision-0050.yaml").write_text("id: [")
    assert start(repository, "decision")[0] == "decision-0051"
    assert start(repository, "fact")[0] == "fact-0001"


@pytest.mark.parametrize(
    ("like", "expected"),
    [
        ("adr-7", "adr-13"),
        ("adr-0007", "adr-0013"),
        ("x2-01", "x2-01"),
        ("decision-20261129-123456", "decision-0001"),
        ("slug", "decision-0001"),
        ("", "decision-0001"),
    ],
)
def test_the_next_id_follows_the_pattern_of_the_old_one(like: str, expected: str) -> None:
    """Prefix and width are kept; an id that does not count on gets one that does."""
    assert next_id({"adr-12", "adr-0003"}, like, "decision") == expected


@pytest.mark.parametrize("title", ["no", "a: b # c", "- x", "'q\"", "{a}", "決定 \U0001f600", "  two\n lines "])
def test_any_title_is_kept(repository: Path, title: str) -> None:
    """A title that YAML would read as something else is quoted."""
    record = parse_record(start(repository, "decision", title)[1].read_bytes()).record
    assert record is not None
    assert record.title == " ".join(title.split())


def test_nothing_is_overwritten(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is there already, as when two start a record at once, is left as it is."""
    _, file = start(repository, "decision")
    file.write_text("mine")
    monkeypatch.setattr("seed.authoring.worktree_records", lambda _repo: [])
    with pytest.raises(SidecarError, match="is there already"):
        start(repository, "decision")
    assert file.read_text() == "mine"


def test_nothing_is_written_through_a_link(repository: Path, tmp_path: Path) -> None:
    """A folder that is a link leads out of the repository, and no record is read there."""
    (repository / "knowledge").mkdir()
    (tmp_path / "out").mkdir()
    (repository / "knowledge/decisions").symlink_to(tmp_path / "out")
    with pytest.raises(SidecarError, match="symbolic link"):
        start(repository, "decision")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(("kind", "title"), [("note", "x"), ("decision", "  ")])
def test_what_makes_no_record_is_refused(repository: Path, kind: str, title: str) -> None:
    """An unknown kind and an empty title are refused before anything is written."""
    with pytest.raises(SidecarError):
        start(repository, kind, title)
    assert not (repository / "knowledge").exists()
