from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

pytest.importorskip("simsimd")

from sidecar import coded as module
from sidecar import codes
from sidecar.coded import CodedPlane, coded
from sidecar.codes import code, product
from sidecar.nearness import Nearness
from sidecar.plane import Plane, plane, products

Vectors = NDArray[np.float32]
KINDS = ("random", "near duplicates", "duplicates", "single words", "one large part")
layouts = st.lists(st.integers(1, 3) | st.integers(15, 40), min_size=1, max_size=40)


def vectors(kind: str, rows: int, dimension: int, draw: np.random.Generator) -> Vectors:
    """Return unit vectors (rows, d) of a kind that is hard to tell apart, or to code."""
    found = draw.standard_normal((rows, dimension))
    if kind == "near duplicates":
        found = found[:1] + 1e-3 * found
    elif kind == "duplicates":
        found = found[draw.integers(0, min(rows, 3), rows)]
    elif kind == "single words":  # nothing is left over by their codes
        found = np.eye(dimension)[draw.integers(0, dimension, rows)] * draw.choice([-1, 1], (rows, 1))
    elif kind == "one large part":  # the other parts have hardly any codes
        found[:, 0] *= 200
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def planes(runs: list[int], kind: str, dimension: int, seed: int, missing: float) -> tuple[Plane, CodedPlane, Vectors]:
    """Return a plane of records with so many passages each, the same by codes, and three questions."""
    draw, passages = np.random.default_rng(seed), sum(runs)
    matrix = vectors(kind, passages + 3, dimension, draw)
    rows = draw.permutation(passages).astype(np.int32) if seed % 2 else np.arange(passages, dtype=np.int32)
    rows[draw.random(passages) < missing] = -1
    owners = np.repeat(np.arange(len(runs), dtype=np.uint32), runs)
    exact = plane("x", matrix, rows, owners, matrix[-1] * np.float32(0.3))
    multiply = product()
    assert multiply is not None
    return exact, coded(exact, code(matrix), multiply, broken), np.concatenate([matrix[-3:], matrix[:1]])


def broken() -> None:
    raise AssertionError("a vector is nearer than its codes allow")


def same(one: Nearness, other: Nearness, at: NDArray[np.intp] | slice = slice(None)) -> bool:
    """Tell whether two agree to the last bit."""
    pairs = [(getattr(one, n)[at], getattr(other, n)[at]) for n in ("passage", "cosine", "near")]
    return all(a.tobytes() == b.tobytes() for a, b in pairs)


@given(layouts, st.sampled_from(KINDS), st.integers(1, 70), st.integers(0, 99), st.sampled_from([0.0, 0.3, 1.0]))
def test_no_vector_is_nearer_than_its_codes_allow(
    runs: list[int], kind: str, dimension: int, seed: int, missing: float
) -> None:
    """Whatever the vectors are like, what the codes say is the most that they can be, and without one it is exact."""
    exact, quick, questions = planes(runs, kind, dimension, seed, missing)
    for question in questions:
        wanted, found = exact.nearness(question), quick.nearness(question)
        assert found.loose is not None
        assert (found.near >= wanted.near).all()
        assert (found.cosine >= wanted.cosine).all()
        assert same(found, wanted, np.flatnonzero(~found.loose))
        assert found.source == wanted.source


