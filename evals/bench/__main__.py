"""All benchmarks in one run: python -m evals.bench [--quick | --full] [--only NAME]... [--peers DIR] [--out DIR].

Every figure is printed, and kept as JSON in evals/bench/results/<version>.json. ``--quick`` takes about a minute,
the ordinary run some minutes, ``--full`` grows to 100,000 records. Nothing outside a scratch folder is written.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_PART_NAMES = "search, words, opening, seeding, cold, start, hooks, load, history, peers"
RESULTS = Path(__file__).parent / "results"
_THREADS = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def main() -> None:
    """Run the parts that are asked for."""
    options = _options()
    if any(os.environ.get(name) != value for name, value in _THREADS.items()):
        os.environ.update(_THREADS)  # one thread: two were slower; a library reads this when it is loaded
        os.execv(sys.executable, [sys.executable, "-P", "-m", "evals.bench", *sys.argv[1:]])  # noqa: S606 - ourselves
    parts = _parts(options)
    chosen = [name for name in parts if not options.only or name in options.only]
    if unknown := set(options.only) - set(parts):
        sys.exit(f"unknown part {', '.join(sorted(unknown))}: use {', '.join(parts)}")
    found: dict[str, list[dict[str, Any]]] = {}
    start = time.time()
    with tempfile.TemporaryDirectory(prefix="sidecar-bench-") as folder:
        os.environ["SIDECAR_HOME"] = f"{folder}/home"
        for name in chosen:
            scratch = Path(folder) / name
            scratch.mkdir()
            print(f"{name}:", flush=True)
            found[name] = [_shown(one) for one in parts[name](scratch)]
    path = _kept(options, found, round(time.time() - start))
    print(f"kept in {path}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evals.bench", description="Measure everything in one run.")
    parser.add_argument("--quick", action="store_true", help="small sizes: about a minute")
    parser.add_argument("--full", action="store_true", help="seeding up to 100,000 records: some ten minutes more")
    parser.add_argument("--only", action="append", default=[], metavar="PART", help=_PART_NAMES)
    parser.add_argument("--peers", type=Path, metavar="DIR", help="folder of peers' environments, see docs/scale.md")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="where the JSON goes")
    parser.add_argument("--version", default="", help="name of the result, else the version of the package")
    return parser.parse_args()


def _parts(options: argparse.Namespace) -> dict[str, Callable[[Path], Iterator[Any]]]:
    from evals.bench import cold, hooks, load, opening, peers, search, seeding, sessions, start, terms

    quick = options.quick
    return {
        "search": lambda scratch: search.figures(scratch, quick=quick),
        "words": lambda scratch: terms.figures(scratch, quick=quick),
        "opening": lambda scratch: opening.figures(scratch, quick=quick),
        "seeding": lambda scratch: seeding.figures(scratch, quick=quick, full=options.full),
        "cold": lambda scratch: cold.figures(scratch, quick=quick),
        "start": lambda scratch: start.figures(scratch, quick=quick),
        "hooks": lambda scratch: hooks.figures(scratch, quick=quick),
        "load": lambda scratch: load.figures(scratch, quick=quick),
        "history": lambda scratch: sessions.figures(scratch, options.peers, quick=quick),
        "peers": lambda scratch: peers.figures(scratch, options.peers, quick=quick),
    }


def _shown(one: Any) -> dict[str, Any]:  # noqa: ANN401 - a figure, whose module is loaded after the threads are set
    ratio = f", {one.ratio:.2f} times {one.against}" if one.ratio else ""
    aims = " and ".join(
        [f"{one.aim:g} {one.unit}"] * bool(one.aim) + [f"{one.aim_ratio:g} times"] * bool(one.aim_ratio)
    )
    aimed = f"; aim {aims}: {'reached' if one.reached else 'MISSED'}" if aims else ""
    within = f"{one.low:.2f} to {one.high:.2f}, " if one.high else ""
    spread = f" ({within}{one.repeats} times)" if one.repeats > 1 else ""
    print(
        f"  {one.name}: {one.value:.2f} {one.unit}{spread}{ratio}{aimed}" + (f" [{one.note}]" if one.note else ""),
        flush=True,
    )
    told: dict[str, Any] = one.to_json()
    return told


def _kept(options: argparse.Namespace, found: dict[str, list[dict[str, Any]]], seconds: int) -> Path:
    """Write the result; parts that were not asked for keep what an earlier run of this version found."""
    import numpy as np

    from sidecar.version import VERSION

    version = options.version or VERSION
    path: Path = options.out / f"{version}{'-quick' if options.quick else ''}.json"
    before = json.loads(path.read_text(encoding="utf-8")).get("parts", {}) if path.is_file() else {}
    told = {
        "format": 1,
        "version": version,
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "seconds": seconds,
        "machine": {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count(),
                    "python": platform.python_version(), "numpy": np.__version__},
        "noise": "value: median; low and high: first and last of ten parts; ratio: median over pairs taken in turns",
        "parts": {**before, **found},
    }  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    main()
