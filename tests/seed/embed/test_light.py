from __future__ import annotations

import numpy as np
import pytest

from seed.embed.minilm import MiniLm

pytestmark = pytest.mark.model
TEXTS = (
    "Where does the store live?",
    "x",
    "naïve café — 資料庫放在哪裡？",
    "A much longer question that goes on and on about the reasons for keeping the index outside of the checkout. " * 12,
)


def test_question_and_passage_paths_agree() -> None:
    """The quick path for questions gives, bit for bit, the vectors of the passages' path."""
    model = MiniLm()
    for text, passage in zip(TEXTS, model.passages(TEXTS), strict=True):
        assert np.array_equal(model.question(text), passage)
