"""Load: two servers and eight clients on one repository that moves on, while seeding processes are killed."""

from __future__ import annotations

import asyncio
import random
import re
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evals.bench.figure import Figure
from evals.bench.project import RECORDS, Project, made

SERVERS, CLIENTS = 2, 8
_SECONDS, _QUICK = 30.0, 6.0
_COMMIT_SECONDS, _KILL_SECONDS = 1.0, 3.0
_EDITION = re.compile(r"edition(\d+)\b")
_QUESTION = {"question": "orders live in store", "limit": RECORDS}


@dataclass(slots=True)
class Seen:
    """What the clients saw: seconds of each answer, how many were stale, and what was wrong."""

    seconds: list[float] = field(default_factory=list)
    stale: int = 0
    wrong: list[str] = field(default_factory=list)


def figures(scratch: Path, *, quick: bool) -> Iterator[Figure]:
    """Measure answers over HTTP from two servers to eight clients while HEAD moves on and seeders are killed."""
    seconds = _QUICK if quick else _SECONDS
    told = run(made(scratch), seconds)
    moving = f"{told['editions']} commits and {told['killed']} killed seeders in {seconds:g} s"
    checked = f"{told['wrong']} of {told['answers']} answers wrong; {moving}"
    yield Figure("an answer under load, median", told["p50_ms"] or 0.0, "ms", repeats=told["answers"], note=checked)
    yield Figure("an answer under load, 99th percentile", told["p99_ms"] or 0.0, "ms", repeats=told["answers"])
    yield Figure("answers under load", told["per_second"], "a second")


def run(project: Project, seconds: float) -> dict[str, Any]:
    """Ask for so many seconds. Returns throughput, latency in milliseconds, and how many answers were wrong."""
    with _server(project.folder) as one, _server(project.folder) as other:
        seen, kills = asyncio.run(_all(project, (one, other), seconds))
    times = sorted(seen.seconds)
    return {
        "servers": SERVERS,
        "clients": CLIENTS,
        "seconds": seconds,
        "answers": len(times),
        "editions": project.edition,
        "killed": kills,
        "stale": seen.stale,
        "wrong": len(seen.wrong),
        "first_wrong": seen.wrong[:3],
        "per_second": round(len(times) / seconds, 1),
        "p50_ms": round(1000 * statistics.median(times), 1) if times else None,
        "p99_ms": round(1000 * times[int(len(times) * 0.99)], 1) if times else None,
    }


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    command = [
        sys.executable,
        "-P",
        "-m",
        "sidecar",
        "serve",
        "--http",
        "--port",
        "0",
        "--rate-limit",
        "0",
        "--repo",
        str(folder),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)  # noqa: S603 - ours
    try:
        line = process.stderr.readline() if process.stderr else ""
        yield line.removeprefix("serving ").strip()
    finally:
        process.terminate()
        process.wait(10)


async def _all(project: Project, urls: tuple[str, ...], seconds: float) -> tuple[Seen, int]:
    """Let the time begin when every client has had its first answer: how long a server takes to start is no load."""
    seen, editions = Seen(), {await asyncio.to_thread(_head, project): project.edition}
    ready = asyncio.Barrier(CLIENTS + 2)
    clients = [_client(urls[n % len(urls)], seen, editions, ready, seconds) for n in range(CLIENTS)]
    others = _committer(project, editions, ready, seconds), _killer(project, ready, seconds)
    results = await asyncio.gather(*others, *clients)
    return seen, int(results[1] or 0)


def _head(project: Project) -> str:
    return str(project.repo.git.head.target)[:12]


async def _committer(project: Project, editions: dict[str, int], ready: asyncio.Barrier, seconds: float) -> None:
    """Move HEAD on; the commit is known to the clients before any of them can be answered from it."""
    end = await _begun(ready, seconds)
    while time.monotonic() < end - _COMMIT_SECONDS:
        commit = await asyncio.to_thread(project.commit)
        editions[commit[:12]] = project.edition
        await asyncio.sleep(_COMMIT_SECONDS)


async def _begun(ready: asyncio.Barrier, seconds: float) -> float:
    """Wait for all others, and return the moment at which the time is over."""
    await ready.wait()
    return time.monotonic() + seconds


async def _killer(project: Project, ready: asyncio.Barrier, seconds: float) -> int:
    """Start a seeding process as a hook would, and kill it at a random moment."""
    end = await _begun(ready, seconds)
    killed = 0
    chance = random.Random(1)  # noqa: S311 - moments, no secret
    command = [sys.executable, "-P", "-m", "sidecar", "seed", "--quiet", "--repo", str(project.folder)]
    while time.monotonic() < end - _KILL_SECONDS:
        process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL)
        await asyncio.sleep(chance.uniform(0.2, 1.5))
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        await process.wait()
        await asyncio.sleep(_KILL_SECONDS)
    return killed


async def _client(url: str, seen: Seen, editions: dict[str, int], ready: asyncio.Barrier, seconds: float) -> None:
    from mcp import Client

    async with Client(url, read_timeout_seconds=60) as client:
        first = await client.call_tool("recall", _QUESTION)
        seen.wrong += filter(None, [await _judged(first, editions, seen)])
        end = await _begun(ready, seconds)
        while time.monotonic() < end:
            start = time.monotonic()
            called = await client.call_tool("recall", _QUESTION)
            seen.seconds.append(time.monotonic() - start)
            await asyncio.sleep(0)  # a commit that finished meanwhile is told before it is looked up
            if problem := await _judged(called, editions, seen):
                seen.wrong.append(problem)


async def _judged(called: Any, editions: dict[str, int], seen: Seen) -> str:  # noqa: ANN401 - the SDK's result
    """Return what is wrong with an answer: an error, a record missing, two editions in one, or not its commit's."""
    answer = called.structured_content
    if called.is_error or answer is None:
        return str(called.content)[:300]
    found = {number for result in answer["results"] for number in _EDITION.findall(result.get("passage", ""))}
    commit = answer["revision"]["commit"]
    for _ in range(100):
        if commit in editions:
            break
        await asyncio.sleep(0.01)
    seen.stale += bool(answer["revision"]["stale"])
    whole = len(answer["results"]) == RECORDS or "degraded" in answer  # what its budget left out is said
    if not whole or not found <= {str(editions.get(commit))}:
        return f"{commit} is edition {editions.get(commit)}; {len(answer['results'])} records are of {sorted(found)}"
    return ""
