"""The two archives that `evals.bench.peer_archive` compares, each driven as a user drives it."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.bench import segments
from seed.errors import StoreError
from seed.transcript.segments import DEFAULT
from sidecar import library, sentence_rows
from sidecar.address import Addresser
from sidecar.history import open_history
from sidecar.provider import Provider
from sidecar.segment_codes import CodedSegments
from sidecar.segment_rank import SegmentPlane, best, plane

SCHEME = DEFAULT
THEIR_SCHEME = f"{SCHEME}-v1"
QUESTION = "where did we speak of the broken migration of the orders table?"
ROUNDS = 7
DIMENSION = 384
_BLOCK, _FOUND = 20_000, 5
_HELPER = Path(__file__).with_name("peer_archive_helper.py")
Numbers = dict[str, Any]


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class Ours:
    """The sidecar over one scratch repository, driven as a user drives it."""

    def __init__(self, folder: Path) -> None:
        self.repo, self.environment = folder / "repo", {**os.environ, "SIDECAR_HOME": str(folder / "home")}
        os.environ["SIDECAR_HOME"] = self.environment["SIDECAR_HOME"]
        self.repo.mkdir(parents=True)
        git = ["git", "-C", str(self.repo), "-c", "user.name=b", "-c", "user.email=b@localhost"]
        subprocess.run([*git, "init", "-q"], check=True)  # noqa: S603 - no input of others
        (self.repo / "knowledge").mkdir()
        (self.repo / "knowledge" / "policy.yaml").write_text("format: 1\n")
        subprocess.run([*git, "add", "."], check=True)  # noqa: S603
        subprocess.run([*git, "commit", "-qm", "Start"], check=True)  # noqa: S603

    def run(self, *arguments: str) -> dict[str, Any]:
        """Run one command and return what it says."""
        command = [sys.executable, "-m", "sidecar", "transcript", *arguments, "--json", "--repo", str(self.repo)]
        done = subprocess.run(command, env=self.environment, capture_output=True, check=True)  # noqa: S603
        return dict(json.loads(done.stdout))

    def capture(self, path: Path) -> Numbers:
        """Keep and cut one session."""
        start = time.perf_counter()
        (kept,) = self.run("capture", str(path))["captured"]
        middle = time.perf_counter()
        cut = self.run("segment", kept["id"], "--scheme", SCHEME)
        end = time.perf_counter()
        return {
            "bytes": kept["bytes"],
            "stored": kept["stored_bytes"],
            "segments": cut.get("segments", 0),
            "capture_s": middle - start,
            "segment_s": end - middle,
        }

    def fill(self, random: np.random.Generator) -> tuple[int, int]:
        """Give every sentence a random vector; return (segments, sentences that differ)."""
        with closing(Provider(self.repo)) as provider:
            opened = library.open_library(open_history(self.repo), SCHEME)
            session = provider.session
            embedder = library.Projected(session.embedders(session.policy(session.wanted()))[0], SCHEME)
            session.store.register(embedder.identity)
            shas = list(dict.fromkeys(library.listed(opened.names)))
            for at in range(0, len(shas), _BLOCK):
                block = unit(random, len(shas[at : at + _BLOCK]))
                with session.store.exclusive(60):
                    session.store.add_vectors(embedder.identity, dict(zip(shas[at : at + _BLOCK], block, strict=True)))
            return len(opened), len(shas)

    def search(self) -> Numbers:
        """Time loading what a search needs of the vectors, the first time and the next, and a search."""
        question = unit(np.random.default_rng(1), 1)[0]
        history = open_history(self.repo)
        with closing(Provider(self.repo)) as provider:
            session = provider.session
            opened = library.open_library(history, SCHEME)
            embedder = library.Projected(session.embedders(session.policy(session.wanted()))[0], SCHEME)

            asker = Addresser(provider)

            def load() -> tuple[SegmentPlane, CodedSegments | None]:
                matrix = session.store.matrix(embedder.identity)
                held, left = sentence_rows.seeded(history.indexes, session.store, opened, embedder, 0.0)
                if matrix is None or left:
                    raise StoreError(f"there are not all vectors: {left}", "fill them first")
                exact = plane(matrix, held, opened.counts, opened.breaks)
                return exact, asker._coded(exact, embedder)  # noqa: SLF001 - what a question does, without its words

            first, again, (exact, coded) = timed(load), [timed(load) for _ in range(ROUNDS)], load()
            nothing = np.zeros(len(opened))

            def search() -> object:
                found = (
                    coded.evidence(question, nothing, 1.0, _FOUND)
                    if coded
                    else exact.nearness(question[np.newaxis])[:, 0]
                )
                return best(found, opened.said, _FOUND)

            rounds = [timed(search) for _ in range(ROUNDS)]
        return {"first_load_s": first, "load_s": statistics.median(again), "search_s": statistics.median(rounds)}

    def whole(self) -> Numbers:
        """Time one whole question: over MCP the first and the following ones, and by a command of its own."""
        rounds = asyncio.run(self._asked())
        cold = timed(lambda: self.run("address", QUESTION))
        return {"mcp_first_s": rounds[0], "mcp_s": statistics.median(rounds[2:]), "command_s": cold}

    async def _asked(self) -> list[float]:
        from mcp import Client, StdioServerParameters

        arguments = ["-m", "sidecar", "serve", "--profile", "history", "--repo", str(self.repo)]
        server = StdioServerParameters(command=sys.executable, args=arguments, env=self.environment)
        found = []
        async with Client(server, read_timeout_seconds=600) as client:
            for n in range(ROUNDS + 2):
                start = time.perf_counter()
                told = await client.call_tool("context_address", {"question": f"{QUESTION} {n}"})
                found.append(time.perf_counter() - start)
                if told.is_error:
                    raise StoreError(str(told.content), "see what the server says")
        return found


class Theirs:
    """The peer, by its own commands and functions, in its own interpreter."""

    def __init__(self, python: Path, folder: Path) -> None:
        self.python, self.folder = python, folder
        folder.mkdir(parents=True)

    def run(self, *arguments: str) -> dict[str, Any]:
        """Run one of its commands."""
        command = [str(self.python), "-m", "anla1.cli", "context", *arguments, "--json"]
        done = subprocess.run(command, capture_output=True, check=True)  # noqa: S603 - as above
        return dict(json.loads(done.stdout))

    def helper(self, *arguments: str) -> Any:  # noqa: ANN401 - JSON
        """Call its functions, in its interpreter."""
        command = [str(self.python), str(_HELPER), THEIR_SCHEME, *arguments]
        return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)  # noqa: S603

    def capture(self, path: Path) -> Numbers:
        """Keep and cut one session."""
        archive = self.folder / f"{path.stem}.anla"
        start = time.perf_counter()
        kept = self.run("capture", str(archive), "--transcript", str(path))
        middle = time.perf_counter()
        cut = self.run("segment", str(archive), "--scheme", THEIR_SCHEME)
        end = time.perf_counter()
        return {
            "bytes": kept["transcript_bytes"],
            "stored": kept["archive_bytes"],
            "segments": cut["segments"],
            "capture_s": middle - start,
            "segment_s": end - middle,
        }

    def searched(self, archive: Path, count: int) -> Numbers:
        """Time loading and searching random vectors of all its segments, or of ``count`` where it has cut none."""
        told: Numbers = self.helper("fill", str(archive), str(ROUNDS), str(count))
        return told

    def whole(self, archive: Path) -> Numbers:
        """Time one whole question, by the vectors that were searched."""
        vector = archive.with_suffix(".json")
        vector.write_text(json.dumps(unit(np.random.default_rng(1), 1)[0].tolist()))
        asked = ["address", str(archive), QUESTION, "--query-vector", str(vector), "--scheme", THEIR_SCHEME]
        return {"command_s": timed(lambda: self.run(*asked))}

    def quality(self, name: str, embedder: segments.Remembering) -> Numbers:
        """Ask a labelled set's questions of its segments with our model, by its own search."""
        asked, fillers = segments.topics(name)
        found = []
        for seed in segments.ARRANGEMENTS:
            path = self.folder / f"{name}-{seed}.jsonl"
            path.write_bytes(b"".join(line + b"\n" for line in segments.turns(asked, fillers, seed)))
            self.capture(path)
            archive = str(path.with_suffix(".anla"))
            texts = self.helper("texts", archive)
            given = path.with_suffix(".vectors")
            questions = [embedder.question(one.question)[0].tolist() for one in asked]
            given.write_text(json.dumps({"texts": embedder.vectors(texts).tolist(), "questions": questions}))
            found += self.helper("ranks", archive, str(given), json.dumps([one.anchor for one in asked]))
        return scores(found)


def unit(random: np.random.Generator, count: int) -> NDArray[np.float32]:
    """Return random unit vectors (count, 384)."""
    made = random.standard_normal((count, DIMENSION)).astype(np.float32)
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


def scores(ranks: Sequence[int]) -> Numbers:
    """Return R@1, R@5 and MRR."""
    count = len(ranks)
    return {
        "R@1": sum(rank == 1 for rank in ranks) / count,
        "R@5": sum(rank <= 5 for rank in ranks) / count,  # noqa: PLR2004 - R@5
        "MRR": sum(1 / rank for rank in ranks) / count,
    }
