"""Made-up texts and vectors for a repository on a server: drawn by Zipf's law, and lying in clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from seed.embed.base import ToyEmbedder
from seed.passages import Passage
from seed.record import Record
from seed.store.parsed import Unseen

DIMENSION = 384
PER_RECORD = 3
REPOSITORY = "example.org/large"
IDENTITY = replace(ToyEmbedder(DIMENSION).identity, model="synthetic")
_WORDS = 120
_VOCABULARY = 20_000
_CLUSTERS = 400
_SPREAD = 0.9
_BATCH = 256
Matrix = NDArray[np.float32]


def texts(draw: np.random.Generator, count: int) -> list[list[str]]:
    """Return the words of so many passages: rank r of the vocabulary is drawn in proportion to 1 / r."""
    weights = 1 / np.arange(1, _VOCABULARY + 1)
    numbers = draw.choice(_VOCABULARY, (count, _WORDS), p=weights / weights.sum())
    return [[f"w{number}" for number in row] for row in numbers.tolist()]


def centres() -> Matrix:
    """Return the middles of the clusters, the same for whoever fills and whoever asks."""
    return vectors(np.random.default_rng(11), np.eye(DIMENSION, dtype=np.float32), _CLUSTERS)


def vectors(draw: np.random.Generator, middles: Matrix, count: int) -> Matrix:
    """Return unit vectors (count, d) around randomly drawn middles (k, d)."""
    noise = draw.normal(size=(count, middles.shape[1])) * _SPREAD / np.sqrt(middles.shape[1])
    found = (middles[draw.integers(len(middles), size=count)] + noise).astype(np.float32)
    unit: Matrix = found / np.linalg.norm(found, axis=1, keepdims=True)
    return unit


def files(draw: np.random.Generator, count: int) -> Iterator[list[Unseen]]:
    """Return so many records with their passages, in the batches in which a seeding reads them."""
    for at in range(0, count, _BATCH):
        numbers = range(at, min(at + _BATCH, count))
        said = texts(draw, PER_RECORD * len(numbers))
        yield [_file(number, said[PER_RECORD * n : PER_RECORD * (n + 1)]) for n, number in enumerate(numbers)]


def oid(number: int) -> str:
    """Return the name of a record's blob."""
    return f"{number:040x}"


def _file(number: int, said: list[list[str]]) -> Unseen:
    cut = tuple(Passage(n, n + 1, "S", f"Title {number}. {' '.join(words)}", 9) for n, words in enumerate(said))
    record = Record(f"decision-{number}", "decision", f"Title {number}", "accepted")
    terms = tuple(Counter(words) for words in said)
    return Unseen(oid(number), record, (), cut, terms, f"title {number}", Counter(["title"]))