@given(layouts, st.sampled_from(KINDS), st.integers(1, 70), st.integers(0, 99), st.sampled_from([0, 8]))
def test_what_is_settled_is_what_the_exact_scan_says(
    runs: list[int], kind: str, dimension: int, seed: int, many: int
) -> None:
    """A settled record's passage, cosine and nearness are those of the exact scan, to the last bit, however many."""
    exact, quick, questions = planes(runs, kind, dimension, seed, 0.2)
    some = np.random.default_rng(seed).permutation(len(runs))[: max(1, len(runs) // 3)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MANY", many)
        for question in questions:
            wanted, found = exact.nearness(question), quick.nearness(question)
            found.settle(some)
            assert same(found, wanted, some)
            found.settle(np.arange(len(runs)))
            assert same(found, wanted)
            assert found.loose is not None
            assert not found.loose.any()


@given(layouts, st.sampled_from(KINDS), st.integers(1, 70), st.integers(0, 99), st.integers(1, 9))
def test_the_first_are_the_first_of_the_exact_scan(
    runs: list[int], kind: str, dimension: int, seed: int, count: int
) -> None:
    """Settled from the top until the first K are exact, they are the first K, and those even with the last."""
    exact, quick, questions = planes(runs, kind, dimension, seed, 0.1)
    for question in questions:
        wanted, found = exact.nearness(question).near, quick.nearness(question)
        while found.loose is not None and found.loose[first := leading(found.near, count)].any():
            found.settle(first)
        assert leading(found.near, count).tolist() == leading(wanted, count).tolist()
        assert found.near[leading(wanted, count)].tolist() == wanted[leading(wanted, count)].tolist()


def leading(values: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    least = np.sort(values)[-min(count, len(values))]
    return np.flatnonzero(values >= least)


@pytest.mark.parametrize("dropped", ["what the vectors leave over", "what the question leaves over"])
def test_both_bounds_are_needed(dropped: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: without either of the two, some vector is nearer than its codes allow."""
    exact, quick, _ = planes([1] * 200, "random", 64, 4, 0.0)
    asked, draw = codes.asked, np.random.default_rng(0)
    if dropped == "what the vectors leave over":
        monkeypatch.setattr(module, "asked", lambda question: replace(asked(question), slope=0.0))
        questions = exact.matrix[:200] - code(exact.matrix[:200]).values * code(exact.matrix[:200]).scales[:, None]
    else:
        monkeypatch.setattr(module, "asked", lambda question: replace(asked(question), fixed=0.0))
        quick = replace(quick, rests=np.zeros_like(quick.rests))
        questions = draw.standard_normal((200, 64)).astype(np.float32)
    questions = (questions / np.linalg.norm(questions, axis=1, keepdims=True)).astype(np.float32)
    monkeypatch.setattr(module, "_HALF", 0.0)
    assert any((quick.nearness(q).near < exact.nearness(q).near - 1e-4).any() for q in questions)


def test_codes_of_other_vectors_are_noticed() -> None:
    """A vector that is nearer than its codes allow ends their use: all is read, and whoever keeps them is told."""
    exact, quick, questions = planes([1] * 400, "random", 64, 4, 0.0)
    told: list[bool] = []
    turned = replace(quick.codes, values=quick.codes.values[::-1])
    stale = replace(quick, codes=turned, broken=lambda: told.append(True))
    found = stale.nearness(questions[3])
    found.settle(np.arange(40))
    assert told
    assert same(found, exact.nearness(questions[3]))


@given(st.integers(1, 300), st.integers(0, 99))
def test_a_product_is_the_same_whichever_rows_are_read_with_it(dimension: int, seed: int) -> None:
    """The exact scan and the reading of a few rows agree to the last bit."""
    draw = np.random.default_rng(seed)
    matrix, some = draw.standard_normal((60, dimension)).astype(np.float32), draw.integers(0, 60, 17)
    assert products(matrix, matrix[0])[some].tobytes() == products(matrix[some], matrix[0]).tobytes()


@given(st.integers(1, 900), st.integers(0, 99))
def test_products_of_codes_are_exact(dimension: int, seed: int) -> None:
    """Whatever kernel the processor has, the sum of products is the whole number that it is."""
    draw, multiply = np.random.default_rng(seed), product()
    assert multiply is not None
    rows = draw.choice(np.array([-127, -126, 0, 1, 127], np.int8), (9, dimension))
    wanted = rows.astype(np.int64) @ rows[0].astype(np.int64)
    assert multiply(rows, rows[0]).tolist() == wanted.tolist()


def test_a_library_that_multiplies_wrong_is_not_used() -> None:
    """Negative control: sums that saturate, as some instructions do, are not believed."""
    right = codes.product()
    assert right is not None
    assert codes._right(right)
    assert not codes._right(lambda values, question: np.minimum(right(values, question), 2.0**15))
