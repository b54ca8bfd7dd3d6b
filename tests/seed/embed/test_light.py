from __future__ import annotations

import numpy as np
import pytest

from seed.embed.light import QuestionEncoder
from seed.embed.minilm import MiniLm, model_folder

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


def test_the_models_threads_rest_after_a_question() -> None:
    """Between questions no thread of the model looks for work: it would take the core that the scan needs."""
    encoder = QuestionEncoder(model_folder())
    options = encoder._session.get_session_options()
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"
