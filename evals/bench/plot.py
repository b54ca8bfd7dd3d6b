"""Draw the kept results: python -m evals.bench.plot [RESULTS] [--out DIR].

One line chart for each part, its figures over the releases, and how seeding grows with the number of changed files,
on two logarithmic axes.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from pathlib import Path
from typing import Any

from evals.bench.__main__ import RESULTS
from evals.bench.figure import slope

_CHANGED = re.compile(r"seeding ([\d,]+) changed of ([\d,]+)")


def main() -> None:
    """Write the charts as SVG."""
    parser = argparse.ArgumentParser(prog="python -m evals.bench.plot", description="Draw the kept results.")
    parser.add_argument("results", nargs="?", type=Path, default=RESULTS, metavar="RESULTS")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where the SVG go, else beside the results")
    options = parser.parse_args()
    out = options.out or options.results
    out.mkdir(parents=True, exist_ok=True)
    for path in draw(load(options.results), out):
        print(path)


def load(folder: Path) -> list[dict[str, Any]]:
    """Return the kept results of whole runs, in the order of their versions."""
    files = [path for path in folder.glob("*.json") if not path.stem.endswith("-quick")]
    found = [json.loads(path.read_text(encoding="utf-8")) for path in files]
    return sorted(found, key=lambda one: [int(part) if part.isdigit() else 0 for part in one["version"].split(".")])


def draw(results: list[dict[str, Any]], out: Path) -> list[Path]:
    """Draw every part over the releases, and the growth of the last one. Returns the files."""
    import pygal

    versions = [one["version"] for one in results]
    written = []
    for part in sorted({part for one in results for part in one["parts"]}):
        series = _series(results, part)
        if not series:
            continue
        chart = pygal.Line(
            js=(), title=f"{part}, milliseconds", x_labels=versions, logarithmic=True, legend_at_bottom=True
        )
        for name, values in series.items():
            chart.add(name, values)
        written.append(_kept(chart, out / f"{part}.svg"))
    if results and (points := growth(results[-1])):
        chart = pygal.XY(js=(), title="seeding: log10 of ms over log10 of changed files", legend_at_bottom=True)
        chart.add(f"slope {slope(points):.2f}", [(math.log10(x), math.log10(y)) for x, y in points])
        written.append(_kept(chart, out / "growth.svg"))
    return written


def _series(results: list[dict[str, Any]], part: str) -> dict[str, list[float | None]]:
    names = dict.fromkeys(f["name"] for one in results for f in one["parts"].get(part, ()) if f["unit"] == "ms")
    held = [{f["name"]: f.get("value") for f in one["parts"].get(part, ())} for one in results]
    return {name: [values.get(name) or None for values in held] for name in names}


def growth(result: dict[str, Any]) -> list[tuple[int, float]]:
    """Return (changed files, milliseconds) of a result, in order."""
    held = [(_CHANGED.fullmatch(one["name"]), float(one["value"])) for one in result["parts"].get("seeding", ())]
    return sorted((int(match[1].replace(",", "")), value) for match, value in held if match)


def _kept(chart: Any, path: Path) -> Path:  # noqa: ANN401 - pygal ships no types
    path.write_bytes(chart.render())
    return path


if __name__ == "__main__":
    main()
