"""The real folders beside the checkout, where they are."""

import json
from pathlib import Path
from typing import Any

import pytest

from seed.importers import adr

CORPORA = Path(__file__).parents[3] / "../shared/corpora"
pytestmark = pytest.mark.skipif(not (CORPORA / "adr").is_dir(), reason="the shared corpora are not here")


@pytest.fixture(scope="module")
def expected() -> dict[str, dict[str, Any]]:
    lines = (CORPORA / "dev/records.jsonl").read_text(encoding="utf-8").split("\n")
    return {record["id"]: record for record in map(json.loads, filter(None, lines))}


@pytest.fixture(scope="module")
def imported() -> dict[str, adr.Imported]:
    folders = sorted((CORPORA / "adr").iterdir())
    return {item.id: item for folder in folders for item in adr.read_folder(folder, prefix=folder.name).records}


def test_exactly_the_ids_of_the_reference(expected: dict[str, Any], imported: dict[str, adr.Imported]) -> None:
    """Six folders with their repository's name as prefix give the 141 ids of the reference and no other."""
    assert set(imported) == set(expected)


def test_statuses_agree(expected: dict[str, Any], imported: dict[str, adr.Imported]) -> None:
    """At least 95 % agree, ``draft`` read as proposed; the reference took the rest from example code."""
    differing = {
        key
        for key, record in expected.items()
        if imported[key].record["status"] != record["status"].replace("draft", "proposed")
    }
    assert len(differing) <= 0.05 * len(expected)
    assert differing == {"madr-0008", "madr-0013"}


def test_bodies_and_titles_agree(expected: dict[str, Any], imported: dict[str, adr.Imported]) -> None:
    """Every body is the file's text and every title the heading without its number."""
    for key, record in expected.items():
        assert (imported[key].record["title"], imported[key].record["body"]) == (
            record["title"],
            record["body"],
        )


def test_dates_agree_where_one_is_written_as_a_date(
    expected: dict[str, Any], imported: dict[str, adr.Imported]
) -> None:
    """Dates agree but for two that the reference took from a URL and from a remark in the text."""
    differing = {key for key, record in expected.items() if imported[key].record.get("date") != record["date"]}
    assert differing == {"madr-0000", "madr-0003"}


def test_supersession_agrees(expected: dict[str, Any], imported: dict[str, adr.Imported]) -> None:
    """Supersession agrees in pairs, but one written "in part" amends here, so that it retires nothing."""

    def pairs(records: list[dict[str, Any]]) -> set[tuple[str, str]]:
        forward = {(r["id"], other) for r in records for other in r.get("supersedes", [])}
        return forward | {(other, r["id"]) for r in records for other in r.get("superseded_by", [])}

    found = pairs([dict(item.record) for item in imported.values()])
    assert pairs(list(expected.values())) - found == {("govuk-aws-0033", "govuk-aws-0003")}
    assert found <= pairs(list(expected.values()))
    assert imported["govuk-aws-0033"].record["amends"] == ["govuk-aws-0003"]
