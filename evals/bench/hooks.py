"""What the hooks add to ``git commit``: python -m evals.bench --only hooks.

Commits with and without hooks take turns in one repository, so that load on the machine falls on both alike. Each
waits for the background work of the one before. Figures are milliseconds of wall time; the note says what is added to
the processor's time of what a commit waits for, which a busy machine changes less.
"""

from __future__ import annotations

import os
import resource
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from evals.bench.figure import Figure, figure, milliseconds
from seed.git.command import run_git
from seed.git.repository import open_repository
from seed.store.lock import exclusive
from seed.store.paths import store_folder
from sidecar.hooks.install import install
from sidecar.provider import Provider

SIZES, QUICK = (141, 10_000), (141,)
ROUNDS = {"no record": 40, "one record": 15}
POLICY = "format: 1\nembedder: {model: toy, languages: 'off'}\n"
RECORD = """id: decision-{0:05}
kind: decision
title: Choice number {0}
status: accepted
date: 2026-01-01
body: |
  Choice {0} stands because of reason {0}.
"""


def figures(scratch: Path, *, quick: bool) -> Iterator[Figure]:
    """Measure commits that touch no record and one, against the same commits without hooks."""
    for size in QUICK if quick else SIZES:
        folder = _repository(scratch / f"{size}", size)
        for what, path in (("no record", "code.txt"), ("one record", "knowledge/00/decision-00000.yaml")):
            yield _measured(folder, f"{size:,} records", what, path)


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


def _measured(folder: Path, records: str, what: str, path: str) -> Figure:
    times: dict[bool, list[float]] = {False: [], True: []}
    spent: dict[bool, list[float]] = {False: [], True: []}
    for number in range(2 * ROUNDS[what]):
        hooked = number % 2 == 1
        with (folder / path).open("a") as file:
            file.write(f"  line {number}\n")
        run_git(["add", path], folder)
        before = _processor()
        times[hooked].append(milliseconds(lambda hooked=hooked: _commit(folder, hooked=hooked)))  # type: ignore[misc]
        spent[hooked].append(_processor() - before)
        _settle(folder)
    ratio = statistics.median(one / other for other, one in zip(times[False], times[True], strict=True))
    adds, processor = (statistics.median(t[True]) - statistics.median(t[False]) for t in (times, spent))
    return figure(f"git commit with hooks, {records}, touches {what}", times[True], of="the same commit without hooks",
                  ratio=ratio, note=f"the hooks add {adds:.1f} ms, {processor:.1f} ms of processor time")  # fmt: skip


def _processor() -> float:
    """Return the milliseconds that all processes waited for so far have spent."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def _commit(folder: Path, *, hooked: bool) -> None:
    off = [] if hooked else ["-c", f"core.hooksPath={os.devnull}"]
    run_git([*off, "commit", "-q", "-m", "change"], folder)


def _settle(folder: Path) -> None:
    """Wait until no background work of a hook is left; it starts within the pause."""
    repo = open_repository(folder)
    time.sleep(0.1)
    while (repo.common / "sidecar-pending").exists():
        time.sleep(0.02)
    with exclusive(store_folder(repo.name, repo.common) / "hooks.lock", 120.0):
        return
