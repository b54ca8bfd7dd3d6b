from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sidecar import address, segment_codes
from sidecar.address import Addresser
from sidecar.asking import Asking
from sidecar.codes import Coded, code, product
from sidecar.plane import Vector
from sidecar.provider import Provider
from sidecar.segment_codes import CodedSegments
from sidecar.segment_rank import Floats, best, joined, plane

from .conftest import TOY, Commit
from .test_address import keep, session

DIMENSION = 24


def multiply(values: Coded, question: Coded) -> Vector:
    """Multiply codes with no library."""
    return (values.astype(np.int32) @ question.astype(np.int32)).astype(np.float32)


def unit(draw: np.random.Generator, count: int) -> Vector:
    found = draw.standard_normal((count, DIMENSION)).astype(np.float32)
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


def made(seed: int, segments: int, reach: float) -> tuple[CodedSegments, Vector, Floats, list[int]]:
    """Make a plane of two sessions, many of its sentences alike, a question, and the share of its words."""
    draw = np.random.default_rng(seed)
    vectors = unit(draw, 40)
    vectors[20:] = vectors[:20] + np.float32(0.01) * vectors[20:]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    counts = draw.integers(0, 4, segments)
    rows = draw.integers(0, len(vectors), int(counts.sum())).astype(np.int32)
    exact = plane(vectors, rows, counts, [0, len(rows) // 2], reach)
    broken: list[int] = []
    coded = CodedSegments(exact, code(vectors), multiply, lambda: broken.append(1))
    return coded, unit(draw, 1)[0], draw.random(segments).round(1) * 0.1, broken


def whole(coded: CodedSegments, question: Vector, share: Floats) -> Floats:
    return joined(share, coded.exact.nearness(question[np.newaxis])[:, 0])


def same(found: Floats, wanted: Floats, said: NDArray[np.bool_], floor: float, limit: int) -> bool:
    """Tell whether all that an answer is made of is the same to the bit."""
    first, second = best(found, said, limit), best(wanted, said, limit)
    below = [int((one[said] <= floor).sum()) for one in (found, wanted)]
    return first == second and found[first].tolist() == wanted[second].tolist() and below[0] == below[1]


SEEDS, REACHES = st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.5])


@settings(deadline=None, max_examples=150)
@given(SEEDS, st.integers(1, 90), REACHES, st.integers(0, 89), st.integers(1, 12), st.sampled_from([0, 8]))
def test_codes_first_give_the_same_answer_to_the_bit(
    seed: int, segments: int, reach: float, at: int, limit: int, many: int
) -> None:
    """Best segments, their evidence and how many are below the floor are those of a scan of all vectors.

    The floor lies on the evidence of some segment, where it is hardest.
    """
    coded, question, share, broken = made(seed, segments, reach)
    wanted = whole(coded, question, share)
    said, floor = coded.exact.counts > 0, float(wanted[at % segments])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segment_codes, "_MANY", many)  # 0: few or many, only what is close is read
        found = coded.evidence(question, share, floor, limit)
    assert same(found, wanted, said, floor, limit)
    assert not broken


@settings(deadline=None)
@given(SEEDS, st.integers(1, 60), REACHES, st.data())
def test_some_segments_are_weighed_as_all_are(seed: int, segments: int, reach: float, data: st.DataObject) -> None:
    """The nearness of any choice of segments is bit for bit what it is among all."""
    coded, question, *_ = made(seed, segments, reach)
    saying = np.flatnonzero(coded.exact.counts > 0).tolist()
    chosen = np.array([n for n in saying if data.draw(st.booleans())], np.intp)
    near = coded.exact.nearness(question[np.newaxis])[:, 0]
    assert coded.exact.weighed(question, chosen).tolist() == near[chosen].tolist()


def test_without_the_bound_answers_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: were codes believed as they are, answers would come out wrong."""
    plain = CodedSegments._near
    monkeypatch.setattr(CodedSegments, "_near", lambda self, question: (plain(self, question)[0], 1e-9))
    monkeypatch.setattr(segment_codes, "_MANY", 0)
    wrong, found_out = 0, 0
    for seed in range(40):
        coded, question, share, broken = made(seed, 90, 0.5)
        wanted = whole(coded, question, share)
        floor = float(np.median(wanted))
        wrong += not same(joined(share, coded._near(question)[0]), wanted, coded.exact.counts > 0, floor, 5)
        coded.evidence(question, share, floor, 5)
        found_out += bool(broken)
    assert wrong
    assert found_out, "and what is read shows that the bound is none"


def test_codes_of_other_vectors_are_found_out() -> None:
    """Where a vector that is read is not as its code says, the codes are dropped, and all vectors are read."""
    coded, question, share, broken = made(5, 400, 0.5)
    other = replace(coded, codes=code(unit(np.random.default_rng(9), 40)))
    floor = float(np.max(whole(coded, question, share)))
    assert other.evidence(question, share, floor, 3).tolist() == whole(coded, question, share).tolist()
    assert broken


@pytest.mark.skipif(product() is None, reason="needs simsimd")
def test_an_answer_is_the_same_by_codes(
    repository: Path, commit: Commit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the whole addresser a document is byte for byte that of the full scan; damaged codes are made again."""
    commit({"knowledge/policy.yaml": TOY}, "Policy")
    words = ("soup", "tea")
    said = [("user", f"Shelf {n} of the pantry holds {n * 7} tins of {word}.") for n in range(40) for word in words]
    provider = Provider(repository)
    asker = Addresser(provider)
    keep(asker.history, session(tmp_path, "one", said))
    asked = [Asking(f"which shelf holds {n} tins of soup", limit=n % 7 + 1) for n in range(12)] + [Asking("volcano")]
    monkeypatch.setattr(address, "CODED_FROM", 1 << 40)
    plain = [json.dumps(asker.answer(one)) for one in asked]
    monkeypatch.setattr(address, "CODED_FROM", 1)
    by_codes = Addresser(provider)
    assert [json.dumps(by_codes.answer(one)) for one in asked] == plain
    (ready,) = by_codes._ready.values()
    assert ready.coded is not None
    (file,) = provider.session.store.folder.glob("codes/*.i8")
    file.write_bytes(bytes(file.stat().st_size))
    assert [json.dumps(Addresser(provider).answer(one)) for one in asked] == plain
    provider.close()
