from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.floor import digest, max_probe, relevance, round_up, verdict

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
    assert verdict(found=False, exact=True, cosine=1.0, coverage=1.0) == "none"


def test_an_exact_token_or_strong_evidence_is_a_match_and_thin_evidence_is_weak() -> None:
    """Words and meaning agree, or one is strong enough alone; otherwise the agent has to confirm."""
    assert verdict(found=True, exact=True, cosine=0.0, coverage=0.0) == "match"
    assert verdict(found=True, exact=False, cosine=1.0, coverage=0.0) == "match"
    assert verdict(found=True, exact=False, cosine=1.0, coverage=1.0) == "match"
    assert verdict(found=True, exact=False, cosine=0.0, coverage=0.0) == "weak"


@given(st.booleans(), UNIT, UNIT)
def test_what_the_default_branch_has_changed_is_weak_at_most(exact: bool, cosine: float, coverage: float) -> None:
    """An old branch never sells an overturned decision as a match."""
    assert verdict(found=True, exact=exact, cosine=cosine, coverage=coverage, on_other_branch=True) == "weak"


@given(UNIT, UNIT, UNIT, UNIT)
def test_more_evidence_never_weakens_a_verdict(cosine: float, coverage: float, more: float, wider: float) -> None:
    """The verdict is monotone in both kinds of evidence."""
    rank = {"none": 0, "weak": 1, "match": 2}
    less = verdict(found=True, exact=False, cosine=min(cosine, more), coverage=min(coverage, wider))
    assert rank[verdict(found=True, exact=False, cosine=max(cosine, more), coverage=max(coverage, wider))] >= rank[less]
