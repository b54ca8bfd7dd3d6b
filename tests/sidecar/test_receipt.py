from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.errors import SidecarError
from sidecar.query import Query
from sidecar.receipt import (
    arguments,
    canonical,
    first_difference,
    identify,
    parse_receipt,
    query_of,
    returned,
    seal,
    shareable,
)

BODY: dict[str, Any] = {
    "format": 1,
    "question": "Which database?",
    "also": ["Welche Datenbank?"],
    "arguments": arguments(Query("Which database?", ("Welche Datenbank?",), kinds=("fact",), limit=3)),
    "workspace": "",
    "commit": "c",
    "knowledge_tree": "t",
    "candidates": [["refs/heads/x", "1"]],
    "embedder": "sha256:e",
    "policy": "sha256:p",
    "provider": "1",
    "coverage": {"records": 1},
    "time": "2026-11-29T00:00:00.000+00:00",
    "verdict": "match",
    "returned": [["results", "d-1", "b"]],
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


def test_the_id_is_the_sha256_of_the_canonical_json() -> None:
    """The id of this receipt is this one, on every machine."""
    receipt = seal({"a": 1, "b": "é"}, "")
    assert canonical({"b": "é", "a": 1}) == '{"a":1,"b":"é"}'
    assert receipt["id"] == identify({"b": "é", "previous": "", "a": 1})
    assert (
        receipt["id"] == "sha256:" + __import__("hashlib").sha256('{"a":1,"b":"é","previous":""}'.encode()).hexdigest()
    )


@given(st.dictionaries(st.sampled_from("abcd"), JSON, max_size=4))
def test_the_order_of_keys_does_not_matter(body: dict[str, Any]) -> None:
    """The same content has the same id, however it was put together."""
    assert identify(body) == identify(dict(reversed(body.items())))
    assert identify(json.loads(canonical(body))) == identify(body)


@pytest.mark.parametrize("key", [*BODY, "previous"])
def test_any_change_is_found(key: str) -> None:
    """A receipt with any value changed since is refused as such."""
    receipt = seal(BODY, "sha256:before")
    assert parse_receipt(json.dumps(receipt), "x") == receipt
    with pytest.raises(SidecarError, match="was changed") as caught:
        parse_receipt(json.dumps({**receipt, key: "other"}), "x")
    assert caught.value.code == 1


@pytest.mark.parametrize("text", ["", "{", "[]", "1", "{}", '{"id": "x"}', "null"])
def test_what_is_no_receipt_is_one_line(text: str) -> None:
    """Other JSON, and what is none, is refused with the way to get a receipt."""
    with pytest.raises(SidecarError) as caught:
        parse_receipt(text, "file.json")
    assert "file.json" in caught.value.message
    assert caught.value.fix


def test_a_query_comes_back_from_its_receipt() -> None:
    """What was asked can be asked again exactly; arguments of a later version are passed over."""
    query = Query(
        "q", ("a",), 7, "", ("fact",), ("all",), ("t",), "p", "w", "user_confirmed", "2026-01-01", "2026-02-01"
    )
    kept = {"question": "q", "also": ["a"], "arguments": {**json.loads(json.dumps(arguments(query))), "new": 1}}
    assert query_of(kept) == query


def test_the_shareable_form_hides_the_question() -> None:
    """Neither the question nor another phrasing is in it; it names the receipt it stands for and verifies itself."""
    receipt = seal(BODY, "")
    shared = shareable(receipt)
    text = json.dumps(shared)
    assert "database" not in text
    assert "Datenbank" not in text
    assert shared["shareable_of"] == receipt["id"]
    assert parse_receipt(text, "x") == shared
    assert shareable(seal({**BODY, "question": "Other?"}, ""))["question"] != shared["question"]


def test_every_record_an_answer_named_is_kept_in_order() -> None:
    """Results and side lists, each with id and blob."""
    answer = {
        "results": [{"id": "a", "blob": "1"}, {"id": "b", "blob": "2"}],
        "decided_against": [{"id": "c", "blob": "3"}],
        "retired": [],
    }
    assert returned(answer) == [["results", "a", "1"], ["results", "b", "2"], ["decided_against", "c", "3"]]


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("embedder", "model"),
        ("policy", "policy"),
        ("candidates", "candidates"),
        ("provider", "provider"),
        ("verdict", "records"),
    ],
)
def test_a_difference_is_explained_by_the_input_that_changed(key: str, name: str) -> None:
    """What is different is named; when no input is, it is the records."""
    assert first_difference(BODY, {**BODY, key: "other"}) == name
