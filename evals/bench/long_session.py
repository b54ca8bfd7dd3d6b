"""A made session of any length: python -m evals.bench.long_session FILE [TURNS] [SEGMENTS].

Turns are prose, tool calls and their results over made words. A paragraph keeps to a small vocabulary of its own, so
that a scheme that cuts where the vocabulary changes has something to find; a third of them were said before.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

TURNS = 6_500
SEGMENTS = 60_000
_SAID_BEFORE = 0.33
_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe qui ro sa te vi wo xa ye zo bri cla dra fle gro".split()


def lines(turns: int = TURNS, segments: int = SEGMENTS) -> Iterator[bytes]:
    """Yield the rows of a session of so many turns and about so many segments by change of vocabulary."""
    draw = random.Random(7)  # noqa: S311 - a made session, no key
    said: list[str] = []
    each = 1.12 * segments / turns  # some paragraphs are too alike to be cut apart
    for turn in range(turns):
        count = max(1, round(draw.gauss(each, each / 4)))
        parts = [_again(said, draw) for _ in range(count)]
        yield json.dumps(_row(turn, "\n\n".join(parts)), ensure_ascii=False).encode() + b"\n"


def write(path: Path, turns: int = TURNS, segments: int = SEGMENTS) -> None:
    """Write a made session to a file."""
    path.write_bytes(b"".join(lines(turns, segments)))


def _again(said: list[str], draw: random.Random) -> str:
    if said and draw.random() < _SAID_BEFORE:
        return draw.choice(said)
    words = ["".join(draw.choices(_SYLLABLES, k=draw.randint(2, 4))) for _ in range(30)]
    said.append(" ".join(_sentence(words, draw) for _ in range(5)))
    return said[-1]


def _sentence(words: list[str], draw: random.Random) -> str:
    return " ".join(draw.choices(words, k=draw.randint(7, 14))).capitalize() + "."


def _row(turn: int, text: str) -> dict[str, object]:
    base = {"uuid": f"u-{turn}", "parentUuid": f"u-{turn - 1}" if turn else None, "sessionId": "long", "cwd": "/made"}
    if turn % 4 == 1:
        call = {"type": "tool_use", "id": f"c-{turn}", "name": "Write", "input": {"file_path": f"docs/{turn}.md"}}
        call["input"] = {"file_path": f"docs/{turn}.md", "content": text}
        return {**base, "type": "assistant", "message": {"role": "assistant", "content": [call]}}
    if turn % 4 == 2:  # noqa: PLR2004 - the third kind of turn
        result = {"type": "tool_result", "tool_use_id": f"c-{turn - 1}", "content": text}
        return {**base, "type": "user", "message": {"role": "user", "content": [result]}}
    role = "user" if turn % 4 == 0 else "assistant"
    return {**base, "type": role, "message": {"role": role, "content": [{"type": "text", "text": text}]}}


if __name__ == "__main__":
    write(Path(sys.argv[1]), *map(int, sys.argv[2:4]))
