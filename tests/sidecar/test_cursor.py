from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.errors import SidecarError
from sidecar import cursor
from sidecar.query import Query


@given(st.integers(0, 10**9), st.text())
def test_a_cursor_comes_back_as_its_position(start: int, about: str) -> None:
    """Decoding gives the position that was encoded, for the answer it was issued for."""
    assert cursor.decode(cursor.encode(start, about), about) == start


def test_a_cursor_of_another_answer_is_refused() -> None:
    """A cursor never pages through an answer it was not issued for."""
    with pytest.raises(SidecarError, match="another question"):
        cursor.decode(cursor.encode(3, "one"), "two")


@given(st.text(min_size=1))
def test_made_up_cursors_are_refused(text: str) -> None:
    """Any other text is refused with what to do, and never fails otherwise."""
    with pytest.raises(SidecarError, match="cursor"):
        cursor.decode(text, "about")


def test_a_cursor_is_bound_to_what_the_order_hangs_on() -> None:
    """The next page of an order that has changed would repeat or lose records, so it is refused; a replay is not."""
    issued = replace(Query("orders"), cursor=cursor.issue(Query("orders"), "key", "monday 1", 5))
    assert cursor.start_of(issued, "key", "monday 1") == 5
    with pytest.raises(cursor.MovedError, match="more is embedded"):
        cursor.start_of(issued, "key", "monday 2")
    with pytest.raises(cursor.MovedError, match="another question"):
        cursor.start_of(issued, "other", "monday 1")
    assert cursor.start_of(issued, "key") == 5
    assert cursor.start_of(Query("orders"), "key", "monday 2") == 0
