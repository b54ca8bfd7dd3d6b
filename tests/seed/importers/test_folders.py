from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from seed.importers import adr, decide
from seed.importers.frontmatter import load_yaml
from seed.importers.model import Document, ImportReport

TABLE = (Path(__file__).parent / "folders.yaml").read_text(encoding="utf-8")
CASES: list[dict[str, Any]] = load_yaml(TABLE)  # type: ignore[assignment]
RELATIONS = ("supersedes", "superseded_by", "amends", "amended_by")


def imported(case: dict[str, Any]) -> ImportReport:
    documents = [Document(path, text) for path, text in case["files"].items()]
    return adr.read_documents(documents, prefix="x")


def told(record: Any) -> dict[str, Any]:
    """Return what the table says of a record."""
    return {key: record[key] for key in ("status", "date", "title", *RELATIONS) if record.get(key)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_folder_is_read_as_a_person_reads_it(case: dict[str, Any]) -> None:
    """Status, date, title and relations of every record of a folder, no record more, and none invented."""
    report = imported(case)
    assert {one.id: told(one.record) for one in report.records} == case["expect"]
    if "skipped" in case:
        assert sorted(one.path for one in report.skipped) == sorted(case["skipped"])


def test_there_are_forty_folders_at_least() -> None:
    """The table covers the forms in which people are known to keep records."""
    assert len(CASES) >= 40


def test_a_doubt_takes_a_record_out_of_force(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: with the first place alone, a record whose text says deprecated would be accepted."""
    case = next(one for one in CASES if one["name"] == "front matter and text disagree")
    assert "accepted" not in {one.record["status"] for one in imported(case).records}
    monkeypatch.setattr(decide, "_gravest", lambda said, _notes: said[0])
    assert "accepted" in {one.record["status"] for one in imported(case).records}
