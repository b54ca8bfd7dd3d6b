"""How soon the server answers with nothing seeded: python -m evals.bench.start [RECORDS] (20000 by default).

Starts the server on an empty store beside that many records, and beside none, in turns; `initialize` and the first
call of recall are timed. Wall time, and the processor time of the server alone, which load on the machine leaves be.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from evals.bench.hooks import RECORD
from seed.git.command import run_git
from seed.git.repository import open_repository
from seed.store.lock import holder
from seed.store.paths import store_folder

ROUNDS = 5
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
QUESTION = {"name": "recall", "arguments": {"question": "Which reason does the choice have?"}}


def main() -> None:
    """Measure, and print one line for each repository."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        sides = {f"{count} records": _repository(Path(folder) / str(count), count) for count in (0, size)}
        rounds: dict[str, list[tuple[float, float, float, str]]] = {name: [] for name in sides}
        for number in range(ROUNDS):
            for name, repository in sides.items():
                rounds[name].append(_start(repository, f"{folder}/home-{number}-{name[0]}"))
    for name, found in rounds.items():
        wall, processor, call = (statistics.median(times) for times in list(zip(*found, strict=True))[:3])
        print(f"{name}: initialize {wall:.2f} s ({processor:.2f} s of processor), first call {call:.2f} s")
        print(f"  {found[-1][3]}")


def _repository(folder: Path, size: int) -> Path:
    (folder / "knowledge").mkdir(parents=True)
    for number in range(size):
        (folder / "knowledge" / f"decision-{number:05}.yaml").write_text(RECORD.format(number))
    for arguments in (["init", "-q"], ["config", "user.name", "Bench"], ["config", "user.email", "bench@localhost"],
                      ["add", "-A"], ["commit", "-q", "--allow-empty", "-m", "records"]):  # fmt: skip
        run_git(arguments, folder)
    return folder


def _start(repository: Path, home: str) -> tuple[float, float, float, str]:
    """Return seconds to `initialize`, of them the server's processor time, seconds of a call, and what it said."""
    os.environ["SIDECAR_HOME"] = home
    start = time.perf_counter()
    command = [sys.executable, "-P", "-m", "sidecar", "serve", "--repo", str(repository)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - our own command
    _ask(process, 1, "initialize", HELLO)
    wall, processor = time.perf_counter() - start, _processor(process.pid)
    start = time.perf_counter()
    reply = _ask(process, 2, "tools/call", QUESTION)
    call = time.perf_counter() - start
    process.kill()
    process.wait()
    opened = open_repository(repository)
    seeding = holder(store_folder(opened.name, opened.common) / "seeding.lock")
    if seeding.isdigit():
        os.kill(int(seeding), signal.SIGKILL)
    return wall, processor, call, reply["result"]["content"][0]["text"].split("\n")[-1]


def _ask(process: subprocess.Popen[bytes], ident: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    assert process.stdin  # noqa: S101 - both are pipes
    assert process.stdout  # noqa: S101
    message = {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    found: dict[str, Any] = json.loads(process.stdout.readline())
    return found


def _processor(pid: int) -> float:
    """Return the seconds of processor time a process has used; NaN where the system does not show them."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
