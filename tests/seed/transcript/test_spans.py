from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from seed.transcript import spans

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)


def at(document: object, path: spans.JsonPath) -> object:
    for step in path:
        document = document[step]  # type: ignore[index]  # a path names keys and indices alike
    return document


@given(JSON, st.booleans(), st.sampled_from([None, 1]))
def test_every_value_stands_where_it_is_said(document: object, ascii_only: bool, indent: int | None) -> None:
    """The bytes at each range, read as JSON, are the value at its path, however the text is laid out."""
    raw = json.dumps(document, ensure_ascii=ascii_only, indent=indent).encode()
    seen = list(spans.walk(raw))
    for value in seen:
        piece = raw[value.start : value.end]
        assert json.loads(b'"' + piece + b'"' if value.text else piece) == at(document, value.path)
    assert seen[-1].path == ()


@given(st.binary(max_size=60))
def test_any_bytes_can_be_walked(raw: bytes) -> None:
    """A broken line gives ranges inside itself, never an error."""
    for value in spans.walk(raw):
        assert 0 <= value.start <= value.end <= len(raw)


def test_the_last_of_a_key_given_twice_counts() -> None:
    """A duplicate key means its last value, as for the JSON reader."""
    assert spans.locate(b'{"a":1,"a":22}', {("a",)}) == {("a",): (11, 13)}


def test_a_torn_string_full_of_quotes_is_quick() -> None:
    """A line torn inside a string is walked once, not once for each quote in it."""
    assert len(list(spans.walk(b'{"a":"' + b'\\" ' * 500_000))) <= 1
