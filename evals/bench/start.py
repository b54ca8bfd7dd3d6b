"""How soon the server answers with nothing seeded: python -m evals.bench --only start.

Starts the server on an empty store beside that many records, and beside none, in turns; `initialize` and the first
call of recall are timed. Wall time; the note says the server's processor time, which load on the machine leaves be.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evals.bench.figure import Figure, figure
from evals.bench.hooks import RECORD
from seed.git.command import run_git
from seed.git.repository import open_repository
from seed.store.lock import holder
from seed.store.paths import store_folder

ROUNDS = 5
_PATIENCE, _PAUSE = 30.0, 0.05
RECORDS, QUICK = 20_000, 1000
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
QUESTION = {"name": "recall", "arguments": {"question": "Which reason does the choice have?"}}


def figures(scratch: Path, *, quick: bool) -> Iterator[Figure]:
    """Measure a start beside many records with nothing seeded, against one beside none."""
    size = QUICK if quick else RECORDS
    sides = [_repository(scratch / str(count), count) for count in (size, 0)]
    rounds = [[_start(side, str(scratch / f"home-{n}-{at}")) for at, side in enumerate(sides)] for n in range(ROUNDS)]
    many, none = zip(*rounds, strict=True)
    what = f"{size:,} records and nothing seeded"
    for name, at in ((f"serve to initialize, {what}", 0), (f"first call after it, {what}", 2)):
        times = [1000 * one[at] for one in many]
        ratio = statistics.median(one[at] / other[at] for one, other in zip(many, none, strict=True))
        said = f"{statistics.median(one[1] for one in many):.2f} s of processor" if at == 0 else many[-1][3]
        yield figure(name, times, aim=0 if at else 2000, of="beside no record", ratio=ratio, note=said)


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
    said: str = reply["result"]["content"][0]["text"].split("\n")[-1]
    if "in the background" in said:
        _stop_seeding(repository)
    return wall, processor, call, said


def _stop_seeding(repository: Path) -> None:
    """End what the server began, which would disturb every figure after this; it takes its lock once it has started."""
    opened, end = open_repository(repository), time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        seeding = holder(store_folder(opened.name, opened.common) / "seeding.lock")
        if seeding.isdigit():
            os.kill(int(seeding), signal.SIGKILL)
            return
        time.sleep(_PAUSE)
    raise AssertionError("the seeding that the server announced did not begin")


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
