from __future__ import annotations

from typing import TYPE_CHECKING

from seed.transcript import turns
from seed.transcript.anchors import TOKENS, anchors, estimate
from seed.transcript.marks import marks
from seed.transcript.surface import ledger

if TYPE_CHECKING:
    from collections.abc import Callable

    Rows = Callable[..., bytes]


def event(kind: str, seq: int, **data: object) -> dict[str, object]:
    return {"type": kind, "seq": seq, "data": data}


def session(rows: Rows, files: int) -> bytes:
    made = [event("user/message", 100, text="Actually, let's use SQLite for the store")]
    for number in range(files):
        arguments = f'{{"file_path":"/work/app/seed/part{number % 7}/file{number}.py"}}'
        made.append(event("tool/call", 101 + 2 * number, callId=f"c{number}", name="Write", arguments=arguments))
        made.append(event("tool/result", 102 + 2 * number, callId=f"c{number}", content="ok"))
    made.append(event("tool/result", 9000, callId="x", content="E   AssertionError: 3 != 4", isError=True))
    hidden = [row["seq"] for row in made if row["type"] != "tool/call"]
    made.append(event("compaction/summary", 9001, shadowedSeqs=hidden, summary="We worked."))
    made.append(event("compaction/end", 9002))
    return rows(*made)


def of(data: bytes, budget: int = TOKENS) -> list[str]:
    lines = [(ordinal, raw) for ordinal, (_, raw) in enumerate(turns.lines([data]))]
    found = list(marks(lines, "eventlog", "/work/app"))
    return [one.text for one in anchors(ledger(found), found, budget)]


def test_a_short_generation_is_indexed_whole(rows: Rows) -> None:
    """Paths written come first, then failures and decisions, each with the host's own numbers."""
    (text,) = of(session(rows, 2))
    assert text.split("\n") == [
        "generation 1 of 1: seq 100-9000, 4 hidden (4 messages), 2 log-only; 1 prompts, 2 Write",
        "written: seed/part0/file0.py 101, seed/part1/file1.py 103",
        "failures: 9000 “E AssertionError: 3 != 4”",
        "decisions: 100 “Actually, let's use SQLite for the store”",
    ]


def test_an_index_keeps_its_budget(rows: Rows) -> None:
    """However much was removed, an index has at most 350 tokens, failures too, and says what is missing."""
    for files in (5, 20, 200, 2000):
        (text,) = of(session(rows, files))
        assert estimate(text) <= TOKENS
        assert "AssertionError" in text
        assert "SQLite" in text
    assert "more: read with match" in text
    assert estimate(text) > TOKENS * 0.75


def test_the_estimate_errs_upwards() -> None:
    """Six letters, three digits or one other character are a token at most."""
    assert estimate("") == 0
    assert estimate("seed/store.py 12345") == 1 + 1 + 1 + 1 + 1 + 2
    assert estimate("決定採用") == 4
