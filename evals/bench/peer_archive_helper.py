"""Runs in the peer's interpreter, for `evals.bench.peer_archive`: its own functions, timed and asked. Prints JSON."""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

SCHEME = sys.argv[1]


def vector_path(archive: str) -> Path:
    """Return where its commands keep the vectors of an archive."""
    return Path(archive).with_suffix(f".vectors-{SCHEME}.anlavec")


def index_of(archive: str) -> Any:  # noqa: ANN401 - the peer's own class
    """Return its segment index of an archive."""
    path = Path(archive).with_suffix(f".segments-{SCHEME}.json")
    return import_module("anla1.segment").SegmentIndex.of(json.loads(path.read_text()))


def opened(archive: str) -> tuple[Any, list[str], list[bytes]]:
    """Return its index of an archive, with the text and the bytes of each segment."""
    snapshots, data = import_module("anla1.snapshot"), Path(archive).read_bytes()
    turns = snapshots.extract_snapshot(data, snapshots.list_snapshots(data)[-1])
    index = index_of(archive)
    project = import_module("anla1.segment").project_segment
    texts = [project(one, turns[one.source_turn], check=False) for one in index.segments]
    spans = [b"".join(turns[one.source_turn][a:b] for a, b in one.ranges) for one in index.segments]
    return index, texts, spans


def fill(archive: str, rounds: int, count: int, dimension: int = 384) -> dict[str, float]:
    """Write random vectors, of its segments if it has cut them; return how long loading and searching them takes."""
    vectors, path = import_module("anla1.vectors"), vector_path(archive)
    cut = Path(archive).with_suffix(f".segments-{SCHEME}.json").exists()
    keys = [one.segment_id for one in index_of(archive).segments] if cut else [f"segment-{n}" for n in range(count)]
    draw = random.Random(0)  # noqa: S311 - made vectors, no key
    rows = ((key, [draw.gauss(0, 1) for _ in range(dimension)]) for key in keys)
    vectors.write_vectors(path, rows, {"model": "made", "dimensions": dimension})
    loads, times, held = [], [], vectors.read_vectors(path)
    for _ in range(rounds):
        start = time.perf_counter()
        held = vectors.read_vectors(path)
        loads.append(time.perf_counter() - start)
    question = [draw.gauss(0, 1) for _ in range(dimension)]
    for _ in range(rounds):
        start = time.perf_counter()
        held.search(question, limit=5)
        times.append(time.perf_counter() - start)
    return {"load_s": statistics.median(loads), "search_s": statistics.median(times)}


def ranks(archive: str, given: str, anchors: str) -> list[int]:
    """Return the rank of each anchor's segment by its search, over all segments that say something."""
    vectors = import_module("anla1.vectors")
    path = vector_path(archive)
    index, texts, spans = opened(archive)
    made = json.loads(Path(given).read_text())
    said = [n for n, text in enumerate(texts) if text.strip()]
    rows = [(index.segments[n].segment_id, made["texts"][k]) for k, n in enumerate(said)]
    vectors.write_vectors(path, rows, {"model": "made"})
    held, found = vectors.read_vectors(path), []
    for anchor, question in zip(json.loads(anchors), made["questions"]):  # noqa: B905 - the peer's Python may be old
        holders = {index.segments[n].segment_id for n in said if anchor.encode() in spans[n]}
        order = [key for key, _ in held.search(question, limit=len(said))]
        found.append(next((n for n, key in enumerate(order, 1) if key in holders), len(order) + 1))
    return found


if __name__ == "__main__":
    what, where, *rest = sys.argv[2:]
    if what == "texts":
        print(json.dumps([text for text in opened(where)[1] if text.strip()]))
    elif what == "fill":
        print(json.dumps(fill(where, *map(int, rest))))
    else:
        print(json.dumps(ranks(where, *rest)))
