"""What the hooks add to ``git commit``: python -m evals.bench.hooks [RECORDS]... (141 and 10000 by default).

Commits with and without hooks take turns in one repository, so that load on the machine falls on both alike. Each
waits for the background work of the one before. Figures are milliseconds of wall time: median and 95th percentile, and
the processor's time of what a commit waits for, which a busy machine changes less.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from seed.git.command import run_git
from seed.git.repository import open_repository
from seed.store.lock import exclusive
from seed.store.paths import store_folder
from sidecar.hooks.install import install
from sidecar.provider import Provider

ROUNDS = {"touches no record": 60, "touches one record": 15}
POLICY = "format: 1\nembedder: {model: toy, languages: 'off'}\n"
RECORD = """id: decision-{0:05}
kind: decision
title: Choice number {0}
status: accepted
date: 2026-01-01
body: |
  Choice {0} stands because of reason {0}.
"""


def main() -> None:
    """Measure on repositories of the sizes named on the command line."""
    for size in [int(word) for word in sys.argv[1:]] or [141, 10_000]:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["SIDECAR_HOME"] = f"{folder}/home"
            _measure(_repository(Path(folder) / "repository", size), size)


def _repository(folder: Path, size: int) -> Path:
    for number in range(size):
        path = folder / "knowledge" / f"{number // 1000:02}" / f"decision-{number:05}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(RECORD.format(number))
    (folder / "knowledge" / "policy.yaml").write_text(POLICY)
    for arguments in (["init", "-q"], ["config", "user.name", "Bench"], ["config", "user.email", "bench@localhost"],
                      ["config", "gc.auto", "0"], ["add", "-A"], ["commit", "-q", "-m", "records"]):  # fmt: skip
        run_git(arguments, folder)
    provider = Provider(folder)
    provider.seed()
    provider.close()
    install(open_repository(folder))
    return folder


def _measure(folder: Path, size: int) -> None:
    print(f"{size} records, ms: median (p95)")
    for what, path in (("touches no record", "code.txt"), ("touches one record", "knowledge/00/decision-00000.yaml")):
        times: dict[bool, list[float]] = {False: [], True: []}
        spent: dict[bool, list[float]] = {False: [], True: []}
        for number in range(2 * ROUNDS[what]):
            hooked = number % 2 == 1
            with (folder / path).open("a") as file:
                file.write(f"  line {number}\n")
            run_git(["add", path], folder)
            before = _processor()
            times[hooked].append(_commit(folder, hooked=hooked))
            spent[hooked].append(_processor() - before)
            _settle(folder)
        without, hooks = (statistics.median(times[key]) for key in (False, True))
        processor = statistics.median(spent[True]) - statistics.median(spent[False])
        print(f"  {what}, {ROUNDS[what]} commits each: without {_show(times[False])}, with {_show(times[True])}, "
              f"adds {hooks - without:.1f} ms, ratio {hooks / without:.2f}; "
              f"of processor time it adds {processor:.1f} ms", flush=True)  # fmt: skip


def _processor() -> float:
    """Return the milliseconds that all processes waited for so far have spent."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def _commit(folder: Path, *, hooked: bool) -> float:
    off = [] if hooked else ["-c", f"core.hooksPath={os.devnull}"]
    start = time.perf_counter()
    run_git([*off, "commit", "-q", "-m", "change"], folder)
    return (time.perf_counter() - start) * 1000


def _settle(folder: Path) -> None:
    """Wait until no background work of a hook is left; it starts within the pause."""
    repo = open_repository(folder)
    time.sleep(0.1)
    while (repo.common / "sidecar-pending").exists():
        time.sleep(0.02)
    with exclusive(store_folder(repo.name, repo.common) / "hooks.lock", 120.0):
        return


def _show(times: list[float]) -> str:
    return f"{statistics.median(times):.1f} ({statistics.quantiles(times, n=20)[-1]:.1f})"


if __name__ == "__main__":
    main()
