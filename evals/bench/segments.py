"""Which scheme of segments finds what was said: python -m evals.bench.segments [toy] [--json].

Self-made sessions hold each topic's text once, among others, in turns of five kinds. A question's label is its
topic's anchor: a segment that holds it is a hit, and the question avoids it. Each scheme has a control that cuts every
text at arithmetic places, about as often. Crowding, the p95 of the cosines of centred random pairs, is a diagnostic.
There are three sets over different projects, each asked in three arrangements of its sessions. The ranking's constants
were chosen with the first two in sight; the third was written blind after that, so tune nothing on it. The second and
the third are asked in Chinese as well, by the second model.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seed.embed.base import Embedder, ToyEmbedder
from seed.embed.minilm import MiniLm
from seed.embed.multilingual import Multilingual
from seed.transcript.said import Said, said, spoken
from seed.transcript.segments import DEFAULT, SCHEMES, Segment, segments
from seed.yamltext import parse
from sidecar import segment_words
from sidecar.segment_rank import evidence, plane
from sidecar.sentences import sentences

FOLDER = Path(__file__).parents[1] / "segments"
SETS = ("topics", "second", "third")
IN_CHINESE = SETS[1:]
ARRANGEMENTS = (11, 1, 2)
CONTROL = "arithmetic"
PAIRS = 4000
Cut = Callable[[int, bytes, list[Said]], list[Segment]]
Piece = tuple[bytes, str, str]
"""The bytes of a segment, its title and its text."""


@dataclass(frozen=True, slots=True)
class Topic:
    """What was said once, its anchor, and a question on it that avoids the anchor."""

    anchor: str
    question: str
    text: str
    question_zh: str = ""


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


def topics(name: str = SETS[0]) -> tuple[list[Topic], list[str]]:
    """Return the topics and the fillers of a set."""
    data: Any = parse((FOLDER / f"{name}.yaml").read_bytes()).data
    found = [Topic(one["anchor"], one["question"], one["text"], one.get("question_zh", "")) for one in data["topics"]]
    return found, list(data["fillers"])


def turns(found: Sequence[Topic], fillers: Sequence[str], seed: int = ARRANGEMENTS[0]) -> Iterator[bytes]:
    """Yield the lines of sessions: a topic stands in prose, a tool's result, a file that is written, or a request."""
    draw = random.Random(seed)  # noqa: S311 - made sessions, no key
    for at, topic in enumerate(found):
        parts = [" ".join(draw.sample(fillers, draw.randint(2, 5))) for _ in range(draw.randint(4, 8))]
        where = draw.randint(1, len(parts) - 1 if at % 5 != 3 else 3)  # noqa: PLR2004 - a request is cut after five
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


def pieces(lines: Sequence[bytes], cut: Cut) -> list[Piece]:
    """Return every segment that says anything."""
    found = []
    for turn, raw in enumerate(lines):
        parts = said(raw, "claude")
        shown = [(raw[one.start : one.end], *spoken(raw, parts, one.start, one.end)) for one in cut(turn, raw, parts)]
        found += [piece for piece in shown if piece[2]]
    return found


def control_of(lines: Sequence[bytes], count: int) -> tuple[int, list[Piece]]:
    """Return (size, segments) of the control that cuts about as often as a scheme with ``count`` segments."""
    low, high = 64, 1 << 14
    while high - low > low // 50:
        size = (low + high) // 2
        low, high = (size, high) if len(pieces(lines, arithmetic(size))) > count else (low, size)
    return high, pieces(lines, arithmetic(high))


class Remembering:
    """An embedder that works each text out once: the cuts share most of their sentences."""

    def __init__(self, inner: Embedder) -> None:
        self._inner, self._known = inner, dict[str, NDArray[np.float32]]()

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors (n, d) of texts."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known |= zip(new, self._inner.passages(new), strict=True)
        return np.stack([self._known[text] for text in texts]).astype(np.float32)

    def question(self, text: str) -> NDArray[np.float32]:
        """Return the vector (1, d) of a question."""
        return np.asarray(self._inner.question(text), np.float32)[np.newaxis]


