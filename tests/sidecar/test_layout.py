from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.layout import NARROWEST, cells, fold
from sidecar.render import render

GOLDEN = Path(__file__).parent / "golden"
ANSWER: dict[str, Any] = {
    "verdict": "match",
    "retrieval": "hybrid",
    "results": [
        {
            "id": "decision-0054",
            "kind": "decision",
            "title": "平台的持久化紀錄一律放在 SQLite,每個服務一個檔案,不共用資料庫",
            "status": "accepted",
            "date": "2026-11-29",
            "score": 1.31,
            "why": "sqlite, durable store; close in meaning",
            "path": "knowledge/decisions/decision-0054.yaml",
            "passage": {
                "text": "## Decision\n\n- 每個服務只有一個寫入者,所以一個檔案就夠了;備份是複製檔案。\n"
                "- One writer for each service, so one file is enough; a backup is a copy of that file."
            },
            "lineage": [{"relation": "supersedes", "id": "decision-0011", "status": "superseded"}],
            "conflicts": [{"id": "fact-0007", "state": "recorded", "reason": "says that two services share one file"}],
        },
        {
            "id": "fact-20261129-1a2b3c",
            "kind": "fact",
            "title": "Café staff cannot read the orders while a migration runs",
            "status": "candidate",
            "date": "",
            "score": 0.22,
            "why": "close in meaning",
            "path": "knowledge/facts/fact-20261129-1a2b3c.yaml",
            "passage": {"text": ""},
        },
    ],
    "decided_against": [
        {"id": "decision-0032", "status": "rejected", "date": "2026-02-03", "title": "PostgreSQL", "why": "database"}
    ],
    "retired": [{"id": "decision-0011", "status": "superseded", "replaced_by": ["decision-0054"], "title": "Redis"}],
    "open_items": [],
    "withheld": {"superseded": 1, "candidate": 0, "below_floor": 14},
    "total": 2,
    "next_cursor": "",
    "revision": {"repository": "station", "commit": "4f2a91c03b77aa", "head": "4f2a91c03b77aa", "stale": False},
    "receipt": {"id": "sha256:9b1d0c55a2e07f441234", "stored": True},
}
COLOURS = re.compile(r"\033\[[0-9;]*m")


@pytest.mark.parametrize("width", [0, 40, 80])
@pytest.mark.parametrize("colour", [False, True])
def test_an_answer_looks_as_it_was_looked_at(width: int, colour: bool) -> None:
    """An answer at each width, with and without colours, is the golden file that a person has read.

    SIDECAR_GOLDEN=1 writes the files anew, to be read again.
    """
    file = GOLDEN / f"answer-{width or 'pipe'}{'-colour' if colour else ''}.txt"
    shown = fold(render(ANSWER, colour=colour), width) + "\n"
    if os.environ.get("SIDECAR_GOLDEN"):
        file.write_text(shown, encoding="utf-8")
    assert shown == file.read_text(encoding="utf-8")


def test_colour_and_width_change_no_word() -> None:
    """Colours say nothing that the words do not say, and a pipe gets neither colours nor folded lines."""
    plain = render(ANSWER)
    assert "\033" not in plain
    assert COLOURS.sub("", render(ANSWER, colour=True)) == plain
    assert fold(plain, 0) == plain
    folded = fold(plain, 40)
    assert re.sub(r"[\s|]", "", folded) == re.sub(r"[\s|]", "", plain)


def test_wide_characters_count_as_two() -> None:
    """Chinese, Japanese and Korean characters take two cells, combining ones none, and colours none."""
    assert cells("資料庫") == 6
    assert cells("データ") == 6
    assert cells("한국어") == 6
    assert cells("cafe\u0301") == 4
    assert cells("\033[1mab\033[0m") == 2


def test_folded_lines_keep_their_place() -> None:
    """A line goes on under its own text, a quoted one behind its margin, and no line begins with a closing mark."""
    assert fold("   why: some words; more words", 20) == "   why: some words;\n   more words"
    assert fold("   | - some quoted words here", 20).split("\n") == ["   | - some quoted", "   |   words here"]
    assert fold("1. an-id some words here", 20) == "1. an-id some words\n   here"
    for line in fold("平台的持久化紀錄一律放在資料庫,每個服務一個檔案。不共用。", 24).split("\n"):
        assert cells(line) <= 25
        assert line[0] not in ",。"


LINES = st.text(alphabet="ab |-*1.資、\u0301é\n\033[m", max_size=120)


@given(LINES, st.integers(NARROWEST, 60))
def test_any_text_folds(text: str, width: int) -> None:
    """Whatever the text, folding loses no character but spaces, and behind a margin every line keeps it."""
    folded = fold(text, width)
    assert re.sub(r"[\s|]", "", folded) == re.sub(r"[\s|]", "", text)
    quoted = "\n".join(f"   | {line}" for line in text.split("\n"))
    assert all(line.startswith("   |") for line in fold(quoted, width).split("\n"))


@given(st.lists(st.text(alphabet="abc資料", min_size=1, max_size=9), min_size=1), st.integers(NARROWEST, 60))
def test_lines_fit(words: list[str], width: int) -> None:
    """Lines of words shorter than the width never pass it."""
    assert all(cells(line) <= width for line in fold(" ".join(words), width).split("\n"))
