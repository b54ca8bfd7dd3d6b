from __future__ import annotations

import numpy as np
import pytest

from sidecar.plane import CENTRE, WHOLE_WEIGHT, plane

E = np.eye(4, dtype=np.float32)
OWNERS = np.array([0, 0, 1], np.uint32)
ROWS = np.array([0, 1, 2], np.int32)
NOTHING = np.zeros(4, np.float32)


def test_nearness_by_hand() -> None:
    """The best passage's cosine and half of the cosine with the sum of the record's vectors."""
    found = plane("x", E[:3], ROWS, OWNERS, NOTHING).nearness(E[0])
    assert found.cosine.tolist() == [1.0, 0.0]
    assert found.passage.tolist() == [0, 2]
    assert found.near.tolist() == pytest.approx([1 + WHOLE_WEIGHT * 0.7071, 0.0], abs=1e-4)


def test_what_is_near_to_every_question_is_charged() -> None:
    """A passage that the probes have much in common with needs more to be near."""
    plain = plane("x", E[:3], ROWS, OWNERS, NOTHING).nearness(E[2])
    charged = plane("x", E[:3], ROWS, OWNERS, E[2]).nearness(E[2])
    assert plain.near[1] - charged.near[1] == pytest.approx(CENTRE * (1 + WHOLE_WEIGHT), abs=1e-4)
    assert charged.cosine.tolist() == plain.cosine.tolist()


def test_records_without_vectors_are_not_near() -> None:
    """A passage whose vector is still missing never counts, and the record is known not to be embedded."""
    half = plane("x", E[:3], np.array([0, -1, -1], np.int32), OWNERS, NOTHING)
    assert half.embedded.tolist() == [False, False]
    found = half.nearness(E[2])
    assert (found.passage[1], found.cosine[1], found.near[1]) == (-1, -1.0, 0.0)
