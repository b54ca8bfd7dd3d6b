"""Embed a single question without importing fastembed, whose import is most of a cold start (decision-0035).

The same tokenizer, ONNX file, pooling and normalisation, in the same order, so that the vector is bit for bit the one
fastembed gives; a test holds that.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_TINY_COUNT, _TINY_NORM = 1e-9, 1e-12


class QuestionEncoder:
    """One tokenizer and one ONNX session over a model folder as `seed.embed.minilm.model_folder` builds it."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        limit = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))["model_max_length"]
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(max_length=limit)
        self._tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        # Its threads would look for more work for 30 ms after each question, on the core that the scan needs next.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )

    def encode(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector (dimension,) of a text: mean over its tokens in float64, then normalised."""
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        mask = np.ones_like(ids)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        tokens = self._session.run(None, inputs)[0]
        mean = np.sum(tokens, axis=1, where=mask[:, :, np.newaxis].astype(bool), dtype=np.float64)
        mean = mean / np.maximum(np.sum(mask, axis=1, keepdims=True), _TINY_COUNT)
        unit = mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), _TINY_NORM)
        vector: NDArray[np.float32] = unit.astype(tokens.dtype)[0]
        return vector
