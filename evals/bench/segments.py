"""Which scheme of segments finds what was said: python -m evals.bench.segments [toy].

Self-made sessions hold each topic's text once, among others, in turns of five kinds. A question's label is its
topic's anchor: a segment that holds it is a hit, and the question avoids it. Each scheme has a control that cuts every
text at arithmetic places, about as often. Crowding, the p95 of the cosines of centred random pairs, is a diagnostic.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seed.embed.base import Embedder, ToyEmbedder
from seed.embed.minilm import MiniLm
from seed.transcript.said import Said, said, view
from seed.transcript.segments import DEFAULT, SCHEMES, Segment, segments
from seed.yamltext import parse
from sidecar import segment_words
from sidecar.floors import shipped_probes
from sidecar.segment_rank import evidence, plane

TOPICS = Path(__file__).parents[1] / "segments" / "topics.yaml"
CONTROL = "arithmetic"
PAIRS = 4000
Cut = Callable[[int, bytes, list[Said]], list[Segment]]


@dataclass(frozen=True, slots=True)
class Topic:
    """What was said once, its anchor, and a question on it that avoids the anchor."""

    anchor: str
    question: str
    text: str


@dataclass(frozen=True, slots=True)
class Score:
    """How well a way of cutting finds the topics: ranks over all segments of all sessions."""

    name: str
    segments: int
    bytes: float
    first: float
    fifth: float
    mrr: float
    median_rank: float
    crowding: float


def topics() -> tuple[list[Topic], list[str]]:
    """Return the topics and the fillers."""
    data: Any = parse(TOPICS.read_bytes()).data
    return [Topic(one["anchor"], one["question"], one["text"]) for one in data["topics"]], list(data["fillers"])


def turns(found: Sequence[Topic], fillers: Sequence[str]) -> Iterator[bytes]:
    """Yield the lines of sessions: a topic stands in prose, a tool's result, a file that is written, or a request."""
    draw = random.Random(11)  # noqa: S311 - made sessions, no key
    for at, topic in enumerate(found):
        parts = [" ".join(draw.sample(fillers, draw.randint(2, 5))) for _ in range(draw.randint(4, 8))]
        where = draw.randint(1, len(parts) - 1)
        mixed = [*parts[:where], topic.text, *parts[where:]]
        yield _row("user", [{"type": "text", "text": draw.choice(fillers)}])
        yield _row(*_placed(at % 5, mixed, draw))


def _placed(kind: int, parts: list[str], draw: random.Random) -> tuple[str, list[dict[str, Any]]]:
    if kind == 0:
        text = "\n\n".join(f"## Step {n}\n\n{part}" if n % 2 else part for n, part in enumerate(parts))
        return "assistant", [{"type": "text", "text": text}]
    if kind == 1:
        day = draw.randint(10, 28)
        logs = [f"2026-03-{day}T0{n % 9}:00:00Z INFO worker-{n}: {part}" for n, part in enumerate(parts)]
        return "user", [{"type": "tool_result", "tool_use_id": "t", "content": "\n".join(logs)}]
    if kind == 2:  # noqa: PLR2004 - the third kind of turn
        written = {"file_path": f"docs/note-{draw.randint(100, 999)}.md", "content": "\n\n".join(parts)}
        return "assistant", [{"type": "tool_use", "id": "t", "name": "Write", "input": written}]
    if kind == 3:  # noqa: PLR2004 - the fourth
        return "user", [{"type": "text", "text": " ".join(parts[:5] if len(parts) > 5 else parts)}]  # noqa: PLR2004
    return "assistant", [{"type": "text", "text": "\n".join(f"- {part}" for part in parts)}]


def _row(role: str, content: list[dict[str, Any]]) -> bytes:
    row = {"type": role, "uuid": "u", "sessionId": "made", "message": {"role": role, "content": content}}
    return json.dumps(row, ensure_ascii=False).encode()


def by_scheme(scheme: str) -> Cut:
    """Return how a scheme cuts."""
    return lambda turn, raw, parts: segments(turn, raw, parts, scheme)


def arithmetic(size: int) -> Cut:
    """Return a control: it cuts each text at every ``size`` bytes, whatever stands there."""

    def cut(turn: int, raw: bytes, parts: list[Said]) -> list[Segment]:
        inside = {place for one in parts for place in range(one.start, one.end, size)} | {p.end for p in parts}
        places = sorted({0, *inside, len(raw)})
        return [Segment(turn, a, b) for a, b in pairwise(places)]

    return cut


def pieces(lines: Sequence[bytes], cut: Cut) -> list[tuple[bytes, str]]:
    """Return (bytes, text) of every segment that says anything."""
    found = []
    for turn, raw in enumerate(lines):
        parts = said(raw, "claude")
        shown = [(raw[one.start : one.end], view(raw, parts, one.start, one.end)) for one in cut(turn, raw, parts)]
        found += [(piece, text) for piece, text in shown if text]
    return found


