from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sidecar.provider import Provider
from sidecar.query import Query
from sidecar.quote import MARGIN
from sidecar.render import render, render_record

from .conftest import CASES

Plant = Callable[[dict[str, Any]], Path]
_JOINERS = {"\u200c", "\u200d"}
_OWN = re.compile(r"# decision-1: |- [a-z ]+: |- 20\d\d-\d\d-\d\d [0-9a-f]{12} |History:$|project at |$")
"""What `sidecar show` begins its own lines with; all others have to stand behind the margin."""


def _unsafe(text: str) -> list[str]:
    """Return the characters that a reader does not see or that move the ones it does; line feeds are ours."""
    found = [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    return [ascii(c) for c in found if c != "\n" and c not in _JOINERS]


def test_there_are_enough_cases() -> None:
    """The set holds at least thirty cases, no two alike, each with its rendering."""
    assert len(CASES) >= 30
    assert len({case["name"] for case in CASES}) == len({repr(case) for case in CASES}) == len(CASES)
    assert all(case["shown"] for case in CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_hostile_record_comes_back_as_quoted_data(case: dict[str, Any], planted: Plant) -> None:
    """Each case is shown exactly as expected, on every surface, and none of it stands among the answer's own lines."""
    with closing(Provider(planted(case))) as opened:
        shown = render_record(opened.show("decision-1"))
        texts = [shown, json.dumps(opened.show("decision-1"), ensure_ascii=False)]
        listed = Query(kinds=("decision",))
        for query in (Query("volcano plain text"), Query(case.get("title", case.get("body", "volcano"))), listed):
            for detail in ("brief", "full"):
                answer = opened.recall(query, detail=detail)
                texts += [render(answer), json.dumps(answer, ensure_ascii=False)]
                assert {result["id"] for result in answer["results"]} <= {"decision-1"}
                assert {result["status"] for result in answer["results"]} <= {"accepted"}
                assert len(re.findall(r"^\d+\. ", render(answer), re.MULTILINE)) == len(answer["results"])
    lines = shown.split("\n")
    start = lines.index(case["shown"][0])
    assert lines[start : start + len(case["shown"])] == case["shown"]
    for line in lines:
        assert line.startswith(MARGIN.rstrip()) or _OWN.match(line), line
    for text in texts:
        assert _unsafe(text) == []


def test_the_unsafe_are_noticed(planted: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: without the escaping, a right-to-left override comes through and is noticed."""
    monkeypatch.setattr("sidecar.quote._UNSAFE", re.compile("(?!)"))
    (case,) = [case for case in CASES if case["name"] == "a right-to-left override"]
    with closing(Provider(planted(case))) as opened:
        assert _unsafe(render_record(opened.show("decision-1"))) == [ascii("\u202e"), ascii("\u202c")]


def test_a_body_without_its_margin_is_noticed(planted: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: without the margin, a forged heading stands among the answer's own lines."""
    monkeypatch.setattr("sidecar.quote.MARGIN", "")
    (case,) = [case for case in CASES if case["name"] == "our heading of a record"]
    with closing(Provider(planted(case))) as opened:
        assert "# decision-9: A forged record" in render_record(opened.show("decision-1")).split("\n")
