"""Soak the store: kill -9 at random writes, damage, a crowd, and load.

python -m evals.bench.soak [--kills N] [--seconds N] [--crowd N] [--load SECONDS] is one run, bounded in time.

Writes evals/results/reliability.json, from which `python -m evals.bench.reliability` makes docs/reliability.md.
Every record of the made project bears the edition of its commit, so that an answer that mixes two is seen.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import random
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from evals.bench.faults import Outcome, forked
from evals.bench.project import Project, ask, losses, made
from seed.transcript.capture import Options
from sidecar import history
from sidecar.backup import backup, restore
from sidecar.collect import collect

RESULTS = Path("evals/results/reliability.json")
_WORK = ("ask",) * 7 + ("gc", "capture", "restore")


@dataclass(slots=True)
class Tally:
    """What was tried and what was lost, by kind of fault."""

    tries: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    what: list[str] = field(default_factory=list)

    def count(self, kind: str, losses: list[str]) -> None:
        """Count one try and what it cost."""
        self.tries[kind] += 1
        if losses:
            self.lost[kind] += 1
            self.what.append(f"{kind}: {losses[0]}")

    def add(self, other: Tally) -> None:
        """Add what another process counted."""
        self.tries.update(other.tries)
        self.lost.update(other.lost)
        self.what += other.what


def work_of(name: str, project: Project, number: int) -> Any:  # noqa: ANN401 - JSON of any of them
    """Do one piece of work, in the process that is to be struck."""
    base = project.folder.parent
    if name == "gc":
        return collect(project.folder)
    if name == "capture":
        path = base / "session.jsonl"
        path.write_text("".join(json.dumps({"role": "user", "content": f"turn {n}"}) + "\n" for n in range(number + 1)))
        history.capture(history.open_history(project.folder), path, "2026-01-01T00:00:00Z", Options())
        return {}
    if name == "restore":
        backup(project.folder, base / "backup.zip")
        return restore(project.folder, base / "backup.zip")
    return ask(project.folder)


def kills(project: Project, count: int, seconds: float, chance: random.Random, tally: Tally) -> int:
    """Strike up to ``count`` processes at random writes within ``seconds``, and look for losses after each.

    Returns how many were struck.
    """
    usual: dict[str, int] = {}
    struck = number = 0
    end = time.monotonic() + seconds
    while struck < count and time.monotonic() < end:
        name = chance.choice(_WORK)
        project.commit()
        number += 1
        at = chance.randint(1, usual[name]) if name in usual else 0
        done: Outcome = forked(partial(work_of, name, project, number), at)
        usual[name] = max(usual.get(name, 0), done.writes if not done.struck else 0) or usual.get(name, 1)
        if isinstance(done.returned, dict) and done.returned.get("receipt"):
            project.acknowledged.add(done.returned["receipt"])
        after = forked(lambda: losses(project))
        found = after.returned if isinstance(after.returned, list) else [str(after.returned)]
        if done.struck:
            struck += 1
            tally.count(f"kill -9 during {name}, at {done.struck}", found)
        elif found or (isinstance(done.returned, dict) and done.returned.get("error")):
            tally.count(f"no fault, {name}", [*found, str(done.returned)])
    return struck


def lane(base: Path, count: int, seconds: float, repeats: int, seed: int) -> tuple[int, Tally]:
    """Kill and damage in one process: up to ``count`` kills, then every kind of damage ``repeats`` times."""
    from evals.bench import damage

    tally = Tally()
    struck = kills(made(base / "kills"), count, seconds, random.Random(seed), tally)  # noqa: S311 - as above
    for number in range(repeats):
        damage.every(base / f"damage{number}", tally)
    return struck, tally


def lanes(base: Path, asked: argparse.Namespace, tally: Tally) -> int:
    """Share kills and damage among the cores, add to the tally, and return the number of kills."""
    count = os.cpu_count() or 1
    each, repeats = -(-asked.kills // count), -(-asked.repeats // count)
    with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("fork")) as pool:
        shares = [pool.submit(lane, base / str(n), each, asked.seconds, repeats, asked.seed + n) for n in range(count)]
        done = [share.result() for share in shares]
    for _, part in done:
        tally.add(part)
    return sum(struck for struck, _ in done)


def main() -> int:
    """Run the parts that were asked for and write the results. Returns 1 when anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1100)
    parser.add_argument("--seconds", type=float, default=300.0, help="the longest that the kills may take")
    parser.add_argument("--repeats", type=int, default=4, help="of each kind of damage")
    parser.add_argument("--crowd", type=int, default=200, metavar="OPERATIONS")
    parser.add_argument("--load", type=float, default=60.0, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=RESULTS)
    asked = parser.parse_args()
    from evals.bench import crowd, load

    tally, start = Tally(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sidecar-soak-") as base:
        struck = lanes(Path(base), asked, tally)
        print(f"{struck} kills in {time.monotonic() - start:.0f} s, {sum(tally.lost.values())} with a loss", flush=True)
        crowded = crowd.run(made(Path(base) / "crowd"), asked.crowd, asked.seed) if asked.crowd else {}
        loaded = load.run(made(Path(base) / "load"), asked.load) if asked.load else {}
    result = {
        "format": 1,
        "machine": {"system": platform.system(), "python": sys.version.split()[0], "cores": os.cpu_count()},
        "seconds": round(time.monotonic() - start, 1),
        "kinds": [{"kind": k, "tries": n, "lost": tally.lost[k]} for k, n in sorted(tally.tries.items())],
        "losses": tally.what[:50],
        "kills": struck,
        "crowd": crowded,
        "load": loaded,
    }
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    asked.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(
        f"{len(tally.tries)} kinds, {sum(tally.tries.values())} tries, {sum(tally.lost.values())} lost; {asked.output}"
    )
    print("\n".join(tally.what[:10]))
    bad = tally.what or loaded.get("wrong") or crowded.get("wrong") or crowded.get("lost")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
