from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from seed.embed.base import ToyEmbedder
from seed.embed.identity import Identity, from_json, require_equal
from seed.errors import IncomparableError

BASE = Identity(
    model="m",
    weights="sha256:w",
    tokenizer="sha256:t",
    dimension=4,
    max_tokens=8,
    pooling="mean",
    normalized=True,
    question_instruction="",
    passage_instruction="",
    projection="p1",
)
CHANGES = {
    "model": "n",
    "weights": "sha256:x",
    "tokenizer": "sha256:u",
    "dimension": 5,
    "max_tokens": 9,
    "pooling": "cls",
    "normalized": False,
    "question_instruction": "q: ",
    "passage_instruction": "p: ",
    "projection": "p2",
}


@pytest.mark.parametrize("part", [field.name for field in dataclasses.fields(Identity)])
def test_every_part_counts(part: str) -> None:
    """Two identities that differ in any part have two digests and are incomparable, and the part is named."""
    other = dataclasses.replace(BASE, **{part: CHANGES[part]})
    assert other.digest != BASE.digest
    with pytest.raises(IncomparableError, match=f"INCOMPARABLE: {part} differs - {getattr(BASE, part)} against"):
        require_equal(BASE, other)


def test_equal_identities_compare() -> None:
    """An identity survives its JSON and equals itself."""
    require_equal(BASE, from_json(BASE.to_json()))
    assert from_json(BASE.to_json()).digest == BASE.digest


@pytest.mark.parametrize("part", ["weights", "tokenizer"])
def test_a_model_known_by_name_only_is_unpinned(part: str) -> None:
    """A service that gives just a name may change what it means from one day to the next."""
    assert BASE.pinned
    assert not dataclasses.replace(BASE, **{part: "name-only"}).pinned


def test_the_toy_embedder_gives_literal_cosines() -> None:
    """Equal words give cosine 1, half of them shared 0.5, none 0; an empty text has length 1 too."""
    toy = ToyEmbedder()
    both, same, half, none = (toy.question(t) for t in ("alpha beta", "beta alpha", "alpha gamma", "delta"))
    assert [round(float(both @ other), 6) for other in (same, half, none)] == [1.0, 0.5, 0.0]
    assert float(np.linalg.norm(toy.question(""))) == 1.0
    assert np.array_equal(next(toy.passages(["alpha beta"])), both)
