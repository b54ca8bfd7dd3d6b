"""What every embedder offers, and the exact toy that tests use."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from seed.embed.identity import Identity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into unit vectors of float32. Loading happens at the first use, never at construction."""

    @property
    def identity(self) -> Identity:
        """Return the identity; known without loading the model."""
        ...

    def passages(self, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """Yield one (dimension,) vector for each text, in order. Raises `EmbedderError`."""
        ...

    def question(self, text: str) -> NDArray[np.float32]:
        """Return the (dimension,) vector of a question. Raises `EmbedderError`."""
        ...


class ToyEmbedder:
    """Hashed bag of words, exact on every machine: equal words give cosine 1, disjoint ones about 0."""

    def __init__(self, dimension: int = 64, projection: str = "toy") -> None:
        self.identity = Identity(
            "toy",
            "none",
            "none",
            dimension,
            10_000,
            "mean",
            normalized=True,
            question_instruction="",
            passage_instruction="",
            projection=projection,
        )

    def passages(self, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """Yield the vector of each text."""
        return (self.question(text) for text in texts)

    def question(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text: one bucket a word by its sha256, normalised to length 1."""
        import numpy as np

        from seed.text import content_words

        vector = np.zeros(self.identity.dimension, dtype=np.float32)
        for word in content_words(text):
            vector[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") % len(vector)] += 1
        if not vector.any():
            vector[0] = 1  # every vector has length 1, that of a text without words too
        return vector / np.float32(np.linalg.norm(vector))
