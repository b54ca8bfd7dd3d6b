from collections.abc import Callable

import pytest

from seed.importers.model import Imported

One = Callable[..., Imported]
Load = Callable[..., dict[str, Imported]]
HEAD = "# 7. This\n\nDate: 2020-01-31\n\n"

STATUS = "## Status\n\n"
BODY = f"{STATUS}Accepted\n\n## Context\n\n"
URL = "https://git.example/o/r/blob/main/adr/0002-other-2.md"
CHANGED = "## Changelog\n\n- 2023-05-03: Mark as rejected in favour of ADR-3\n\n## Status\n\nRejected\n"

FORMS = [
    (STATUS + "Superseded by [2. Other](0002-other-2.md)\n", "superseded_by", ["x-0002"]),
    (STATUS + f"Superseded by [2]({URL})\n", "superseded_by", ["x-0002"]),
    (STATUS + "Superseded by ADR-002\n", "superseded_by", ["x-0002"]),
    (STATUS + "Accepted\n\nSuperceded by ADR 2 and ADR 3\n", "superseded_by", ["x-0002", "x-0003"]),
    (STATUS + "Superseded by Other 3\n", "superseded_by", ["x-0003"]),
    (STATUS + "Superseded by 0003-other-3\n", "superseded_by", ["x-0003"]),
    (STATUS + "[Superseded by ADR 2](0002-other-2.md)\n", "superseded_by", ["x-0002"]),
    (
        "Superseded: 2019-12-19 by [ADR 2](0002-other-2.md)\n\n## Status\n\nSuperseded\n",
        "superseded_by",
        ["x-0002"],
    ),
    (STATUS + "Rejected in favour of ADR 2\n", "superseded_by", ["x-0002"]),
    (STATUS + "Rejected (see [003](0003-other-3.md))\n", "superseded_by", ["x-0003"]),
    (STATUS + "Superseded by [Two][two]\n\n[two]: 0002-other-2.md\n", "superseded_by", ["x-0002"]),
    (BODY + "This ADR supersedes [0002](0002-other-2.md).\n", "supersedes", ["x-0002"]),
    (
        BODY + "This ADR supersedes the decisions made in\nADRs 2 and 3, but not all else.\n",
        "supersedes",
        ["x-0002", "x-0003"],
    ),
    ("Status: Accepted\nSupersedes: ADR-1, ADR-2 & 0003\n", "supersedes", ["x-0001", "x-0002", "x-0003"]),
    (STATUS + "Accepted\n\n## Links\n\n- Supersedes [Other 2](0002-other-2.md)\n", "supersedes", ["x-0002"]),
    (
        STATUS + "Accepted\n\n## Supersedes\n\n- [Other 2](0002-other-2.md)\n- ADR 1\n",
        "supersedes",
        ["x-0002", "x-0001"],
    ),
    (STATUS + "Accepted\n\nAmends [2](0002-other-2.md)\n", "amends", ["x-0002"]),
    (
        "**Status:** Accepted, amended by [1](0001-other-1.md), [2](0002-other-2.md) and 3\n",
        "amended_by",
        ["x-0001", "x-0002", "x-0003"],
    ),
    (
        STATUS + "Accepted\n\n[ADR 3](0003-other-3.md) supersedes this decision.\n",
        "superseded_by",
        ["x-0003"],
    ),
    (
        STATUS + "Accepted\n\n> **Note:** superseded by ADR 3.\n\n## Context\n\nText.\n",
        "superseded_by",
        ["x-0003"],
    ),
    (CHANGED, "superseded_by", ["x-0003"]),
]


@pytest.mark.parametrize(("text", "relation", "ids"), FORMS)
def test_forms(one: One, text: str, relation: str, ids: list[str]) -> None:
    """Supersession and amendment are found in every form in which people write them."""
    record = one(HEAD + text).record
    assert record.get(relation) == ids
    others = {"supersedes", "superseded_by", "amends", "amended_by"} - {relation}
    assert not others & set(record)


def test_several_relations_in_one_sentence(one: One) -> None:
    """A subject holds for the verbs that follow it; what another record did is not ours."""
    record = one(STATUS + "Accepted. Amends [1](0001-other-1.md) and supersedes ADR 2, ADR 3.\n").record
    assert (record["amends"], record["supersedes"]) == (["x-0001"], ["x-0002", "x-0003"])
    record = one(STATUS + "Superseded by ADR 2, which amends ADR 3\n").record
    assert record["superseded_by"] == ["x-0002"]
    assert "amends" not in record


