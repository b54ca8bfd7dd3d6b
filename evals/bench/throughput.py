"""Compare seeding's passages per second with a bare ONNX Runtime loop over the same texts, in turns. Prints JSON.

    python -m evals.bench.throughput FOLDER_OF_RECORDS

The bare loop tokenises, runs the session and pools, text by text, with ONNX Runtime's own choice of threads.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from seed.embed.light import QuestionEncoder
from seed.embed.minilm import MiniLm, model_folder
from seed.passages import cut
from seed.reader import parse_record

ROUNDS = 5
TEXTS = 120


def texts(folder: Path) -> list[str]:
    """Return passages of the records in a folder, in path order."""
    found: list[str] = []
    for path in sorted(folder.rglob("*.yaml")):
        record = parse_record(path.read_bytes()).record
        if record is not None:
            found += [passage.text for passage in cut(record.title, record.body)]
    return found[:TEXTS]


def rate(work: object, count: int) -> float:
    """Return texts per second of one call."""
    start = time.perf_counter()
    work()  # type: ignore[operator]
    return count / (time.perf_counter() - start)


def main() -> None:
    """Measure the folder named on the command line."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["SIDECAR_HOME"] = home
        sample = texts(Path(sys.argv[1]))
        bare, ours = QuestionEncoder(model_folder()), MiniLm()
        bare.encode(sample[0])
        list(ours.passages(sample[:1]))
        pairs = [
            (
                rate(lambda: [bare.encode(text) for text in sample], len(sample)),
                rate(lambda: list(ours.passages(sample)), len(sample)),
            )
            for _ in range(ROUNDS)
        ]
    ratios = [seeding / loop for loop, seeding in pairs]
    figures = {
        "texts": len(sample),
        "bare_per_second": statistics.median(loop for loop, _ in pairs),
        "seeding_per_second": statistics.median(seeding for _, seeding in pairs),
        "ratio": statistics.median(ratios),
    }
    print(json.dumps({key: round(value, 3) for key, value in figures.items()}, indent=1))


if __name__ == "__main__":
    main()
