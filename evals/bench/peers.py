"""Other memories, each in an environment of its own, on the same made-up records: writing, asking, memory.

`--peers DIR` names a folder with one environment for each: DIR/<package>/bin/python (docs/scale.md says how). What is
not there is skipped with a line. All are asked through their own server on pipes, by words alone: none gets a model.
"""

from __future__ import annotations

import itertools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from evals.bench import made
from evals.bench.figure import Figure, figure, milliseconds
from evals.bench.rpc import Rpc

SIZES, QUICK = (1000, 10_000), (200,)
_SECONDS = 90.0
_QUESTIONS = 40
Write = Callable[[int, str, str], None]


def figures(scratch: Path, folder: Path | None, *, quick: bool) -> Iterator[Figure]:
    """Measure us and each peer that is there, in this run."""
    if folder is None:
        print("  peers: skipped, no --peers DIR")
        return
    for records in QUICK if quick else SIZES:
        yield from _ours(_made(scratch / f"ours-{records}"), records)
        for name, measure in (("memory-arbiter-mcp", _arbiter), ("vouch-kb", _vouch)):
            yield from _peer(folder, name, measure, _made(scratch / f"{name}-{records}"), records)
    yield from _peer(folder, "anla-archive", _anla, _made(scratch / "anla"), 5000 if quick else 61_458)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _peer(
    folder: Path, name: str, measure: Callable[[Path, Path, int], Iterator[Figure]], scratch: Path, records: int
) -> Iterator[Figure]:
    commands = (folder / name / "bin").absolute()
    if not commands.is_dir():
        print(f"  {name}: skipped, {folder / name} is no environment")
        return
    try:
        yield from measure(commands, scratch, records)
    except (RuntimeError, OSError, ValueError, subprocess.SubprocessError) as exc:
        print(f"  {name}, {records:,} records: gave up: {str(exc)[:200]}")


def _texts(records: int) -> Iterator[tuple[str, str]]:
    """Yield (title, body) of each record."""
    for _, text in made.records(records):
        yield text.split("title: ")[1].split("\n")[0], text.split("body: |\n")[1].strip()


def _questions(records: int) -> list[str]:
    titles = [title for title, _ in itertools.islice(_texts(records), _QUESTIONS)]
    return [" ".join(title.split()[:5]) for title in titles]


def _written(write: Write, records: int) -> tuple[float, int]:
    """Return (milliseconds for one record, how many were written within the time that a peer has)."""
    start, done = time.perf_counter(), 0
    for done, (title, body) in enumerate(_texts(records), 1):
        write(done, title, body)
        if time.perf_counter() - start > _SECONDS:
            break
    return (time.perf_counter() - start) * 1000 / done, done


def _told(
    name: str, records: int, done: int, each: float, asked: Callable[[str], str], server: Rpc, note: str = ""
) -> Iterator[Figure]:
    what = f"{name}, {records:,} records"
    short = f"gave up after {_SECONDS:g} s at {done:,} records" if done < records else ""
    yield figure(f"{what}: write one", [each], note="; ".join(filter(None, (note, short))))
    questions = _questions(records)
    asked(questions[0])
    answers: list[str] = []
    spent = [milliseconds(lambda text=text: answers.append(asked(text))) for text in questions]  # type: ignore[misc]
    found = statistics.mean(
        question.split()[0].casefold() in text.casefold() for question, text in zip(questions, answers, strict=True)
    )
    yield figure(f"{what}: ask", spent, note=f"answers that hold the question's first word: {found:.0%}"
                 + (f"; over {done:,} records" if short else ""))  # fmt: skip
    yield figure(f"{what}: memory of the server", [server.megabytes], "MB")


