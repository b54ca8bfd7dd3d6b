from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.passages import Passage, cut

LINES = st.sampled_from(
    [
        "",
        "Some words here.",
        "# Heading",
        "## Second one ##",
        "```",
        "```py",
        "~~~",
        "code()",
        "| a | b |",
        "- item",
        "決定は。",
        "a" * 50,
        "One. Two! Three?",
        "    indented",
        "[link]: http://x",
        "#no heading",
        "  ",
        "\u2028",
        "tail\r",
    ]
)
HEADING = re.compile(r"^ {0,3}#{1,6}\s.*$", re.MULTILINE)
BODIES = st.lists(LINES, max_size=60).map("\n".join) | st.text(max_size=400)


@given(st.text(max_size=30), BODIES, st.integers(20, 300))
def test_every_character_that_is_not_blank_is_in_a_passage(title: str, body: str, size: int) -> None:
    """No word of a body is lost between passages, but for headings that nothing stands under."""
    held = {n for match in HEADING.finditer(body) for n in range(*match.span())}
    for passage in cut(title, body, size):
        held.update(range(passage.start, passage.end))
    assert [c for n, c in enumerate(body) if n not in held and not c.isspace()] == []


@given(st.text(max_size=30), BODIES, st.integers(20, 300))
def test_offsets_cut_the_passage_out_of_the_body(title: str, body: str, size: int) -> None:
    """A passage's text after its title and section is exactly the body between its offsets."""
    for passage in cut(title, body, size):
        whole = passage.text[passage.skip :] == body[passage.start : passage.end]
        assert whole or passage == Passage(0, 0, "", title, len(title))


@given(BODIES, st.integers(20, 300))
def test_passages_are_in_order_and_do_not_overlap(body: str, size: int) -> None:
    """Each character of the body is in one passage at most."""
    passages = cut("T", body, size)
    assert all(one.end <= other.start for one, other in pairwise(passages))


def test_headings_that_nothing_stands_under_are_no_passage() -> None:
    """A record that was only started is found by its title alone, and a heading with text keeps it."""
    assert cut("T", "## Context\n\n## Decision\n") == [Passage(0, 0, "", "T", 1)]
    (passage,) = cut("T", "## Context\n\n## Decision\n\nWords.\n")
    assert "Words." in passage.text


@given(st.text(max_size=30), BODIES)
def test_there_is_always_a_passage_and_it_carries_the_title(title: str, body: str) -> None:
    """A record can be found by its title, with or without a body."""
    passages = cut(title, body)
    assert passages
    assert all(passage.text.startswith(title) for passage in passages)


@pytest.mark.parametrize("mark", ["```", "~~~", "````"])
def test_a_fence_stays_whole(mark: str) -> None:
    """A code block is never cut, however long, and headings inside it are code."""
    fence = "\n".join([f"{mark}sh", *["# not a heading; echo one two three." for _ in range(100)], mark])
    body = f"Before.\n\n{fence}\n\nAfter."
    (holding,) = [p for p in cut("T", body, 200) if "not a heading" in p.text]
    assert fence in holding.text
    assert all(p.section == "" for p in cut("T", body, 200))


def test_a_fence_that_is_never_closed_reaches_to_the_end() -> None:
    """What is open at the end of the body is code to the end."""
    body = "Text.\n\n```\n" + "# x\n" * 50
    assert {p.section for p in cut("T", body, 100)} == {""}


def test_a_table_stays_whole() -> None:
    """The rows of a table are not torn apart."""
    table = "\n".join(f"| row {n} | value. |" for n in range(60))
    (holding,) = [p for p in cut("T", f"Text.\n\n{table}\n\nMore.", 200) if "row 0 " in p.text]
    assert table in holding.text


def test_a_passage_knows_the_heading_it_stands_under() -> None:
    """The section is the nearest heading above, and is embedded with the title."""
    body = "# One\n\n" + "First words. " * 20 + "\n\n## Two ##\n\n" + "Second words. " * 20
    first, second = cut("Title", body, 300)
    assert (first.section, second.section) == ("One", "Two")
    assert second.text.startswith("Title\nTwo\n")


def test_a_long_paragraph_is_cut_at_the_end_of_a_sentence() -> None:
    """Prose longer than the size is cut where a sentence ends, in Latin and in CJK writing."""
    for sentence in ("Some words make a sentence. ", "這是一個句子。"):
        for passage in cut("T", sentence * 60, 200)[:-1]:
            assert passage.text.rstrip()[-1] in ".。"
            assert len(passage.text) - passage.skip <= 200


def test_the_key_of_a_vector_is_the_embedded_text_alone() -> None:
    """Two passages with the same title, section and words share one vector; another title makes another."""
    assert cut("T", "same")[0].sha == cut("T", "same")[0].sha
    assert cut("T", "same")[0].sha != cut("U", "same")[0].sha
    assert cut("T", "\ud800")[0].sha
