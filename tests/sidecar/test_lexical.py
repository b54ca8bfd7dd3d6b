from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar import lexical
from sidecar.lexical import K1, B, Documents, Lexical, score

# Two records: the first has passages 0 and 1 and title 3, the second passage 2 and title 4.
INDEX = {
    "cat": {0: 2, 3: 1},
    "dog": {1: 1, 2: 3},
    "feline": {2: 4},
    "rare": {9: 1},  # a document of another snapshot
}
DOCUMENTS = Documents(
    pids=np.array([0, 1, 2], np.uint32),
    owners=np.array([0, 0, 1], np.uint32),
    titles=np.array([3, 4], np.uint32),
    lengths=np.array([4.0, 6.0, 8.0]),
    title_lengths=np.array([1.0, 2.0]),
)


def postings(term: str) -> tuple[np.ndarray, np.ndarray]:
    held = INDEX.get(term, {})
    return np.array(list(held), np.uint32), np.array(list(held.values()), np.uint8)


def bm25(frequency: float, length: float, mean: float) -> float:
    """Robertson and Zaragoza 2009, written down once more."""
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / mean))


def asked(*groups: Sequence[str]) -> Lexical:
    return score(DOCUMENTS, postings, groups)


def test_one_term_by_hand() -> None:
    """A term in one of two records: idf ln 2, and each passage counts its title's words too."""
    found = asked(["cat"])
    idf = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    assert found.idf.tolist() == pytest.approx([0.693147], abs=1e-6) == [idf]
    mean = (5 + 7 + 10) / 3  # lengths with titles: 4 + 1, 6 + 1, 8 + 2
    assert found.passages.tolist() == pytest.approx([idf * bm25(3, 5, mean), idf * bm25(1, 7, mean), 0])
    assert found.records.tolist() == pytest.approx([idf * bm25(3, 11, (11 + 10) / 2), 0])
    assert found.held.tolist() == [[True, False]]
    assert found.coverage.tolist() == [1.0, 0.0]


def test_figures_of_the_usual_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    """With k1 1.2 and b 0.75 the record's score of one term is this number."""
    monkeypatch.setattr(lexical, "K1", 1.2)
    monkeypatch.setattr(lexical, "B", 0.75)
    assert asked(["cat"]).records.tolist() == pytest.approx([1.078229, 0.0], abs=1e-6)


def test_terms_add_up_and_coverage_is_their_share() -> None:
    """Scores of several terms are summed; coverage is the idf-weighted share of the terms a record holds."""
    both, cat, dog = asked(["cat"], ["dog"]), asked(["cat"]), asked(["dog"])
    assert both.passages.tolist() == pytest.approx((cat.passages + dog.passages).tolist())
    assert both.records.tolist() == pytest.approx((cat.records + dog.records).tolist())
    share = dog.idf[0] / (cat.idf[0] + dog.idf[0])
    assert both.coverage.tolist() == pytest.approx([1.0, share])


def test_a_synonym_counts_as_its_term_and_the_larger_count_holds() -> None:
    """A group is one term: a record that has the synonym only holds it, and nothing counts twice."""
    found = asked(["cat", "feline"])
    assert found.terms == ("cat",)
    assert found.held.tolist() == [[True, True]]
    assert found.records[1] > 0


def test_a_term_that_is_nowhere_or_in_another_snapshot_scores_nothing() -> None:
    """Statistics are those of the snapshot that is asked."""
    found = asked(["rare"], ["nowhere"])
    assert not found.passages.any()
    assert not found.held.any()
    assert (found.idf > 0).all()


def test_no_terms_and_no_records_are_no_fault() -> None:
    """An empty question scores nothing, and an empty snapshot has no scores."""
    assert not asked().coverage.any()
    none = np.array([], np.uint32)
    empty = Documents(none, none, none, np.array([]), np.array([]))
    assert score(empty, postings, [["cat"]]).records.shape == (0,)


@given(st.integers(1, 50), st.integers(0, 49))
def test_rarer_terms_weigh_more_and_none_weighs_less_than_nothing(records: int, extra: int) -> None:
    """idf falls with the number of records that hold a term, and stays positive when all of them do."""

    def idf(holders: int) -> float:
        titles = np.arange(records, dtype=np.uint32)
        documents = Documents(titles, titles, titles + records, np.ones(records), np.ones(records))
        held: Callable[[str], tuple[np.ndarray, np.ndarray]] = lambda _: (titles[:holders], np.ones(holders, np.uint8))  # noqa: E731
        return float(score(documents, held, [["x"]]).idf[0])

    few = 1 + extra % records
    assert idf(1) >= idf(few) >= idf(records) > 0
