"""Fuzz what reads other people's input: python -m evals.bench.fuzz [TARGET]... [--seconds N] [--finds FOLDER].

Needs atheris (`pip install '.[fuzz]'`). Targets take turns, each in processes of its own with bounded memory; a hang or
too much memory ends such a process and is a find like an exception. Every find is kept as a file. Exits 1 on finds.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from evals.bench.fuzz import asked, files, seeds

Make = Callable[[Path], files.Once]
TARGETS: dict[str, tuple[Make, tuple[bytes, ...]]] = {
    "records": (files.records, seeds.RECORDS),
    "settings": (files.settings, seeds.SETTINGS),
    "importers": (files.importers, seeds.IMPORTERS),
    "sessions": (files.sessions, seeds.SESSIONS),
    "snapshots": (asked.snapshots, seeds.RECORDS),
    "questions": (asked.questions, seeds.DRAWN),
    "tools": (asked.tools, seeds.DRAWN),
    "commands": (asked.commands, seeds.DRAWN),
}
"""What is fuzzed: how a run is set up in a folder of its own, and inputs to begin with."""
HANG_SECONDS, MEMORY_MB, LONGEST = 20, 2000, 4096
_COUNT = re.compile(r"number_of_executed_units: (\d+)|^Done (\d+) runs|^#(\d+)\t", re.MULTILINE)


@dataclass(slots=True)
class Watched:
    """A target whose exceptions are kept, one input for each place, instead of ending the run."""

    once: files.Once
    keep: Path
    places: set[str] = field(default_factory=set)

    def __call__(self, data: bytes) -> None:
        """Read one input."""
        try:
            self.once(data)
        except Exception as exc:  # noqa: BLE001 - any exception is a find
            last = traceback.extract_tb(exc.__traceback__)[-1]
            place = f"{type(exc).__name__} at {last.filename}:{last.lineno}"
            place = str(exc.args[0]) if isinstance(exc, files.BrokenPromiseError) else place
            if place in self.places:
                return
            self.places.add(place)
            name = hashlib.sha256(place.encode()).hexdigest()[:12]
            self.keep.with_name(f"{self.keep.name}-{name}").write_bytes(data)
            self.keep.with_name(f"{self.keep.name}-{name}.txt").write_text(
                "".join(traceback.format_exception(exc)), encoding="utf-8", errors="backslashreplace"
            )


def fuzz(name: str, seconds: int, finds: Path) -> None:
    """Fuzz one target in this process; it ends with the process."""
    import atheris

    make, begin = TARGETS[name]
    with tempfile.TemporaryDirectory(prefix="sidecar-fuzz-") as base, atheris.instrument_imports(["seed", "sidecar"]):
        corpus = finds / f"corpus-{name}"
        corpus.mkdir(exist_ok=True)
        for data in begin:
            (corpus / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
        work = Path(base) / "work"
        work.mkdir()
        once = Watched(make(work), finds / name)
        options = (f"-max_total_time={seconds}", f"-timeout={HANG_SECONDS}", f"-rss_limit_mb={MEMORY_MB}",
                   f"-max_len={LONGEST}", f"-artifact_prefix={finds}/{name}-", "-print_final_stats=1")  # fmt: skip
        atheris.Setup([name, *options, str(corpus)], once)
        atheris.Fuzz()


def turn(name: str, seconds: float, finds: Path) -> int:
    """Fuzz a target for so many seconds in processes of its own. Returns the number of executions."""
    done, end = 0, time.monotonic() + seconds
    while (left := int(end - time.monotonic())) > 0:
        command = [sys.executable, "-P", "-m", "evals.bench.fuzz", name, "--here", "--seconds", str(left)]
        log = finds / f"{name}.log"
        with log.open("w") as stream:
            subprocess.run([*command, "--finds", str(finds)], stdout=stream, stderr=stream, check=False)  # noqa: S603 - ours
        told = _COUNT.findall(log.read_text(errors="replace"))
        done += max((int(number) for numbers in told for number in numbers if number), default=0)
    return done


def main() -> int:
    """Fuzz the targets that were named, all of them by default, one after another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--finds", type=Path, default=Path(tempfile.gettempdir()) / "sidecar-fuzz-finds")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.finds.mkdir(parents=True, exist_ok=True)
    if given.here:
        fuzz(given.targets[0], given.seconds, given.finds.resolve())
        return 0
    found = 0
    for name in given.targets or TARGETS:
        done = turn(name, given.seconds, given.finds.resolve())
        kept = sorted(path.name for path in given.finds.glob(f"{name}-*") if path.is_file() and path.suffix != ".txt")
        found += len(kept)
        print(f"{name}: {done} executions in {given.seconds} s, {len(kept)} finds {' '.join(kept)}", flush=True)
    print(f"finds are kept in {given.finds}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
