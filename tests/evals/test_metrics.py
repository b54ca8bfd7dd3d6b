from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals import metrics
from evals.metrics import Outcome

IDS = st.lists(st.sampled_from("abcdefghij"), max_size=10, unique=True).map(tuple)
SHARE = st.floats(0, 1, allow_nan=False)


def asked(expected: str = "", results: str = "", against: str = "", **more: object) -> Outcome:
    verdict = "match" if results or against else "none"
    return Outcome(tuple(expected), tuple(results), tuple(against), verdict, **more)  # type: ignore[arg-type]


@st.composite
def outcomes(draw: st.DrawFn) -> Outcome:
    results, against = draw(IDS), draw(IDS)[:3]
    return Outcome(draw(IDS), results, against, "weak" if results or against else "none", draw(SHARE))


def test_hand_computed() -> None:
    """Every figure has the value that its definition gives by hand."""
    found = metrics.figures(
        [
            asked("a", "xab", confidence=0.8),  # rank 2
            asked("ab", "xxxb", confidence=0.6),  # rank 4
            asked("a", "xyz", against="a", confidence=0.5),  # in decided_against: a hit at every depth
            asked("a", "", confidence=0.1),
            asked("", "", confidence=0.2),
            asked("", "xy", confidence=0.7),
        ]
    )
    value = {name: figure.value for name, figure in found.items()}
    assert [value[f"recall@{k}"] for k in (1, 3, 5, 10)] == [0.25, 0.5, 0.75, 0.75]
    assert value["mrr"] == pytest.approx((1 / 2 + 1 / 4 + 1 + 0) / 4)
    ndcg = (1 / math.log2(3) + (1 / math.log2(5)) / (1 + 1 / math.log2(3)) + 1 + 0) / 4
    assert value["ndcg@10"] == pytest.approx(ndcg)
    assert (value["answered_answerable"], value["answered_unanswerable"], value["noise"]) == (0.75, 0.5, 1.0)
    assert (value["false_answers"], found["false_answers"].n) == (1.0, 2)
    assert value["coverage@0"] == 0.25  # only 0.8 is above the best unanswerable one, 0.7


def test_weak_counts_as_answered() -> None:
    """An unanswerable question is right only when the verdict is none."""
    assert not metrics.correct(Outcome((), ("a",), (), "weak"))
    assert metrics.correct(Outcome((), (), (), "none"))


def test_pairs() -> None:
    """A pair holds when its first record came back, before the second or without it."""
    pairs = (("a", "b"), ("b", "a"), ("a", "z"), ("z", "a"))
    assert metrics.pairs_kept(asked("a", "ab", above=pairs)) == [1.0, 0.0, 1.0, 0.0]


def test_forbidden() -> None:
    """A forbidden record counts wherever it came back as an answer, also beside the results."""
    assert metrics.forbidden(asked("a", "aB", against="c", forbid=("b", "C", "d"))) == ["b", "C"]


def test_nothing_to_measure() -> None:
    """A figure over no questions is None, never a perfect score."""
    assert {f.value for name, f in metrics.figures([]).items() if name not in ("false_answers", "forbid_hits")} == {
        None
    }


def test_resolution() -> None:
    """A difference below 1/n is not distinguishable, one of 1/n is."""
    assert not metrics.distinguishable(0.50, 0.52, 40)
    assert metrics.distinguishable(0.500, 0.525, 40)
    assert not metrics.distinguishable(0.1, 0.9, 0)


@given(outcomes())
def test_deeper_finds_no_less(outcome: Outcome) -> None:
    """recall@k never falls with k, and nothing beats the bounds 0 and 1."""
    hits = [metrics.hit(outcome, k) for k in range(1, 11)]
    assert hits == sorted(hits)
    assert 0 <= metrics.ndcg(outcome) <= 1
    assert hits[0] <= metrics.reciprocal_rank(outcome) <= 1


@given(outcomes().filter(lambda o: o.expected))
def test_ideal_order_is_one(outcome: Outcome) -> None:
    """nDCG is 1 exactly when every expected record comes first."""
    assert metrics.ndcg(Outcome(outcome.expected, outcome.expected, (), "match")) == pytest.approx(1)


@given(st.lists(SHARE, min_size=1, max_size=30))
def test_interval_holds_the_mean(values: list[float]) -> None:
    """The interval holds the mean, lies inside the values and is the same at every call."""
    figure = metrics._mean(values)
    assert figure.low is not None
    assert figure.high is not None
    assert figure.value is not None
    assert min(values) - 1e-9 <= figure.low <= figure.value + 1e-9
    assert figure.value - 1e-9 <= figure.high <= max(values) + 1e-9
    assert metrics._mean(values) == figure


@given(st.lists(SHARE, min_size=1, max_size=20), st.lists(SHARE, min_size=1, max_size=20), SHARE)
def test_coverage_agrees_with_the_curve(good: list[float], bad: list[float], share: float) -> None:
    """coverage at a share is the best point of the curve whose risk does not pass that share."""
    found = float(metrics.coverage_at(np.array(good), np.array(bad), share))
    many = [Outcome(("a",), confidence=c) for c in good] + [Outcome((), confidence=c) for c in bad]
    allowed = math.floor(share * len(bad) + 1e-9) / len(bad)
    points = [p.coverage for p in metrics.curve(many) if p.risk <= allowed + 1e-12]
    assert found == pytest.approx(max(points, default=0.0))


@given(st.lists(outcomes(), max_size=12))
def test_order_of_questions_does_not_matter(many: list[Outcome]) -> None:
    """Figures are means: the order of the questions changes none of them."""
    forward, backward = metrics.figures(many), metrics.figures(many[::-1])
    assert {k: f.value for k, f in forward.items()} == pytest.approx({k: f.value for k, f in backward.items()})


def test_against_a_kept_library() -> None:
    """MRR and nDCG@10 agree with ir-measures on results that stand in one list."""
    ir = pytest.importorskip("ir_measures")
    draw = np.random.default_rng(7)
    ids = [f"d{n}" for n in range(12)]
    many = []
    for _ in range(40):
        results = tuple(draw.permutation(ids)[: draw.integers(1, 11)])
        many.append(Outcome(tuple(draw.permutation(ids)[: draw.integers(1, 4)]), results, (), "match"))
    qrels = [ir.Qrel(str(n), i, 1) for n, o in enumerate(many) for i in o.expected]
    scored = [ir.ScoredDoc(str(n), i, -at) for n, o in enumerate(many) for at, i in enumerate(o.results)]
    reference = ir.calc_aggregate([ir.RR, ir.nDCG @ 10, ir.Success @ 3], qrels, scored)
    found = metrics.figures(many)
    assert found["mrr"].value == pytest.approx(reference[ir.RR])
    assert found["ndcg@10"].value == pytest.approx(reference[ir.nDCG @ 10])
    assert found["recall@3"].value == pytest.approx(reference[ir.Success @ 3])
