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
    counted = [value for n, value in enumerate(evidence) if str(n) not in found.left_out]
    assert all(relevance(value, found.value) <= 1e-6 for value in counted)


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
    ("exact", "margin", "ranks", "expected"),
    [
        (True, 0.0, (9, 9), "match"),  # an exact token is strong enough alone
        (False, 1.0, (9, 9), "match"),  # so is evidence far above the floor
        (False, 0.01, (0, 0), "match"),  # words and meaning agree
        (False, 0.01, (0, 9), "weak"),
        (False, 0.01, (9, 0), "weak"),
    ],
)
def test_a_match_is_agreement_or_strength(exact: bool, margin: float, ranks: tuple[int, int], expected: str) -> None:
    """Words and meaning agree, or one is strong enough alone; otherwise the agent has to confirm."""
    found = verdict(found=True, exact=exact, margin=margin, meaning_rank=ranks[0], word_rank=ranks[1])
    assert found == expected


@given(UNIT, UNIT, st.integers(0, 9), st.integers(0, 9))
def test_more_evidence_never_weakens_a_verdict(one: float, other: float, meaning_rank: int, word_rank: int) -> None:
    """The verdict is monotone in the evidence."""
    rank = {"none": 0, "weak": 1, "match": 2}
    low, high = (
        verdict(found=True, exact=False, margin=margin, meaning_rank=meaning_rank, word_rank=word_rank)
        for margin in sorted((one, other))
    )
    assert rank[high] >= rank[low]


@given(st.lists(UNIT, min_size=1, max_size=99), st.floats(0.01, 0.5))
def test_the_conformal_floor_lets_at_most_its_share_pass(evidence: list[float], alpha: float) -> None:
    """Of the probes themselves at most alpha (m + 1) are above it, but for the rounding up."""
    found = conformal([str(n) for n in range(len(evidence))], evidence, alpha)
    counted = [round(value, 6) for n, value in enumerate(evidence) if str(n) not in found.left_out]
    assert sum(value > found.value for value in counted) <= alpha * (len(evidence) + 1)
    assert found.value <= max_probe([str(n) for n in range(len(evidence))], evidence).value


@pytest.mark.parametrize(
    ("evidence", "value", "left_out"),
    [
        ([1.23] + [0.5] * 20, 0.5, ("0",)),  # one probe is answered
        ([1.23, 1.1] + [0.5] * 20, 0.5, ("0", "1")),  # two are
        ([0.6] + [0.5] * 20, 0.6, ()),  # near the others: it counts
        ([1.23] * 5 + [0.5] * 16, 1.23, ()),  # too many to be chance
        ([1.0], 1.0, ()),
    ],
)
def test_an_answered_probe_does_not_set_the_floor(
    evidence: list[float], value: float, left_out: tuple[str, ...]
) -> None:
    """One record about a probe's subject must not silence the whole project."""
    found = max_probe([str(n) for n in range(len(evidence))], evidence)
    assert (found.value, found.left_out) == (value, left_out)