def control_of(lines: Sequence[bytes], count: int) -> tuple[int, list[tuple[bytes, str]]]:
    """Return (size, segments) of the control that cuts about as often as a scheme with ``count`` segments."""
    low, high = 64, 1 << 14
    while high - low > low // 50:
        size = (low + high) // 2
        low, high = (size, high) if len(pieces(lines, arithmetic(size))) > count else (low, size)
    return high, pieces(lines, arithmetic(high))


def measure(
    name: str,
    found: list[tuple[bytes, str]],
    asked: Sequence[Topic],
    embedder: Embedder,
    centre: NDArray[np.float32] | None = None,
) -> Score:
    """Return how well these segments answer the topics' questions, by the evidence that `address` uses.

    ``centre`` (d,) is the mean vector of the probes.
    """
    texts = [text for _, text in found]
    matrix = np.stack(list(embedder.passages(texts))).astype(np.float32)
    held = plane(matrix, np.arange(len(texts), dtype=np.int32), centre)
    words = segment_words.build(texts)
    ranks = []
    for topic in asked:
        near = held.nearness(np.asarray(embedder.question(topic.question), np.float32)[np.newaxis])[:, 0]
        scores = evidence([words], topic.question, near)
        hits = [n for n, (raw, _) in enumerate(found) if topic.anchor.encode() in raw]
        best = max((scores[n] for n in hits), default=-np.inf)
        ranks.append(1 + int((scores > best).sum()) if hits else len(found) + 1)  # a cut through an anchor loses it
    return _score(name, found, ranks, matrix)


def _score(name: str, found: list[tuple[bytes, str]], ranks: list[int], matrix: NDArray[np.float32]) -> Score:
    return Score(
        name,
        len(found),
        statistics.mean(len(raw) for raw, _ in found),
        statistics.mean(rank == 1 for rank in ranks),
        statistics.mean(rank <= 5 for rank in ranks),  # noqa: PLR2004 - R@5
        statistics.mean(1 / rank for rank in ranks),
        statistics.median(ranks),
        crowding(matrix),
    )


def crowding(matrix: NDArray[np.float32]) -> float:
    """Return the 95th percentile of the cosines of random pairs, after the mean vector was taken away."""
    centred = matrix - matrix.mean(axis=0)
    centred /= np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-9)
    draw = np.random.default_rng(0).integers(0, len(matrix), (PAIRS, 2))
    draw = draw[draw[:, 0] != draw[:, 1]]
    return float(np.percentile((centred[draw[:, 0]] * centred[draw[:, 1]]).sum(axis=1), 95))


def run(embedder: Embedder) -> list[Score]:
    """Return the scores of every scheme, each followed by its control."""
    asked, fillers = topics()
    lines, found = list(turns(asked, fillers)), []
    probes = np.stack([embedder.question(probe) for probe in shipped_probes()["en"]])
    centre = np.asarray(probes.mean(axis=0), np.float32)
    for scheme in SCHEMES:
        cut = pieces(lines, by_scheme(scheme))
        found.append(measure(scheme, cut, asked, embedder, centre))
        size, control = control_of(lines, len(cut))
        found.append(measure(f"{CONTROL}-{size}", control, asked, embedder, centre))
    return found


def verdicts(found: Sequence[Score]) -> list[str]:
    """Say in words which control beats its scheme, and which scheme is best."""
    said_of = [
        f"{control.name} beats {scheme.name}: MRR {control.mrr:.3f} against {scheme.mrr:.3f}"
        for scheme, control in zip(found[::2], found[1::2], strict=True)
        if control.mrr > scheme.mrr
    ]
    best = max(found[::2], key=lambda one: (one.mrr, one.first))
    return [*said_of, f"best scheme: {best.name}; default: {DEFAULT}"]


def main(arguments: Sequence[str]) -> None:
    """Measure and print the table."""
    asked = topics()[0]
    found = run(ToyEmbedder() if "toy" in arguments else MiniLm("bench"))
    print(f"{len(asked)} questions")
    print(f"{'':18}{'segments':>9}{'bytes':>7}{'R@1':>7}{'R@5':>7}{'MRR':>7}{'median':>8}{'p95':>7}")
    for one in found:
        print(f"{one.name:18}{one.segments:9}{one.bytes:7.0f}{one.first:7.3f}{one.fifth:7.3f}{one.mrr:7.3f}"
              f"{one.median_rank:8.1f}{one.crowding:7.3f}")  # fmt: skip
    print("\n".join(verdicts(found)))


if __name__ == "__main__":
    main(sys.argv[1:])
