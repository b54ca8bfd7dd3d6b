from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.segment_rank import REACH, best, plane, products
from sidecar.sentences import LEAST, MOST, PER_SEGMENT, sentences

MATRIX = np.eye(4, dtype=np.float32)
"""Four sentences that have nothing in common: the cosine with a question is 1 for its own and 0 for the others."""
ASKED = MATRIX[:1]


def near(rows: list[int], counts: list[int], **keys: object) -> list[float]:
    made = plane(MATRIX, np.array(rows, np.int32), np.array(counts, np.int64), **keys)  # type: ignore[arg-type]
    return [float(one) for one in made.nearness(ASKED)[:, 0]]


def test_a_segment_speaks_by_its_best_sentence() -> None:
    """One sentence that answers is enough, however much else a segment says."""
    assert near([0, 1, 2, 3, 3, 1], [3, 3], reach=0.0)[0] == pytest.approx(1.0)


def test_a_neighbour_speaks_for_a_sentence_but_not_across_sessions() -> None:
    """The sentence before and after count half; what another session said last counts nothing."""
    together = near([0, 1, 2], [1, 1, 1])
    assert together[1] == pytest.approx(REACH)
    assert together[2] == 0.0
    assert near([0, 1, 2], [1, 1, 1], breaks=[0, 1])[1] == 0.0


def test_what_is_said_over_and_over_counts_less() -> None:
    """A sentence that stands in many segments tells none of them apart, so one said once beats it at equal cosine."""
    matrix = np.stack([MATRIX[0], MATRIX[0]])
    made = plane(matrix, np.array([0, 0, 0, 0, 1], np.int32), np.ones(5, np.int64), reach=0.0)
    said = made.nearness(ASKED)[:, 0]
    assert best(said, made.counts > 0, 1) == [4]
    assert said[4] == pytest.approx(1.0)
    assert 0 < said[0] < 0.5


def test_silent_segments_and_missing_vectors_have_no_nearness() -> None:
    """A segment that says nothing, or has no vector yet, is near to nothing and counts as not embedded."""
    made = plane(MATRIX, np.array([0, -1, 1], np.int32), np.array([0, 1, 2], np.int64), reach=0.0)
    assert made.nearness(ASKED)[:, 0].tolist() == [0.0, pytest.approx(1.0), 0.0]
    assert made.embedded.tolist() == [False, True, False]
    assert len(plane(MATRIX, np.zeros(0, np.int32), np.zeros(2, np.int64)).embedded) == 2


@given(st.integers(1, 400), st.lists(st.integers(0, 99), min_size=1, max_size=9))
def test_a_sentence_is_as_near_whichever_are_read_with_it(dimension: int, rows: list[int]) -> None:
    """The product of a question with a sentence is the same to the bit, wherever its vector lies and beside which."""
    draw = np.random.default_rng(dimension)
    vectors, question = (draw.standard_normal((n, dimension)).astype(np.float32) for n in (100, 1))
    assert np.array_equal(products(vectors, question)[rows], products(vectors[rows], question))
    assert np.allclose(products(vectors, question), vectors @ question.T, atol=1e-3)
    assert products(vectors, vectors[:3]).shape == (100, 3)


@given(st.text(alphabet="ab .\n!。é", max_size=2000))
def test_sentences_lose_no_word(text: str) -> None:
    """Sentences joined hold every word of the text, none is empty, and only the last may be short."""
    found = sentences(text)
    if len(found) < PER_SEGMENT // 2:
        assert "".join("".join(found).split()) == "".join(text.split())
    assert all(one.strip() for one in found)
    assert all(len(one) >= LEAST for one in found[:-1])
    assert all(len(one) <= LEAST + MOST + 1 for one in found)


def test_a_whole_turn_is_bounded() -> None:
    """A turn of thousands of lines gives a bounded number of sentences, spread over all of it."""
    found = sentences("\n".join(f"line {n} {'x' * LEAST}" for n in range(9000)))
    assert len(found) <= PER_SEGMENT
    assert found[-1].startswith("line 8")
