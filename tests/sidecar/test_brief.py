from __future__ import annotations

from typing import Any

import pytest

from sidecar.answer import BRIEF_WIDTH, brief, width

ENGLISH = "Orders are kept in SQLite files beside the shop, because one file is simple to back up. "
CHINESE = "訂單存放在同一個資料庫，因為備份與還原比較簡單，也不需要額外的服務。"


def answer(results: int, text: str, title: str = "Orders live in SQLite, beside the shop") -> dict[str, Any]:
    """Return a full answer with long passages."""
    result = {
        "kind": "decision",
        "title": title,
        "status": "accepted",
        "date": "2026-01-02",
        "score": 1.2345,
        "why": "orders, sqlite, files; close in meaning",
        "path": "knowledge/decisions/decision-0001.yaml",
        "passage": {"text": text * 20},
    }
    return {
        "format": 1,
        "verdict": "match",
        "retrieval": "hybrid",
        "results": [{"id": f"decision-000{n}", **result} for n in range(results)],
        "decided_against": [],
        "retired": [],
        "open_items": [],
        "withheld": {"superseded": 0, "below_floor": 12},
        "revision": {"commit": "a" * 40, "head": "a" * 40, "stale": False, "repository": "demo"},
        "total": 9,
        "has_more": True,
        "next_cursor": "3.0123456789ab",
        "receipt": {"id": "sha256:" + "ab" * 32, "stored": True},
    }


@pytest.mark.parametrize("text", [ENGLISH, CHINESE, 'Say "no" to C:\\temp. '])
@pytest.mark.parametrize(
    "title", ["Orders live in SQLite, beside the shop", "An endless title " * 30, "訂單與庫存" * 30]
)
def test_three_results_keep_the_bound(text: str, title: str) -> None:
    """A brief answer of three stays within its width, whatever the language, and each result keeps a passage."""
    found = brief(answer(3, text, title))
    assert width(found) <= BRIEF_WIDTH
    assert all(len(result["passage"]) >= 15 for result in found["results"])


def test_few_results_have_long_passages_and_many_short_ones() -> None:
    """What fewer results leave goes to the passages, up to 300 characters; a page of ten stays in proportion."""
    assert 280 < len(brief(answer(1, ENGLISH))["results"][0]["passage"]) <= 300
    ten = brief(answer(10, ENGLISH))
    assert width(ten) <= BRIEF_WIDTH * 10 / 3


def test_nothing_empty_is_sent() -> None:
    """Empty lists and counters are left out, and a page's cursor says by itself that there is more."""
    found = brief(answer(1, ENGLISH))
    assert {"decided_against", "retired", "open_items", "has_more"}.isdisjoint(found)
    assert found["withheld"] == {"below_floor": 12}
    assert found["next_cursor"] == "3.0123456789ab"


def test_a_receipt_that_was_not_stored_says_so() -> None:
    """An agent that cites a receipt knows when it cannot be looked up."""
    lost = answer(1, ENGLISH) | {"receipt": {"id": "sha256:" + "ab" * 32, "stored": False}}
    assert brief(lost)["receipt"] == "sha256:" + "ab" * 8 + " (not stored)"
