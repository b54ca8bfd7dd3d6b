"""Measure the main path on a folder of records: seeding, reseeding, no-op, recall cold and warm. Prints JSON.

    python -m evals.bench.spine FOLDER_OF_RECORDS

The folder's YAML records are committed into a scratch repository, and everything runs in a store of its own. Shares and
ratios come from one run; seconds are this machine's.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seed.embed.base import Embedder
from seed.embed.choose import choose
from seed.embed.identity import Identity
from seed.policy import Policy
from sidecar.provider import Provider
from sidecar.query import Query

ROUNDS = 9
QUESTIONS = 200


class Timed:
    """An embedder that counts the seconds spent in the model, and the passages it embedded."""

    def __init__(self, inner: Embedder) -> None:
        self.inner, self.seconds, self.passages_made = inner, 0.0, 0

    @property
    def identity(self) -> Identity:
        """Return the inner identity."""
        return self.inner.identity

    def passages(self, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """Yield the inner vectors, timed."""
        found = iter(self.inner.passages(texts))
        while True:
            start = time.perf_counter()
            vector = next(found, None)
            self.seconds += time.perf_counter() - start
            if vector is None:
                return
            self.passages_made += 1
            yield vector

    def question(self, text: str) -> NDArray[np.float32]:
        """Return the inner vector, timed."""
        start = time.perf_counter()
        vector = self.inner.question(text)
        self.seconds += time.perf_counter() - start
        return vector


def git(folder: Path, *arguments: str) -> None:
    """Run git quietly with an identity of its own."""
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)  # noqa: S603, S607


def timed(work: Callable[[], Any]) -> float:
    """Return the milliseconds of one call."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def measure(records: Path, scratch: Path) -> dict[str, Any]:
    """Return the figures of one run."""
    repo = scratch / "repository"
    shutil.copytree(records, repo / "knowledge")
    git(scratch, "init", "-q", str(repo))
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "records")
    models: list[Timed] = []

    def main_only(policy: Policy) -> list[Embedder]:
        models.append(Timed(choose(policy)[0]))
        return [models[-1]]

    provider = Provider(repo, embedders=main_only)
    first = timed(lambda: provider.seed(second=False))
    in_model = sum(model.seconds for model in models)
    figures = {"records": provider.seed(second=False)["records"], "first_seed_s": first / 1000}
    figures["model_share"] = in_model / (first / 1000)
    figures["noop_ms"] = statistics.median(timed(lambda: provider.seed(second=False)) for _ in range(ROUNDS))
    figures |= _reseed(repo, provider, models)
    questions = [Query(f"where is item {n} kept and why") for n in range(QUESTIONS)]
    warm = [timed(partial(provider.recall, question)) for question in questions]
    figures |= {"warm_ms_p50": statistics.median(warm), "warm_ms_p95": sorted(warm)[int(0.95 * len(warm))]}
    same = [timed(partial(provider.recall, questions[0])) for _ in range(ROUNDS)]
    figures["warm_same_question_ms"] = statistics.median(same)
    provider.close()
    return figures | _cold(repo)


def _reseed(repo: Path, provider: Provider, models: list[Timed]) -> dict[str, float]:
    """Change one record's body, commit, seed: the time beyond the model, the floor's calibration included."""
    file = next(iter(sorted((repo / "knowledge").rglob("*.yaml"))))
    beyond = []
    for n in range(ROUNDS):
        file.write_text(file.read_text(encoding="utf-8") + f"  One more sentence, number {n}.\n", encoding="utf-8")
        git(repo, "commit", "-qam", f"change {n}")
        before = sum(model.seconds for model in models)
        spent = timed(lambda: provider.seed(second=False))
        beyond.append(spent - (sum(model.seconds for model in models) - before) * 1000)
    return {"reseed_beyond_model_ms": statistics.median(beyond)}


def _cold(repo: Path) -> dict[str, float]:
    """Time fresh processes: a question, and Python that only imports what a question needs."""
    ask = [sys.executable, "-m", "sidecar", "recall", "where", "is", "it", "kept", "--repo", str(repo)]
    bare = [sys.executable, "-c", "import click, numpy, onnxruntime, pygit2, sqlite3, tokenizers, yaml"]
    pairs = [(timed(lambda: _run(ask)), timed(lambda: _run(bare))) for _ in range(ROUNDS)]
    cold, floor = (statistics.median(column) for column in zip(*pairs, strict=True))
    return {"cold_recall_ms": cold, "bare_imports_ms": floor, "cold_to_bare": cold / floor}


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own interpreter


def main() -> None:
    """Measure the folder named on the command line."""
    with tempfile.TemporaryDirectory(prefix="sidecar-bench-") as folder:
        os.environ["SIDECAR_HOME"] = str(Path(folder) / "home")
        figures = measure(Path(sys.argv[1]).resolve(), Path(folder))
    print(json.dumps({k: round(v, 3) for k, v in figures.items()}, indent=1))


if __name__ == "__main__":
    main()
