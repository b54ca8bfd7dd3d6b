"""A result against a baseline, figure by figure and question by question."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evals.metrics import COUNTS, FIGURES, LOWER_IS_BETTER, distinguishable
from seed.errors import SidecarError

_INPUTS = {
    "questions": "the questions differ",
    "knowledge_tree": "the records differ",
    "embedder": "the embedder differs",
    "policy": "the policy differs",
    "version": "the version differs",
}


def load_baseline(path: Path) -> dict[str, Any]:
    """Read a result that `sidecar eval --json` wrote. Raises `SidecarError` when the file is none."""
    fix = "name a file that 'sidecar eval --json' wrote"
    try:
        found = json.loads(path.read_bytes())
    except OSError as exc:
        raise SidecarError(f"{path} cannot be read: {exc.strerror}", fix) from None
    except ValueError:
        raise SidecarError(f"{path} is not JSON", fix) from None
    if not isinstance(found, dict) or not {"figures", "questions", "stamp"} <= found.keys():
        raise SidecarError(f"{path} is not the result of an evaluation", fix)
    return found


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return what moved: inputs that differ, each figure with its verdict, and each question that changed.

    A difference below the resolution 1/n (one for counts) reads "not distinguishable".
    """
    return {
        "inputs": [text for key, text in _INPUTS.items() if old["stamp"].get(key) != new["stamp"].get(key)],
        "figures": {name: _figure(name, old["figures"].get(name), new["figures"][name]) for name in FIGURES},
        "questions": list(_questions(old, new)),
    }


def _figure(name: str, old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> dict[str, Any]:
    before, after = (old or {}).get("value"), new["value"]
    found = {"old": before, "new": after, "difference": None, "verdict": "not measured on both sides"}
    if before is None or after is None or old is None:
        return found
    difference = round(after - before, 4)
    n = 1 if name in COUNTS else min(old["n"], new["n"])
    if difference == 0:
        verdict = "equal"
    elif not distinguishable(before, after, n):
        verdict = "not distinguishable"
    else:
        verdict = "better" if (difference < 0) == (name in LOWER_IS_BETTER) else "worse"
    return found | {"difference": difference, "verdict": verdict}


def _questions(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    before, after = _replies(old), _replies(new)
    for key in [*after, *(k for k in before if k not in after)]:
        if change := _change(before.get(key), after.get(key)):
            sides = {"old": _short(before.get(key)), "new": _short(after.get(key))}
            yield {"id": key[0], "language": key[1], "change": change, **sides}


def _replies(result: Mapping[str, Any]) -> dict[tuple[str, str], Mapping[str, Any]]:
    return {
        (question["id"], language): reply
        for question in result["questions"]
        for language, reply in ((question["language"], question), *question.get("variants", {}).items())
    }


def _change(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> str:
    """Return what happened to one wording of a question; "" when it came out the same."""
    if old is None or new is None:
        return "new question" if old is None else "question is gone"
    if old["correct"] != new["correct"]:
        return "gained" if new["correct"] else "lost"
    if old["rank"] != new["rank"]:
        return "rank"
    if old["verdict"] != new["verdict"]:
        return "verdict"
    return "records" if old["returned"] != new["returned"] else ""


def _short(reply: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return {key: reply[key] for key in ("verdict", "rank", "returned")} if reply else None
