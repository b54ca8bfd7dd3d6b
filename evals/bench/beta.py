"""What a graph weight in ranking changes, question by question. Prints JSON.

    python -m evals.bench.beta REPOSITORY QUESTIONS.yaml [STATUSES]

Each beta is compared with 0: how many expected records came up, went down, and fell out of the first five. A share that
moved by less than one question, the ruler's resolution, is no difference.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evals.controls import Setup
from evals.questions import load_questions
from evals.run import Run, run
from seed.policy import Policy

BETAS = (0.0, 0.05, 0.1, 0.2, 0.4)
FIRST = 5


def weighed(beta: float) -> Setup:
    """Return a setup in which the graph weighs ``beta``."""

    def adjust(policy: Policy) -> Policy:
        return replace(policy, beta=beta)

    return Setup(adjust=adjust)


def ranks(found: Run) -> dict[str, int]:
    """Return the rank of the first expected record of every answerable question, 99 where none is among the first."""
    told = {}
    for question, replies in found.replies:
        for language, reply in replies.items() if question.expected else ():
            hits = [n for n, ident in enumerate(reply.results, 1) if ident in question.expected]
            told[f"{question.id}/{language}"] = min(hits, default=99)
    return told


def compared(plain: dict[str, int], other: dict[str, int]) -> dict[str, Any]:
    """Return shares and moves against the plain ranks."""
    count = len(plain)
    return {
        **{f"recall@{k}": round(sum(rank <= k for rank in other.values()) / count, 4) for k in (1, 3, FIRST)},
        "mrr": round(sum(1 / rank for rank in other.values()) / count, 4),
        "up": sorted(key for key, rank in other.items() if rank < plain[key]),
        "down": sorted(key for key, rank in other.items() if rank > plain[key]),
        "lost_from_five": sorted(key for key, rank in other.items() if rank > FIRST >= plain[key]),
    }


def main(arguments: Sequence[str]) -> None:
    """Measure every beta."""
    folder, path, *statuses = arguments
    questions = load_questions(Path(path)).questions
    found = {beta: ranks(run(Path(folder), questions, weighed(beta), statuses=tuple(statuses))) for beta in BETAS}
    plain = found[0.0]
    rows = {str(beta): compared(plain, one) for beta, one in found.items()}
    print(
        json.dumps({"format": 1, "asked": len(plain), "resolution": round(1 / len(plain), 4), "beta": rows}, indent=1)
    )


if __name__ == "__main__":
    main(sys.argv[1:])
