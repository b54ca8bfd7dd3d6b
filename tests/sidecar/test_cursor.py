from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.errors import SidecarError
from sidecar import cursor


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
