import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.importers import dates


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        ("2020-08-18", "2020-08-18"),
        ("2020/08/18", "2020-08-18"),
        ("2025‑11‑03", "2025-11-03"),
        ("20200924", "2020-09-24"),
        ("17.02.2021", "2021-02-17"),
        ("28-08-2018", "2018-08-28"),
        ("13-May-20", "2020-05-13"),
        ("Nov, 23, 2021", "2021-11-23"),
        ("2019 Dec 9", "2019-12-09"),
        ("16th of September, 2022", "2022-09-16"),
        ("2021年3月4日", "2021-03-04"),
        ("27/06/23", "2023-06-27"),
        ("08/28/2018", "2018-08-28"),
        ("11/11/2024", "2024-11-11"),
        ("2021-03-04T10:00:00Z", "2021-03-04"),
        ("accepted by all (2018-07-05)", "2018-07-05"),
    ],
)
def test_forms(written: str, iso: str) -> None:
    """Every form that leaves no choice is read to ISO 8601."""
    found = dates.find(written)
    assert found is not None
    assert found.iso == iso


@pytest.mark.parametrize("text", ["YYYY-MM-DD", "v1.2.3", "", "September 2022", "ADR-2020-01-02", "0123456789"])
def test_what_is_no_date(text: str) -> None:
    """Placeholders, versions, months alone and numbers in names are no dates."""
    assert dates.find(text) is None


def test_day_and_month_are_never_guessed() -> None:
    """A date that can be read twice has no ISO form until the folder settles it."""
    found = dates.find("10/04/18")
    assert found is not None
    assert (found.iso, found.day_first, found.month_first) == ("", "2018-04-10", "2018-10-04")
    assert dates.settle(found, "") == ""
    assert dates.settle(found, "day first") == "2018-04-10"
    assert dates.settle(found, "month first") == "2018-10-04"


def test_a_folder_settles_the_order_only_when_it_is_of_one_mind() -> None:
    """One date of the other order, and nothing is settled."""
    readings = [dates.find(text) for text in ("26/03/2018", "10/04/18", "2019-01-02")]
    known = [reading for reading in readings if reading]
    assert dates.folder_order(known) == "day first"
    american = dates.find("03/26/2018")
    assert american is not None
    assert dates.folder_order([*known, american]) == ""


def test_a_day_that_does_not_exist_has_no_reading() -> None:
    """The thirty-first of February is seen but not read."""
    found = dates.find("31/02/2020")
    assert found is not None
    assert (found.iso, found.ambiguous) == ("", False)


@given(st.dates(min_value=dt.date(1970, 1, 1), max_value=dt.date(2068, 12, 31)))
def test_round_trip(day: dt.date) -> None:
    """Any date written with a month's name or in ISO form reads back."""
    for form in ("%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%Y %b %d", "%d-%b-%y"):
        found = dates.find(day.strftime(form))
        assert found is not None
        assert found.iso == day.isoformat()


@given(st.text(max_size=100))
def test_any_text_reads(text: str) -> None:
    """Nothing raises."""
    dates.find(text)
