from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.floor import conformal, digest, max_probe, relevance, round_up, verdict

UNIT = st.floats(0, 1)


def test_the_floor_is_the_highest_evidence_of_any_probe() -> None:
    """Rounded up to two decimals, with the probe that set it and what it would be without that one."""
    found = max_probe(["a", "b", "c"], [0.121, 0.432, 0.3])
    assert (found.value, found.probe, found.without, found.count) == (0.44, "b", 0.3, 3)


@pytest.mark.parametrize(("probes", "value", "without"), [([], 0.0, 0.0), (["a"], 0.13, 0.0)])
def test_few_probes_are_no_fault(probes: list[str], value: float, without: float) -> None:
    """Without probes there is no floor; one probe has nothing beside it."""
    found = max_probe(probes, [0.121] * len(probes))
    assert (found.value, found.without) == (value, without)


@given(st.lists(UNIT, min_size=1, max_size=20))
def test_no_probe_is_above_the_floor_it_set(evidence: list[float]) -> None:
    """None of the probes would be answered under the floor they give, but for the rounding of the sixth decimal."""
    found = max_probe([str(n) for n in range(len(evidence))], evidence)
    assert all(relevance(value, found.value) <= 1e-6 for value in evidence)


@pytest.mark.parametrize(("value", "expected"), [(0.24, 0.24), (0.2401, 0.25), (0.0, 0.0), (0.29, 0.29), (1.0, 1.0)])
def test_rounding_up_leaves_two_decimals_as_they_are(value: float, expected: float) -> None:
    """A value of two decimals is not pushed up by its binary form."""
    assert round_up(value) == expected


@given(UNIT, st.floats(0, 0.99))
def test_relevance_is_nothing_at_the_floor_and_one_at_the_top(evidence: float, floor: float) -> None:
    """clamp((evidence - floor) / (1 - floor), 0, 1), and 0 at or below the floor."""
    assert relevance(floor, floor) == 0
    assert relevance(1.0, floor) == pytest.approx(1)
    assert 0 <= relevance(evidence, floor) <= 1
    assert (relevance(evidence, floor) > 0) == (evidence > floor)


def test_a_floor_belongs_to_its_probes() -> None:
    """Other probes, or another order of them, have another digest."""
    assert digest(["a", "b"]) != digest(["b", "a"]) != digest(["ab"])


def test_nothing_found_is_no_match() -> None:
    """`none` means that nothing was found, whatever the figures."""
    assert verdict(found=False, exact=True, margin=1.0, meaning_rank=0, word_rank=0) == "none"


@pytest.mark.parametrize(
    ("exact", "margin", "meaning_rank", "word_rank", "expected"),
    [
        (True, 0.0, 50, 50, "match"),
        (False, 1.0, 50, 50, "match"),
        (False, 0.0, 0, 0, "match"),
        (False, 0.0, 0, 50, "weak"),
        (False, 0.0, 50, 0, "weak"),
        (False, 0.0, 50, 50, "weak"),
    ],
)
def test_words_and_meaning_agree_or_one_is_strong_enough_alone(
    exact: bool, margin: float, meaning_rank: int, word_rank: int, expected: str
) -> None:
    """An exact token, a wide margin, or the same first record by words and by meaning make a match."""
    found = verdict(found=True, exact=exact, margin=margin, meaning_rank=meaning_rank, word_rank=word_rank)
    assert found == expected


RANKS = st.integers(0, 20)


@given(st.tuples(UNIT, RANKS, RANKS), st.tuples(UNIT, RANKS, RANKS))
def test_more_evidence_never_weakens_a_verdict(one: tuple[float, int, int], other: tuple[float, int, int]) -> None:
    """The verdict is monotone in the margin and in both ranks."""
    strength = {"none": 0, "weak": 1, "match": 2}
    less, more = (
        (min(one[0], other[0]), max(one[1], other[1]), max(one[2], other[2])),
        (
            max(one[0], other[0]),
            min(one[1], other[1]),
            min(one[2], other[2]),
        ),
    )
    verdicts = [verdict(found=True, exact=False, margin=m, meaning_rank=a, word_rank=b) for m, a, b in (less, more)]
    assert strength[verdicts[0]] <= strength[verdicts[1]]


@given(st.lists(UNIT, min_size=1, max_size=60), st.floats(0.01, 0.5))
def test_a_conformal_floor_lets_few_probes_pass_and_never_lies_above_the_highest(
    evidence: list[float], alpha: float
) -> None:
    """At most the share alpha of the probes themselves is above it, and it is no stricter than the highest probe."""
    probes = [str(n) for n in range(len(evidence))]
    found = conformal(probes, evidence, alpha)
    assert found.value <= max_probe(probes, evidence).value
    assert sum(value > found.value + 1e-6 for value in evidence) <= alpha * len(evidence)