def ranks(found: Sequence[Piece], asked: Sequence[Topic], embedder: Remembering) -> list[int]:
    """Return the rank of each topic's segment for its question, by the evidence that `address` uses."""
    words = segment_words.build((title, text) for _, title, text in found)
    rows = {text: n for n, text in enumerate(dict.fromkeys(one for _, _, text in found for one in sentences(text)))}
    numbers = np.array([rows[one] for _, _, text in found for one in sentences(text)], np.int32)
    held = plane(embedder.vectors(list(rows)), numbers, words.counts.astype(np.int64))
    places = []
    for topic in asked:
        scores = evidence([words], topic.question, held.nearness(embedder.question(topic.question))[:, 0])
        hits = [n for n, (raw, _, _) in enumerate(found) if topic.anchor.encode() in raw]
        best = max((scores[n] for n in hits), default=-np.inf)
        places.append(1 + int((scores > best).sum()) if hits else len(found) + 1)  # a cut through an anchor loses it
    return places


def measure(name: str, cuts: Sequence[list[Piece]], asked: Sequence[Topic], embedder: Remembering) -> Score:
    """Return how well the segments of each arrangement answer the topics' questions, all ranks taken together."""
    found = [rank for one in cuts for rank in ranks(one, asked, embedder)]
    crowd = crowding(embedder.vectors([text for _, _, text in cuts[0]]))
    return Score(
        name,
        len(cuts[0]),
        statistics.mean(len(raw) for raw, _, _ in cuts[0]),
        statistics.mean(rank == 1 for rank in found),
        statistics.mean(rank <= 5 for rank in found),  # noqa: PLR2004 - R@5
        statistics.mean(1 / rank for rank in found),
        statistics.median(found),
        crowd,
    )


def crowding(matrix: NDArray[np.float32]) -> float:
    """Return the 95th percentile of the cosines of random pairs, after the mean vector was taken away."""
    centred = matrix - matrix.mean(axis=0)
    centred /= np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-9)
    draw = np.random.default_rng(0).integers(0, len(matrix), (PAIRS, 2))
    draw = draw[draw[:, 0] != draw[:, 1]]
    return float(np.percentile((centred[draw[:, 0]] * centred[draw[:, 1]]).sum(axis=1), 95))


def run(embedder: Remembering, name: str = SETS[0], schemes: Sequence[str] = tuple(SCHEMES)) -> list[Score]:
    """Return the scores of every scheme on a set, each followed by its control."""
    asked, fillers = topics(name)
    arranged = [list(turns(asked, fillers, seed)) for seed in ARRANGEMENTS]
    found = []
    for scheme in schemes:
        cuts = [pieces(lines, by_scheme(scheme)) for lines in arranged]
        found.append(measure(scheme, cuts, asked, embedder))
        size, _ = control_of(arranged[0], len(cuts[0]))
        control = [pieces(lines, arithmetic(size)) for lines in arranged]
        found.append(measure(f"{CONTROL}-{size}", control, asked, embedder))
    return found


def run_chinese(embedder: Remembering, name: str) -> Score:
    """Return the score of the default scheme on a set's questions in Chinese, by meaning; no word is translated."""
    asked, fillers = topics(name)
    cuts = [pieces(list(turns(asked, fillers, seed)), by_scheme(DEFAULT)) for seed in ARRANGEMENTS]
    return measure(f"{DEFAULT}, zh", cuts, [replace(one, question=one.question_zh) for one in asked], embedder)


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
    """Measure and print a table for each set, or everything as JSON."""
    embedder = Remembering(ToyEmbedder() if "toy" in arguments else MiniLm("bench"))
    found = {name: run(embedder, name) for name in SETS}
    if "toy" not in arguments:
        second = Remembering(Multilingual("bench"))
        found |= {f"{name}, in Chinese": [run_chinese(second, name)] for name in IN_CHINESE}
    if "--json" in arguments:
        rows = {name: [asdict(one) for one in scores] for name, scores in found.items()}
        print(json.dumps({"format": 1, "arrangements": len(ARRANGEMENTS), "sets": rows}, indent=1))
        return
    for name, scores in found.items():
        print(f"{name}: {len(topics(name.split(',')[0])[0])} questions, {len(ARRANGEMENTS)} arrangements")
        print(f"{'':18}{'segments':>9}{'bytes':>7}{'R@1':>7}{'R@5':>7}{'MRR':>7}{'median':>8}{'p95':>7}")
        for one in scores:
            print(f"{one.name:18}{one.segments:9}{one.bytes:7.0f}{one.first:7.3f}{one.fifth:7.3f}{one.mrr:7.3f}"
                  f"{one.median_rank:8.1f}{one.crowding:7.3f}")  # fmt: skip
        if len(scores) > 1:
            print("\n".join(verdicts(scores)))


if __name__ == "__main__":
    main(sys.argv[1:])