def test_front_matter(one: One) -> None:
    """Front matter states relations as text or as a list."""
    record = one("---\nstatus: superseded by ADR-0003\nsupersedes: [ADR-1, 0002-other-2.md]\n---\n# This\n").record
    assert record["superseded_by"] == ["x-0003"]
    assert record["supersedes"] == ["x-0001", "x-0002"]


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        (
            "## Status\n\nAccepted\n\n## Context\n\nThis ADR in part supersedes [0002](0002-other-2.md).\n",
            "amends",
        ),
        (
            "## Status\n\nAccepted. Parts of this ADR were superseded by [ADR-2](0002-other-2.md).\n",
            "amended_by",
        ),
        (STATUS + "Accepted (partially superseded by ADR-0002)\n", "amended_by"),
        ("Status: Accepted\nSupersedes: part of ADR-2\n", "amends"),
        (
            "## Status\n\nAccepted\n\n## Context\n\nThis ADR supersedes ADR-2 for the web client only.\n",
            "amends",
        ),
        (
            "## Status\n\nAccepted\n\n## Context\n\nThis ADR supersedes the caching portion of ADR 2.\n",
            "amends",
        ),
        ("---\nstatus: accepted\npartially_superseded_by: ADR-2\n---\n# This\n", "amended_by"),
    ],
)
def test_a_part_amends_and_retires_nothing(one: One, text: str, relation: str) -> None:
    """What is superseded in part is an amendment: a ``supersedes`` would retire the whole record."""
    item = one(HEAD + text if text.startswith(("#", "S")) else text)
    assert item.record[relation] == ["x-0002"]
    assert item.record["status"] == "accepted"
    assert not {"supersedes", "superseded_by"} & set(item.record)


@pytest.mark.parametrize(
    "prose",
    [
        "ADR 2 supersedes ADR 3.",
        "The value supersedes the value stored on an edition.",
        "It may be superseded by ADR 3 one day.",
        "This ADR does not supersede ADR 3, and ADR 2 was superseded by ADR 3.",
        "If accepted, this ADR will be superseded by ADR 3.",
        "Replaced jQuery with [plain code](https://example.org/0003).",
        "```\nThis ADR supersedes ADR 3.\n```",
        "<!-- This ADR supersedes ADR 3. -->",
        "This ADR replaces the current queue. See ADR 3 for more.",
        "ADR 2 explains this and supersedes ADR 3.",
    ],
)
def test_prose_about_other_things_is_no_relation(one: One, prose: str) -> None:
    """Only what is said of this record, as a fact, is a relation."""
    record = one(f"{HEAD}## Status\n\nAccepted\n\n## Context\n\n{prose}\n").record
    assert not {"supersedes", "superseded_by", "amends", "amended_by"} & set(record)


def test_something_in_the_record_is_superseded(one: One) -> None:
    """A passage of the record that was superseded is a doubt, no relation."""
    item = one(f"{HEAD}## Status\n\nAccepted\n\n## Context\n\nThese ranges have been superseded by ADR 3.\n")
    assert "superseded_by" not in item.record
    assert any("not said of the whole record" in doubt for doubt in item.doubts)


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("ADR 99", "no record of this folder"),
        ("ADR 7", "refers to the record itself"),
        ("RFC 2", "another series"),
        ("[#2](https://git.example/o/r/pull/2)", "is no record"),
    ],
)
def test_a_reference_that_leads_nowhere_is_a_doubt(one: One, written: str, why: str) -> None:
    """A dangling reference, one to itself, and one to another series are doubts, no relations."""
    item = one(f"{HEAD}## Status\n\nSuperseded by {written}\n")
    assert "superseded_by" not in item.record
    assert any(why in doubt for doubt in item.doubts), item.doubts


def test_an_ambiguous_number_is_a_doubt(load: Load) -> None:
    """Two records with one number: the reference names both and means neither; a link still decides."""
    files = {
        "0025-one.md": "# One\n\nStatus: Accepted\n",
        "0025-two.md": "# Two\n\nStatus: Accepted\n",
        "0026-bare.md": "# Bare\n\nStatus: Superseded by ADR025\n",
        "0027-link.md": "# Link\n\nStatus: Superseded by [ADR025](0025-two.md)\n",
    }
    records = load(files)
    assert "superseded_by" not in records["x-0026"].record
    assert any("x-0025 or x-0025-two" in doubt for doubt in records["x-0026"].doubts)
    assert records["x-0027"].record["superseded_by"] == ["x-0025-two"]


def test_a_label_tells_two_series_apart(load: Load) -> None:
    """ADR 9 is not DR 9, although both carry the number."""
    files = {
        "ADR/ADR009-one.md": "# One\n\nStatus: Accepted\n",
        "DR/DR009-two.md": "# Two\n\nStatus: Accepted\n",
        "DR/DR010-three.md": "# Three\n\nStatus: Superseded by DR009\n",
    }
    records = load(files)
    assert records["x-010"].record["superseded_by"] == ["x-009-two"]


def test_a_broken_link_with_a_right_number(one: One) -> None:
    """A link to a renamed file is followed by its number, and said so."""
    item = one(f"{HEAD}## Status\n\nSuperseded by [2](0002-old-name.md)\n")
    assert item.record["superseded_by"] == ["x-0002"]
    assert any("broken link" in doubt for doubt in item.doubts)


def test_placeholders_are_nothing(one: One) -> None:
    """``none``, ``ADR-XXXX`` and the like name no record and raise no doubt."""
    for nothing in ("none", "N/A", "-", "ADR-XXXX", "ADRxxx", "~", "TBD"):
        item = one(f"# 7. This\n\nStatus: Accepted\nSupersedes: {nothing}\n")
        assert "supersedes" not in item.record
        assert item.doubts == ()
