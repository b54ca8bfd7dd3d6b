"""A crowd on one repository: two servers on stdin and stdout, Git with our hooks, and command lines, killed at random.

Every answer is compared with the commit it names, and with HEAD before and after it was asked for.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evals.bench.project import POLICY, RECORDS, Project, losses, record
from seed.git.command import run_git
from seed.git.repository import open_repository
from sidecar.hooks.install import install

SERVERS, TYPISTS = 2, 2
PATIENCE_SECONDS, LONGEST_SECONDS = 60.0, 600.0
_LONGEST_LINE = 1 << 24
_EDITION = re.compile(r"edition(\d+)\b")
_SIDECAR = [sys.executable, "-P", "-m", "sidecar"]
_LINES = (["recall", "orders", "live", "in", "store", "-k", str(RECORDS), "--json"], ["seed", "--quiet"], ["gc"])
_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "crowd", "version": "1"}}
_ASK = {"name": "recall", "arguments": {"question": "orders live in store", "limit": RECORDS, "detail": "full"}}


@dataclass(slots=True)
class Crowd:
    """What is shared: the project, how many operations are left, what was done and killed, and what was wrong."""

    project: Project
    left: int
    chance: random.Random
    done: Counter[str] = field(default_factory=Counter)
    killed: Counter[str] = field(default_factory=Counter)
    editions: dict[str, int] = field(default_factory=dict)
    stale: int = 0
    wrong: list[str] = field(default_factory=list)

    def takes(self, what: str) -> bool:
        """Take one of the operations that are left."""
        self.left -= 1
        self.done[what] += self.left >= 0
        return self.left >= 0

    async def judge(self, who: str, answer: dict[str, Any], before: int) -> None:
        """Note what is wrong with an answer that was asked for when HEAD was edition ``before``."""
        commit, stale = answer["revision"]["commit"], answer["revision"]["stale"]
        self.project.acknowledged |= {answer["receipt"]["id"]} if answer["receipt"]["stored"] else set()
        texts = [result["passage"].get("text", "") for result in answer["results"]]
        found = {int(number) for text in texts for number in _EDITION.findall(text)}
        edition = await asyncio.to_thread(self.edition_of, commit)
        whole = len(texts) == RECORDS or "degraded" in answer
        self.stale += bool(stale)
        if not whole or found - {edition}:
            self.wrong.append(f"{who}: edition {edition} has {len(texts)} records of {sorted(found)}")
        elif not stale and not before <= edition <= self.project.edition + 1:
            self.wrong.append(f"{who}: edition {edition} passes for HEAD, which went from {before} on")

    def edition_of(self, commit: str) -> int:
        """Return the edition of a commit, from its own files."""
        if commit not in self.editions:
            text = run_git(["show", f"{commit}:knowledge/decision-0.yaml"], self.project.folder).stdout.decode()
            self.editions[commit] = int(_EDITION.findall(text)[0])
        return self.editions[commit]


def run(project: Project, operations: int, seed: int = 1) -> dict[str, Any]:
    """Let the crowd do so many operations. Returns what was done, killed and wrong, and what was lost in the end."""
    start = time.monotonic()
    run_git(["reset", "-q", "--hard"], project.folder)
    install(open_repository(project.folder))
    crowd = Crowd(project, operations, random.Random(seed))  # noqa: S311 - moments, no secret
    asyncio.run(_all(crowd))
    return {
        "operations": sum(crowd.done.values()),
        "done": dict(crowd.done),
        "killed": dict(crowd.killed),
        "stale": crowd.stale,
        "wrong": len(crowd.wrong),
        "first_wrong": crowd.wrong[:5],
        "lost": losses(project),
        "seconds": round(time.monotonic() - start, 1),
    }


async def _all(crowd: Crowd) -> None:
    people: list[Callable[[Crowd], Awaitable[None]]] = [_committer, *[_client] * SERVERS, *[_typist] * TYPISTS]
    try:
        await asyncio.wait_for(asyncio.gather(*(one(crowd) for one in people)), LONGEST_SECONDS)
    except TimeoutError:
        crowd.wrong.append(f"not done after {LONGEST_SECONDS:.0f} s, {crowd.left} operations are left")
    end = time.monotonic() + PATIENCE_SECONDS
    while _background(crowd.project.folder) and time.monotonic() < end:  # noqa: ASYNC110 - no event of ours
        await asyncio.sleep(0.2)


async def _committer(crowd: Crowd) -> None:
    """Commit the next edition as a user does, hooks and all, and now and then kill what the hook started."""
    project = crowd.project
    while crowd.takes("git commit"):
        files = {f"decision-{n}.yaml": record(n, project.edition + 1) for n in range(RECORDS)} | {"policy.yaml": POLICY}
        for name, data in files.items():
            (project.folder / "knowledge" / name).write_bytes(data)
        await asyncio.to_thread(run_git, ["add", "-A"], project.folder)
        await asyncio.to_thread(run_git, ["commit", "-q", "-m", f"Edition {project.edition + 1}"], project.folder)
        project.edition += 1
        await asyncio.sleep(crowd.chance.uniform(0.1, 1.0))
        for process in _background(project.folder) if crowd.chance.random() < 0.5 else ():  # noqa: PLR2004 - every other
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
                crowd.killed["what a hook started"] += 1


def _background(folder: Path) -> list[int]:
    """Return the processes that hooks of this project started and that still run."""
    mark = f"hooks\0run\0post-commit\0--repo\0{folder}/.git".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found += [int(path.parent.name)] if mark in path.read_bytes() else []
    return found


async def _typist(crowd: Crowd) -> None:
    """Run command lines, every other one killed at a random moment."""
    pipe, quiet = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    while crowd.takes("command line"):
        words, before = crowd.chance.choice(_LINES), crowd.project.edition
        command = [*_SIDECAR, *words, "--repo", str(crowd.project.folder)]
        process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=quiet)
        if crowd.chance.random() < 0.5:  # noqa: PLR2004 - every other
            await asyncio.sleep(crowd.chance.uniform(0.05, 1.5))
            crowd.killed["command line"] += _killed(process)
        out, _ = await process.communicate()
        if process.returncode == 0 and words[0] == "recall":
            answer = json.loads(out)
            await crowd.judge("command line", answer, before)
        elif process.returncode not in (0, -signal.SIGKILL):
            crowd.wrong.append(f"{' '.join(words[:1])} ended in {process.returncode}: {out!r:.200}")


async def _client(crowd: Crowd) -> None:
    """Ask a server of one's own; it is killed at a random moment now and then, and started again."""
    while crowd.left > 0:
        server = await _Server.start(crowd.project.folder)
        while crowd.takes("MCP call"):
            before, doomed = crowd.project.edition, crowd.chance.random() < 0.2  # noqa: PLR2004 - one in five
            asked = asyncio.create_task(server.request("tools/call", _ASK))
            if doomed:
                await asyncio.sleep(crowd.chance.uniform(0.0, 0.5))
                crowd.killed["server"] += _killed(server.process)
            try:
                reply = await asyncio.wait_for(asked, PATIENCE_SECONDS)
            except EOFError:
                break
            except TimeoutError:
                crowd.wrong.append("MCP call: no answer in time")
                break
            if "structuredContent" not in reply.get("result", {}):
                crowd.wrong.append(f"MCP call: {reply!r:.300}")
                continue
            answer = reply["result"]["structuredContent"]
            await crowd.judge("MCP call", answer, before)
        _killed(server.process)
        await server.process.wait()


@dataclass(slots=True)
class _Server:
    """A server on stdin and stdout, spoken to line by line: whatever is no message of the protocol raises."""

    process: asyncio.subprocess.Process
    number: int = 0

    @classmethod
    async def start(cls, folder: Path) -> _Server:
        pipe = asyncio.subprocess.PIPE
        command = [*_SIDECAR, "serve", "--repo", str(folder)]
        quiet = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, stderr=quiet, limit=_LONGEST_LINE
        )
        server = cls(process)
        await server.request("initialize", _HELLO)
        server.send({"method": "notifications/initialized"})
        return server

    def send(self, message: dict[str, Any]) -> None:
        if self.process.stdin is not None:
            self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def request(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the reply. Raises EOFError when the server is gone."""
        self.number += 1
        self.send({"id": self.number, "method": method, "params": parameters})
        while self.process.stdout is not None and (line := await self.process.stdout.readline()):
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == self.number:
                return message
        raise EOFError


def _killed(process: asyncio.subprocess.Process) -> bool:
    """Kill a process with signal 9 and tell whether it still ran; its own `kill` would take its exit code away."""
    if process.returncode is not None:
        return False
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
    return True
