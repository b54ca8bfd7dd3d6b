"""The results that `sidecar eval --out FILE` wrote, read by their documented shape; nothing of `evals` is imported."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seed.errors import SidecarError
from seed.git.repository import read_commit
from sidecar.quote import one_line

if TYPE_CHECKING:
    from seed.git.repository import Repository

FOLDER = "evals/results"
"""Where results are looked for, from the top of the repository, unless a folder is named."""
_NEEDED = ("figures", "questions", "stamp", "counts", "curve")
_MAX_BYTES = 50_000_000
_MOST = 200
HEADLINE = ("recall@1", "recall@3", "recall@10", "mrr", "answered_answerable", "false_answers", "noise", "forbid_hits")


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure with its 95 % interval and the number of questions behind it; None where nothing was measured."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Result:
    """One run: its file's name, when (the time of its commit, else of its file), and what came of it.

    ``gate`` is ``passed``, ``failed`` or "" for a run without one; ``told`` its failures and warnings. ``here`` is
    (risk, coverage) of the floor in force. ``wrong`` are the questions that were answered wrongly: (id, text, what
    came back).
    """

    name: str
    when: datetime
    commit: str
    records: int
    answerable: int
    unanswerable: int
    figures: tuple[Figure, ...]
    curve: tuple[tuple[float, float, float], ...]
    here: tuple[float, float] | None
    gate: str
    told: tuple[str, ...]
    without: tuple[str, ...]
    wrong: tuple[tuple[str, str, str], ...]

    def figure(self, name: str) -> float | None:
        """Return the value of a figure, None where it was not measured."""
        return next((figure.value for figure in self.figures if figure.name == name), None)


def load(folder: Path, repo: Repository | None = None) -> tuple[list[Result], list[str]]:
    """Return (results of a folder or file, oldest first; what could not be read and why). A missing folder is empty."""
    files = [folder] if folder.is_file() else sorted(folder.glob("*.json"))[-_MOST:] if folder.is_dir() else []
    found, faults = [], []
    for file in files:
        try:
            state = file.stat()
            result = _read(file, state.st_mtime_ns, state.st_size)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
            faults.append(f"{one_line(file.name)}: it cannot be read ({type(exc).__name__})")
            continue
        if result is not None:
            found.append(_dated(result, repo))
    return sorted(found, key=lambda one: (one.when, one.name)), faults


def _dated(result: Result, repo: Repository | None) -> Result:
    from dataclasses import replace

    if repo is None or not result.commit:
        return result
    try:
        return replace(result, when=datetime.fromtimestamp(read_commit(repo, result.commit).commit_time, UTC))
    except (SidecarError, KeyError, ValueError):
        return result  # a commit of another clone


@lru_cache(maxsize=256)
def _read(file: Path, changed_ns: int, size: int) -> Result | None:
    """Return a file's result, read once for each state of it; None for JSON that is something else."""
    if size > _MAX_BYTES:
        raise ValueError(size)
    data = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(data, dict) or any(key not in data for key in _NEEDED):
        return None
    gate = data.get("gate")
    here = (data.get("answered_unanswerable"), data.get("answered_answerable"))
    return Result(
        name=one_line(file.stem, 80),
        when=datetime.fromtimestamp(changed_ns / 1e9, UTC),
        commit=str(data["stamp"].get("commit", "")),
        records=int(data["counts"].get("records", 0)),
        answerable=int(data["counts"].get("answerable", 0)),
        unanswerable=int(data["counts"].get("unanswerable", 0)),
        figures=tuple(_figure(name, data["figures"][name]) for name in HEADLINE if name in data["figures"]),
        curve=tuple((float(t), float(c), float(r)) for t, c, r in data["curve"]),
        here=None if None in here else (float(here[0]), float(here[1])),  # type: ignore[arg-type]
        gate=("passed" if gate["passed"] else "failed") if gate else "",
        told=tuple(one_line(str(text), 300) for text in (*gate["failures"], *gate["warnings"])) if gate else (),
        without=tuple(map(str, data.get("without", ()))),
        wrong=tuple(_wrong(data["questions"])),
    )


def _figure(name: str, data: Mapping[str, Any]) -> Figure:
    return Figure(name, data["value"], data.get("low"), data.get("high"), int(data.get("n", 0)))


def _wrong(questions: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    return [
        (one_line(str(q["id"]), 80), one_line(str(q["question"]), 200),
         one_line(", ".join(map(str, q.get("returned", [])[:5])), 200) or "nothing")
        for q in questions
        if not q.get("correct", True)
    ]  # fmt: skip