def _ours(scratch: Path, records: int) -> Iterator[Figure]:
    repo = made.repository(scratch / "repository", 0)
    made.commit(repo, {"knowledge/policy.yaml": "format: 1\nretrieval: {fusion: lexical}\n"})
    start = time.perf_counter()
    made.commit(repo, dict(made.records(records)))
    command = [sys.executable, "-P", "-m", "sidecar", "seed", "--quiet", "--repo", str(repo)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - ourselves
    each = (time.perf_counter() - start) * 1000 / records
    made.git(repo, "reset", "-q", "--hard")
    server = Rpc([sys.executable, "-P", "-m", "sidecar", "serve", "--repo", str(repo)], scratch)
    note = "one commit of all, seeded; by words alone, as the peers"
    yield from _told("sidecar", records, records, each, lambda q: server.tool("recall", {"question": q}), server, note)
    server.close()


def _arbiter(commands: Path, scratch: Path, records: int) -> Iterator[Figure]:
    home = {"HOME": str(scratch), "MEMORY_ARBITER_CLIENT": "bench", "MEMORY_ARBITER_AGENT_ID": "bench"}
    server = Rpc([str(commands / "memory-arbiter-mcp")], scratch, home)

    def write(_number: int, title: str, body: str) -> None:
        data = {"workspace": "bench", "content": f"{title}\n\n{body}", "subject": title}
        told = json.loads(server.tool("memory", {"action": "remember", "data": data}))
        if not told.get("ok"):
            raise RuntimeError(str(told)[:200])

    def ask(question: str) -> str:
        return server.tool("memory", {"action": "find", "data": {"query": question, "limit": 5}})

    each, done = _written(write, records)
    yield from _told("memory-arbiter-mcp", records, done, each, ask, server, "one call each")
    server.close()


def _vouch(commands: Path, scratch: Path, records: int) -> Iterator[Figure]:
    vouch = str(commands / "vouch")
    made.git(scratch, "init", "-q")
    (scratch / "source.txt").write_text("where the made-up records come from\n")

    def run(*words: str) -> str:
        command = [vouch, *words]
        done = subprocess.run(command, cwd=scratch, check=True, capture_output=True, timeout=_SECONDS)  # noqa: S603 - a peer
        return done.stdout.decode()

    run("init")
    source = run("source", "add", "source.txt").split()[-1]
    server = Rpc([vouch, "serve"], scratch, {"HOME": str(scratch)})
    proposed: list[str] = []
    start = time.perf_counter()

    def write(_number: int, title: str, body: str) -> None:
        told = json.loads(server.tool("kb_propose_claim", {"text": f"{title}. {body}"[:1500], "evidence": [source]}))
        proposed.append(str(told.get("proposal_id") or told.get("id")))

    each, done = _written(write, records)
    for first in range(0, len(proposed), 200):
        if time.perf_counter() - start > 2 * _SECONDS:
            done = first
            break
        run("approve", *proposed[first : first + 200])
    each = (time.perf_counter() - start) * 1000 / max(done, 1)
    note = "proposed one by one, approved by the command"

    def ask(question: str) -> str:
        return server.tool("kb_search", {"query": question, "limit": 5})

    yield from _told("vouch-kb", records, done, each, ask, server, note)
    server.close()


_ANLA = """
import json, sys, time, numpy, pathlib
from anla1 import vectors
path, raw, rows, width = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
data = numpy.fromfile(raw, dtype='<f4').reshape(rows, width)
vectors.write_vectors(pathlib.Path(path), ((str(n), data[n]) for n in range(rows)), {'model': 'bench'})
start = time.perf_counter(); opened = vectors.read_vectors(pathlib.Path(path)); load = time.perf_counter() - start
question = data[7].tolist(); opened.search(question); spent = []
for _ in range(7):
    start = time.perf_counter(); opened.search(question); spent.append((time.perf_counter() - start) * 1000)
print(json.dumps({'load': load * 1000, 'search': spent}))
"""


def _anla(commands: Path, scratch: Path, rows: int) -> Iterator[Figure]:
    """Load and search the same vectors; ours are a memory map and one product, by the plane that recall uses."""
    from sidecar.plane import plane, starts_of, summed

    width, raw = 768, scratch / "vectors.f32"
    matrix = made.matrix(raw, rows, width)
    command = [str(commands / "python"), "-c", _ANLA, str(scratch / "vectors.anla"), str(raw), str(rows), str(width)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=240)  # noqa: S603 - what is measured
    if done.returncode:
        raise RuntimeError(done.stderr.strip().split("\n")[-1])
    told = json.loads(done.stdout)
    numbers, of, centre = np.arange(rows, dtype=np.int32), np.arange(rows, dtype=np.uint32), np.zeros(width, np.float32)
    sums = summed(matrix, numbers, starts_of(of), centre)
    question = np.asarray(matrix[7])

    def opened() -> object:
        return plane("bench", np.memmap(raw, dtype="<f4", mode="r", shape=(rows, width)), numbers, of, sums)

    ready = plane("bench", matrix, numbers, of, sums)
    what = f"{rows:,} x {width}"
    load = [milliseconds(opened) for _ in range(7)]
    search = [milliseconds(lambda: ready.nearness(question)) for _ in range(7)]
    yield figure(f"anla-archive, {what}: load", [told["load"]])
    yield figure(f"sidecar, {what}: load", load, of="anla-archive", ratio=statistics.median(load) / told["load"])
    yield figure(f"anla-archive, {what}: search", told["search"])
    yield figure(f"sidecar, {what}: search", search, of="anla-archive",
                 ratio=statistics.median(search) / statistics.median(told["search"]))  # fmt: skip
