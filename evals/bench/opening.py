"""Opening the vectors of a snapshot: a memory map and what was worked out when it was seeded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from evals.bench import made
from evals.bench.figure import Figure, timed
from sidecar import plane_file
from sidecar.plane import plane, starts_of, summed

PASSAGES, DIMENSION = 60_000, 768


def figures(scratch: Path, *, quick: bool) -> Iterator[Figure]:
    """Measure opening 60,000 passages of 768 dimensions, and what making the sums costs once."""
    del quick
    path = scratch / "opening.f32"
    made.matrix(path, PASSAGES, DIMENSION)
    rows, of = np.arange(PASSAGES, dtype=np.int32), made.owners(PASSAGES)
    centre = np.zeros(DIMENSION, np.float32)
    starts = starts_of(of)

    def mapped() -> np.ndarray:
        return np.memmap(path, dtype="<f4", mode="r", shape=(PASSAGES, DIMENSION))

    def opened() -> object:
        vectors = mapped()
        return plane("bench", vectors, rows, of, plane_file.opened(scratch, "bench", vectors, rows, starts, centre))

    opened()
    name = f"{PASSAGES:,} x {DIMENSION}"
    yield timed(f"opening the vectors of {name}", opened, repeats=21, aim=10)
    yield timed(f"sums of {name}, once when it is seeded", lambda: summed(mapped(), rows, starts, centre), repeats=5)
    path.unlink()
