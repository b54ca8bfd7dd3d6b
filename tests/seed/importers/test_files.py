from pathlib import Path

import pytest

from seed.errors import SidecarError
from seed.importers import adr, files
from seed.importers.model import Document, Skipped

ACCEPTED = "# 1. Moor\n\nStatus: Accepted\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "adr").mkdir()
    (tmp_path / "adr/0001-moor.md").write_text(ACCEPTED)
    (tmp_path / "adr/0002-sail.md").write_text("# 2. Sail\n\nStatus: Proposed\n")
    return tmp_path / "adr"


def test_a_second_run_writes_nothing(folder: Path) -> None:
    """Importing twice leaves every file and its time of change alone."""
    first = adr.write(adr.read_folder(folder), folder.parent)
    assert (len(first.created), len(first.unchanged)) == (2, 0)
    target = folder.parent / first.created[0]
    before = target.stat().st_mtime_ns
    second = adr.write(adr.read_folder(folder), folder.parent)
    assert (len(second.created), len(second.updated), len(second.unchanged)) == (0, 0, 2)
    assert target.stat().st_mtime_ns == before


def test_a_changed_source_updates_an_untouched_record(folder: Path) -> None:
    """A record that nobody edited follows its source."""
    adr.write(adr.read_folder(folder), folder.parent)
    (folder / "0001-moor.md").write_text(ACCEPTED.replace("Accepted", "Deprecated"))
    written = adr.write(adr.read_folder(folder), folder.parent)
    assert written.updated == ("knowledge/adr/adr-0001.yaml",)
    assert "status: deprecated" in (folder.parent / written.updated[0]).read_text()


def test_an_edited_record_is_kept_unless_forced(folder: Path) -> None:
    """What a person changed after the import is not overwritten, even if the source changed as well."""
    adr.write(adr.read_folder(folder), folder.parent)
    target = folder.parent / "knowledge/adr/adr-0001.yaml"
    edited = target.read_text() + "tags: [mine]\n"
    target.write_text(edited)
    (folder / "0001-moor.md").write_text(ACCEPTED.replace("Accepted", "Deprecated"))
    report = adr.read_folder(folder)
    assert adr.write(report, folder.parent).kept == ("knowledge/adr/adr-0001.yaml",)
    assert target.read_text() == edited
    assert adr.write(report, folder.parent, force=True).updated == ("knowledge/adr/adr-0001.yaml",)
    assert target.read_text() == report.records[0].text


def test_a_record_that_no_import_wrote_is_kept(folder: Path) -> None:
    """A file that stands where a record would go, without our first line, is a person's."""
    target = folder.parent / "knowledge/adr/adr-0001.yaml"
    target.parent.mkdir(parents=True)
    target.write_text("id: adr-0001\n")
    assert adr.write(adr.read_folder(folder), folder.parent).kept == ("knowledge/adr/adr-0001.yaml",)


def test_a_dry_run_writes_nothing(folder: Path) -> None:
    """It counts what would be written and leaves no folder behind."""
    assert len(adr.write(adr.read_folder(folder), folder.parent, dry_run=True).created) == 2
    assert not (folder.parent / "knowledge").exists()


def test_what_cannot_be_written_is_one_line(folder: Path) -> None:
    """A file in the way of the target folder is named, with what to do."""
    (folder.parent / "knowledge").write_text("in the way")
    with pytest.raises(SidecarError, match="cannot be written") as caught:
        adr.write(adr.read_folder(folder), folder.parent)
    assert caught.value.fix


def test_files_that_cannot_be_records_are_skipped_by_name(folder: Path) -> None:
    """Empty, binary, linked, oversized and foreign files are listed; hidden folders are not entered."""
    (folder / "0003-empty.md").write_text(" \n")
    (folder / "0004-binary.md").write_bytes(b"a\0b")
    (folder / "0005-link.md").symlink_to(folder / "0001-moor.md")
    (folder / "0006-long.md").write_bytes(b"x" * (files.MAX_BYTES + 1))
    (folder / "0007-ascii.adoc").write_text("= Title")
    (folder / ".hidden").mkdir()
    (folder / ".hidden/0008-secret.md").write_text(ACCEPTED)
    report = adr.read_folder(folder)
    assert [item.id for item in report.records] == ["adr-0001", "adr-0002"]
    reasons = {item.path: item.reason for item in report.skipped}
    assert [name[5:] for name in sorted(reasons)] == [
        "empty.md",
        "binary.md",
        "link.md",
        "long.md",
        "ascii.adoc",
    ]


def test_encodings() -> None:
    """UTF-8 with a byte order mark and UTF-16 are read, other bytes with a doubt; line ends become LF."""
    assert files.decode("a", b"\xef\xbb\xbfa\r\nb\rc") == Document("a", "a\nb\nc")
    assert files.decode("a", "naïve".encode("utf-16")) == Document("a", "naïve")
    legacy = files.decode("a", "naïve".encode("cp1252"))
    assert isinstance(legacy, Document)
    assert legacy.text == "naïve"
    assert legacy.doubt
    assert isinstance(files.decode("a", b"\xff\xfea"), Document | Skipped)


def test_a_name_that_is_no_utf8(folder: Path) -> None:
    """A file name of odd bytes is shown with a replacement character, and the record is written."""
    (folder / b"0009-na\xefve.md".decode("utf-8", "surrogateescape")).write_text(ACCEPTED)
    report = adr.read_folder(folder)
    assert "adr-0009" in {item.id for item in report.records}
    adr.write(report, folder.parent)
