from collections.abc import Callable
from pathlib import Path

import pytest

from seed.importers import adr
from seed.importers.frontmatter import load_yaml
from seed.importers.model import Imported

Load = Callable[..., dict[str, Imported]]

KEP = """title: Berth allocation
kep-number: 1234
authors:
  - "@ada"
status: implementable
creation-date: 2020-01-31
last-updated: 2021-02-28
replaces:
  - "/keps/sig-harbour/0012-old-berths"
superseded-by: []
"""
README = "# KEP-1234: Berth allocation\n\n## Summary\n\nText.\n"
OLD = "---\nkep-number: 12\ntitle: Old berths\nstatus: replaced\ncreation-date: 2018-06-21\n---\n# Old berths\n"
RFC = """---
title: Lights on buoys
stage: released
start-date: 2019-03-04T00:00:00.000Z
release-date: 2020-01-01
prs:
  accepted: https://git.example/rfcs/pull/9
---

# Lights on buoys

## Summary
"""


def test_a_kep_folder_is_one_record(tmp_path: Path) -> None:
    """kep.yaml and README.md become one record with both texts, both sources and the folder's number."""
    folder = tmp_path / "keps/sig-harbour/1234-berth-allocation"
    folder.mkdir(parents=True)
    (folder / "kep.yaml").write_text(KEP)
    (folder / "README.md").write_text(README)
    (folder.parent / "0012-old-berths.md").write_text(OLD)
    (tmp_path / "keps/README.md").write_text("# Proposals\n")
    (tmp_path / "keps/NNNN-kep-template").mkdir()
    (tmp_path / "keps/NNNN-kep-template/kep.yaml").write_text("title: KEP Template\nstatus: provisional\n")
    report = adr.read_folder(tmp_path / "keps")
    items = {item.id: item for item in report.records}
    assert sorted(items) == ["keps-0012", "keps-1234"]
    record = items["keps-1234"].record
    assert (record["title"], record["status"], record["date"]) == (
        "Berth allocation",
        "accepted",
        "2020-01-31",
    )
    assert record["supersedes"] == ["keps-0012"]
    assert record["source"] == [
        {"path": "sig-harbour/1234-berth-allocation/README.md"},
        {"path": "sig-harbour/1234-berth-allocation/kep.yaml"},
    ]
    assert KEP in str(record["body"])
    assert README in str(record["body"])
    assert load_yaml(items["keps-1234"].text) == record
    assert any("kep.yaml" in line for line in items["keps-1234"].decided)
    assert items["keps-0012"].record["status"] == "superseded"


def test_a_kep_without_readme(load: Load) -> None:
    """The metadata alone is a record as well."""
    record = load({"1234-berths/kep.yaml": KEP})["x-1234"].record
    assert (record["title"], record["source"]) == ("Berth allocation", [{"path": "1234-berths/kep.yaml"}])


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("provisional", "proposed"),
        ("implemented", "accepted"),
        ("deferred", "proposed"),
        ("withdrawn", "rejected"),
    ],
)
def test_kep_statuses(load: Load, status: str, expected: str) -> None:
    """A KEP's own words of status have one reading each."""
    item = load({"1234-b/kep.yaml": KEP.replace("implementable", status)})["x-1234"]
    assert item.record["status"] == expected


def test_an_rfc_with_front_matter(load: Load) -> None:
    """``stage`` stands for the status where there is none, and the start for the date."""
    record = load({"text/0009-lights.md": RFC})["x-0009"].record
    assert (record["title"], record["status"], record["date"]) == (
        "Lights on buoys",
        "accepted",
        "2019-03-04",
    )
    both = load({"0009-a.md": RFC.replace("stage: released", "stage: released\nstatus: rejected")})["x-0009"]
    assert both.record["status"] == "rejected"
