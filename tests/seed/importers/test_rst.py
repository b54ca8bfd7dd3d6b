from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.importers import adr
from seed.importers.model import Document, Imported

Load = Callable[..., dict[str, Imported]]

PEP = """PEP: 9
Title: Mooring protocol for
 large ships
Author: Ada <ada@example.org>
Status: Final
Type: Standards Track
Created: 07-Dec-2003
Post-History: 08-Dec-2003,
              09-Dec-2003
Replaces: 7
Superseded-By: 10

Abstract
========

Text::

    Status: Draft
"""
SPHINX = """.. _mooring:

==================
0009: Where to moor
==================

:Date: 31/01/2020

.. contents::

Status
------

**Accepted**

.. This ADR supersedes ADR 10.

Context
-------

.. note::

   This ADR supersedes :doc:`0007-old`, and see `ten <0010-ten.rst>`_.
"""


def pep(number: int, status: str = "Draft") -> str:
    return f"PEP: {number}\nTitle: Number {number}\nStatus: {status}\nCreated: 01-Jan-2000\n\nText.\n"


def test_a_pep(load: Load) -> None:
    """The header gives title (over two lines), status, date and both directions of supersession."""
    files = {"pep-0009.rst": PEP, "pep-0007.rst": pep(7), "pep-0010.rst": pep(10), "pep-0000.rst": pep(0)}
    record = load(files)["x-0009"].record
    assert record["title"] == "Mooring protocol for large ships"
    assert (record["status"], record["date"]) == ("accepted", "2003-12-07")
    assert (record["supersedes"], record["superseded_by"]) == (["x-0007"], ["x-0010"])
    assert record["body"] == PEP


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("Draft", "proposed"),
        ("Accepted", "accepted"),
        ("Active", "accepted"),
        ("Final", "accepted"),
        ("Deferred", "proposed"),
        ("Provisional", "proposed"),
        ("Rejected", "rejected"),
        ("Withdrawn", "rejected"),
        ("Superseded", "superseded"),
        ("April Fool!", "unknown"),
    ],
)
def test_pep_statuses(load: Load, status: str, expected: str) -> None:
    """Every status of a PEP has one reading; a joke has none."""
    assert load({"pep-0009.rst": pep(9, status)})["x-0009"].record["status"] == expected


def test_an_adr_of_a_sphinx_project(load: Load) -> None:
    """Sections, docinfo and notes are read; comments and directives are not."""
    records = load({"0009-where.rst": SPHINX, "0007-old.rst": "Old\n===\n", "0010-ten.rst": "Ten\n===\n"})
    record = records["x-0009"].record
    assert (record["title"], record["status"], record["date"]) == ("Where to moor", "accepted", "2020-01-31")
    assert record["supersedes"] == ["x-0007"]


LINES = st.sampled_from(
    [
        "Title",
        "=====",
        "-----",
        "Status",
        "Accepted",
        ".. note::",
        "   text",
        "::",
        ":Date: 1",
        "",
        "..",
        "A: b",
    ]
)


@given(st.one_of(st.text(max_size=200), st.lists(LINES, max_size=20).map("\n".join)))
def test_any_text_imports(text: str) -> None:
    """No text makes the import raise, and its body is kept."""
    (item,) = adr.read_documents([Document("0001-a.rst", text)], prefix="x").records
    assert item.record["body"] == text
