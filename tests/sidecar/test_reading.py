from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.errors import SidecarError
from sidecar.reading import BODY_CHARS, chosen, page, sections

LINES = st.lists(st.sampled_from(["# One", "## Two", "text", "", "```", "~~~", "# not\ra heading", "   ### Three ##"]))


@given(LINES.map("\n".join))
def test_sections_are_the_whole_body(body: str) -> None:
    """Sections follow each other without a gap and join to the body, whatever it holds."""
    parts = sections(body)
    assert "".join(body[s.start : s.end] for s in parts) == body
    assert [s.end for s in parts[:-1]] == [s.start for s in parts[1:]]


@given(st.text(max_size=400), st.integers(1, 50))
def test_pages_are_the_whole_text(text: str, size: int) -> None:
    """Following the pages gives the whole text back, each at most the bound, and always comes to an end."""
    got, at = [], 0
    while True:
        part, following = page(text, at, size)
        got.append(part)
        if not following:
            break
        assert following > at
        at = following
    assert "".join(got) == text
    assert all(len(part) <= size for part in got)


def test_headings_inside_a_fence_are_no_sections() -> None:
    """A comment in a code block is not taken for a heading."""
    body = "# Real\n\n```sh\n# comment\n```\n\n## Second\n\nx\n"
    assert [s.name for s in sections(body)] == ["Real", "Second"]


def test_a_section_is_found_by_its_heading_without_case() -> None:
    """A section is asked for by its heading; of several with one name all come back."""
    body = "intro\n# A\none\n# B\ntwo\n# a\nthree\n"
    assert chosen(body, "a") == "# A\none\n# a\nthree\n"
    assert chosen(body, "") == body


def test_an_unknown_section_names_those_there_are() -> None:
    """The error for a section that is not there lists the headings, or says that there are none."""
    with pytest.raises(SidecarError, match="'Context', 'Decision'"):
        chosen("# Context\n\n# Decision\n", "Consequences")
    with pytest.raises(SidecarError, match="leave section out"):
        chosen("plain", "Decision")


def test_a_page_ends_at_a_line_where_one_is_near() -> None:
    """A long body is cut between lines, not within one."""
    text = "0123456789\n" * 1000
    part, following = page(text, 0)
    assert part.endswith("\n")
    assert following == len(part) <= BODY_CHARS
