"""History on a made session: keeping, cutting, loading and searching it, and one whole question over MCP.

With `--peers DIR` the same is asked of `anla-archive` in this run (`evals.bench.peer_archive` compares more). Vectors
are random: ours has one for each sentence, the peer's one for each segment.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from evals.bench import long_session
from evals.bench.archives import Numbers, Ours, Theirs
from evals.bench.figure import Figure

QUICK = (300, 2800)
_MILLION = 1e6
_ASKED = "one question over MCP"
_TIMES = (
    ("keep", "capture_s", "capture_s", 0.0),
    ("cut", "segment_s", "segment_s", 0.0),
    ("load and search vectors", "found_s", "found_s", 0.1),
    (_ASKED, "mcp_s", "command_s", 0.0),
)
"""What is timed: its name, our key, the peer's, and the aim as a share of the peer's."""


def figures(scratch: Path, folder: Path | None, *, quick: bool) -> Iterator[Figure]:
    """Measure us, and the peer where it is there, on a made session of 6,500 turns (or a short one)."""
    turns, segments = QUICK if quick else (long_session.TURNS, long_session.SEGMENTS)
    path = scratch / "long.jsonl"
    long_session.write(path, turns, segments)
    mine = _ours(scratch, path)
    python = folder / "anla-archive" / "bin" / "python" if folder else None
    theirs = _theirs(python.absolute(), scratch, path, mine["segments"]) if python and python.is_file() else {}
    if not theirs:
        print("  anla-archive: skipped, no --peers DIR with an environment for it")
    what = f"{turns:,} turns, {mine['segments']:,} segments"
    yield _sized(what, mine, theirs)
    for name, key, other, share in _TIMES:
        ratio = mine[key] / theirs[other] if other in theirs else 0.0
        yield Figure(f"{name}, {what}", 1000 * mine[key], "ms", aim=100.0 if name == _ASKED else 0.0,
                     against="anla-archive" if ratio else "", ratio=ratio, aim_ratio=share if ratio else 0.0,
                     note=f"{mine['sentences']:,} vectors" if share else "")  # fmt: skip


def _sized(what: str, mine: Numbers, theirs: Numbers) -> Figure:
    ratio = mine["stored"] / theirs["stored"] if theirs else 0.0
    return Figure(f"archive, {what}", mine["stored"] / _MILLION, "MB", against="anla-archive" if ratio else "",
                  ratio=ratio, aim_ratio=1 / 3 if ratio else 0.0,
                  note=f"the file: {mine['bytes'] / _MILLION:.1f} MB")  # fmt: skip


def _ours(scratch: Path, path: Path) -> Numbers:
    archive = Ours(scratch / "ours")
    told = archive.capture(path)
    told["segments"], told["sentences"] = archive.fill(np.random.default_rng(0))
    told |= {**archive.search(), **archive.whole()}
    return {**told, "found_s": told["load_s"] + told["search_s"]}


def _theirs(python: Path, scratch: Path, path: Path, segments: int) -> Numbers:
    peer = Theirs(python, scratch / "theirs")
    told = peer.capture(path)
    told |= peer.searched(peer.folder / f"{path.stem}.anla", segments)
    told |= peer.whole(peer.folder / f"{path.stem}.anla")
    return {**told, "found_s": told["load_s"] + told["search_s"]}
