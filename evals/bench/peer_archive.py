"""Side by side in one run with the package `anla-archive`. Prints JSON.

    python -m evals.bench.peer_archive PEER_PYTHON [SESSIONS_FOLDER] [--turns N] [--segments N] [--vectors-only]

PEER_PYTHON is the interpreter of an environment that holds `anla-archive[speed,zstd]` and `numpy`. Measured are the
size of the archive, capture and segment time on each session of the folder and on a made one, the time to load and
search the vectors of all its segments, and one whole question. The vectors of the made session are random and the same
for both; ours has one a sentence, theirs one a segment. The labelled questions are asked of both with the same model.
Cutting and asking takes the peer minutes at the full size; --vectors-only leaves that out.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from evals.bench import long_session, segments
from evals.bench.archives import SCHEME, Numbers, Ours, Theirs
from seed.embed.minilm import MiniLm


def sessions(folder: Path | None) -> Iterator[Path]:
    """Yield the session files of a folder that are large enough to be one."""
    yield from sorted(path for path in folder.rglob("*.jsonl") if path.stat().st_size) if folder else ()


def compare(python: Path, folder: Path | None, scratch: Path, sizes: tuple[int, int], *, vectors_only: bool) -> Numbers:
    """Measure both on every session, and on a made one all the rest; of the peer only its vectors, if so asked."""
    ours, theirs = Ours(scratch / "ours"), Theirs(python, scratch / "theirs")
    real = [{"file": p.name, "ours": ours.capture(p), "theirs": theirs.capture(p)} for p in sessions(folder)]
    path, large = scratch / "long.jsonl", Ours(scratch / "large")
    long_session.write(path, *sizes)
    mine = large.capture(path)
    mine["segments"], mine["sentences"] = large.fill(np.random.default_rng(0))
    mine |= {**large.search(), **large.whole()}
    archive = theirs.folder / "long.anla"
    other = {} if vectors_only else theirs.capture(path)
    other |= theirs.searched(archive, mine["segments"])
    other |= {} if vectors_only else theirs.whole(archive)
    made = {"ours": mine, "theirs": other}
    told = {"format": 1, "sessions": real, "made": made, "ratios": ratios(real, mine, other)}
    return told if vectors_only else {**told, "questions": quality(theirs)}


def quality(theirs: Theirs) -> Numbers:
    """Ask both the labelled questions with the same model, each by its own ranking over its own segments."""
    embedder, found = segments.Remembering(MiniLm("bench")), {}
    for name in segments.SETS:
        own = segments.run(embedder, name, [SCHEME])[0]
        said = {"R@1": own.first, "R@5": own.fifth, "MRR": own.mrr}
        found[name] = {"ours": said, "theirs": theirs.quality(name, embedder)}
    return found


def ratios(real: Sequence[Numbers], mine: Numbers, other: Numbers) -> Numbers:
    """Return ours as a share of theirs for sizes, and theirs over ours for times; what was not measured is left out."""
    size = {who: sum(one[who]["stored"] for one in real) for who in ("ours", "theirs")}
    pairs = {
        "archive_of_theirs": (size["ours"], size["theirs"]),
        "made_archive_of_theirs": (mine["stored"], other.get("stored")),
        "capture_times_faster": (other.get("capture_s"), mine["capture_s"]),
        "segment_times_faster": (other.get("segment_s"), mine["segment_s"]),
        "search_times_faster": (other["search_s"], mine["search_s"]),
        "load_and_search_times_faster": (other["load_s"] + other["search_s"], mine["load_s"] + mine["search_s"]),
        "question_times_faster": (other.get("command_s"), mine["mcp_s"]),
    }
    return {name: above / below for name, (above, below) in pairs.items() if above and below}


def main(arguments: Sequence[str]) -> None:
    """Compare, or say in one line why not."""
    parser = argparse.ArgumentParser(prog="python -m evals.bench.peer_archive")
    parser.add_argument("python", type=Path, nargs="?", default=Path())
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--turns", type=int, default=long_session.TURNS)
    parser.add_argument("--segments", type=int, default=long_session.SEGMENTS)
    parser.add_argument("--vectors-only", action="store_true")
    told = parser.parse_args(arguments)
    if not told.python.is_file():
        print("skipped: name the interpreter of an environment with anla-archive[speed,zstd] and numpy")
        return
    with tempfile.TemporaryDirectory() as scratch:
        sizes = (told.turns, told.segments)
        found = compare(told.python, told.folder, Path(scratch), sizes, vectors_only=told.vectors_only)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
