from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar import lexical
from sidecar.lexical import K1, B, Documents, Lexical, Words

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
    return Words(DOCUMENTS, postings).score([tuple(group) for group in groups])


def of_passages(*groups: Sequence[str]) -> list[float]:
    found: list[float] = Words(DOCUMENTS, postings).passages([tuple(group) for group in groups]).tolist()
    return found


def test_one_term_by_hand() -> None:
    """A term in one of two records: idf ln 2, and each passage counts its title's words too."""
    idf = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    assert idf == pytest.approx(0.693147, abs=1e-6)
    mean = (5 + 7 + 10) / 3  # lengths with titles: 4 + 1, 6 + 1, 8 + 2
    assert of_passages(["cat"]) == pytest.approx([idf * bm25(3, 5, mean), idf * bm25(1, 7, mean), 0])
    found = asked(["cat"])
    assert found.records.tolist() == pytest.approx([idf * bm25(3, 11, (11 + 10) / 2), 0])
    assert found.held.tolist() == [[True, False]]


def test_figures_of_the_usual_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    """With k1 1.2 and b 0.75 the record's score of one term is this number."""
    monkeypatch.setattr(lexical, "K1", 1.2)
    monkeypatch.setattr(lexical, "B", 0.75)
    assert asked(["cat"]).records.tolist() == pytest.approx([1.078229, 0.0], abs=1e-6)


def test_terms_add_up() -> None:
    """Scores of several terms are summed, over records and over passages."""
    both, cat, dog = asked(["cat"], ["dog"]), asked(["cat"]), asked(["dog"])
    assert both.records.tolist() == pytest.approx((cat.records + dog.records).tolist())
    pairs = zip(of_passages(["cat"]), of_passages(["dog"]), strict=True)
    assert of_passages(["cat"], ["dog"]) == pytest.approx([one + other for one, other in pairs])


def test_asking_again_gives_the_same() -> None:
    """What is remembered of a term is what was worked out for it."""
    words = Words(DOCUMENTS, postings)
    assert words.score([("cat",)]).records.tolist() == words.score([("cat",)]).records.tolist()


def test_a_passage_that_stands_in_two_records_counts_in_both() -> None:
    """Two files with one text share its document, and each of them holds its words."""
    twice = np.array([0, 0], np.uint32)
    documents = Documents(twice, np.array([0, 1], np.uint32), np.array([3, 4], np.uint32), np.ones(2), np.ones(2))
    assert Words(documents, postings).score([("cat",)]).held.tolist() == [[True, True]]


def test_a_synonym_counts_as_its_term_and_the_larger_count_holds() -> None:
    """A group is one term: a record that has the synonym only holds it, and nothing counts twice."""
    found = asked(["cat", "feline"])
    assert found.terms == ("cat",)
    assert found.held.tolist() == [[True, True]]
    assert found.records[1] > 0


def test_a_term_that_is_nowhere_or_in_another_snapshot_scores_nothing() -> None:
    """Statistics are those of the snapshot that is asked."""
    found = asked(["rare"], ["nowhere"])
    assert not found.records.any()
    assert not found.held.any()
    assert not any(of_passages(["rare"], ["nowhere"]))


def test_no_terms_and_no_records_are_no_fault() -> None:
    """An empty question scores nothing, and an empty snapshot has no scores."""
    assert not asked().records.any()
    none = np.array([], np.uint32)
    empty = Documents(none, none, none, np.array([]), np.array([]))
    assert Words(empty, postings).score([("cat",)]).records.shape == (0,)


@given(st.integers(1, 50), st.integers(0, 49))
def test_rarer_terms_weigh_more_and_none_weighs_less_than_nothing(records: int, extra: int) -> None:
    """A holder's score falls with the number of records that hold the term, and stays positive when all of them do."""

    def best(holders: int) -> float:
        titles = np.arange(records, dtype=np.uint32)
        documents = Documents(titles, titles, titles + records, np.ones(records), np.ones(records))
        held: Callable[[str], tuple[np.ndarray, np.ndarray]] = lambda _: (titles[:holders], np.ones(holders, np.uint8))  # noqa: E731
        return float(Words(documents, held).score([("x",)]).records.max())

    few = 1 + extra % records
    assert best(1) >= best(few) >= best(records) > 0
