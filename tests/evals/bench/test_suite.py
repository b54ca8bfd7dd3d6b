from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evals.bench import __main__ as suite
from evals.bench import made, peers, plot
from evals.bench.figure import Figure, figure


def test_a_figure_says_whether_its_aims_are_reached() -> None:
    """Value and ratio each have to keep to their aim; without an aim nothing is claimed."""
    assert Figure("x", 5, "ms").reached is None
    assert Figure("x", 5, "ms", aim=5).reached is True
    assert Figure("x", 5, "ms", aim=5, ratio=1.4, aim_ratio=1.3).reached is False


def test_a_figure_is_a_median_with_its_spread() -> None:
    """One outlier moves neither the value nor the tenths."""
    one = figure("x", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1000.0])
    assert (one.value, one.low, one.high, one.repeats) == (6.0, 2.0, 10.0, 11)
    assert json.loads(json.dumps(one.to_json()))["reached"] is None


def test_a_figure_of_nothing_keeps_its_value(capsys: pytest.CaptureFixture[str]) -> None:
    """A zero is a result like any other, and no spread is shown that was not measured."""
    told = suite._shown(Figure("hits lost", 0.0, "of 10", repeats=54))
    assert (told["value"], "low" in told) == (0.0, False)
    assert capsys.readouterr().out == "  hits lost: 0.00 of 10 (54 times)\n"


def test_made_up_records_are_the_same_in_every_run() -> None:
    """What is compared between runs was made of the same text and vectors."""
    assert list(made.records(5)) == list(made.records(5))
    one, other = made.Synthetic(8).question("x"), made.Synthetic(8).question("x")
    assert one.tolist() == other.tolist()
    assert float(np.linalg.norm(one)) == pytest.approx(1.0, abs=1e-6)


def test_a_peer_that_is_not_there_is_skipped_with_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither a missing folder nor a missing environment ends the run."""
    assert list(peers.figures(tmp_path, None, quick=True)) == []
    assert list(peers._peer(tmp_path, "anla-archive", peers._anla, tmp_path, 10)) == []
    assert capsys.readouterr().out.count("skipped") == 2


def test_every_part_of_the_suite_is_named_in_its_help() -> None:
    """What --only takes is what there is."""
    parts = suite._parts(Namespace(quick=True, full=False, peers=None))
    assert ", ".join(parts) == suite._PART_NAMES


def test_results_are_drawn_over_the_releases(tmp_path: Path) -> None:
    """Every part has its chart, and growth has one with its slope; a quick run is no release."""

    def result(version: str, value: float) -> dict[str, Any]:
        seeding = [
            {"name": "seeding 10 changed of 100", "value": 10 * value, "unit": "ms"},
            {"name": "seeding 100 changed of 100", "value": 100 * value, "unit": "ms"},
        ]
        return {"version": version, "parts": {"seeding": seeding}}

    for version in ("0.10.0", "0.9.0"):
        (tmp_path / f"{version}.json").write_text(json.dumps(result(version, 2.0)))
    (tmp_path / "0.9.0-quick.json").write_text("{}")
    results = plot.load(tmp_path)
    assert [one["version"] for one in results] == ["0.9.0", "0.10.0"]
    assert plot.slope(plot.growth(results[-1])) == pytest.approx(1.0)
    assert {path.name for path in plot.draw(results, tmp_path)} == {"seeding.svg", "growth.svg"}
