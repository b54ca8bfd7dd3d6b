"""Early facts: which facts that only compacted turns hold are found again, by which means, at how many tokens.

Run with ``python -m evals.bench.early_facts [SESSION.jsonl]``; without a file a session is made. A fact is a path, a
percentage or a count that never reappears in a later turn. Everything is asked through MCP.
"""

from __future__ import annotations

import asyncio
import json
import os
import posixpath
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seed.transcript.anchors import estimate
from sidecar.server.local import Ask, asking

_FACT = re.compile(r"(?:[\w.-]+/)+[\w-]+\.[a-z]{1,4}\b|\b\d+(?:\.\d+)? %|\b\d{4,} rows\b")
_LOOSE = re.compile(r"[\s\"'`\\,]+")
PAGE = 4000


@dataclass(frozen=True, slots=True)
class Row:
    """One way of finding facts: how many of all, strictly, normalised on both sides, by base name; and its tokens."""

    name: str
    strict: int
    normalised: int
    by_base_name: int
    of: int
    tokens: int
    tokens_a_fact: int = 0


def session(generations: int, turns: int, cwd: str = "") -> bytes:
    """Make an event log with compactions; each turn of it holds a path, a share and a count of its own."""
    draw, rows, seq = random.Random(3), [_event("session", 999, id="made", cwd=cwd)], 1000  # noqa: S311 - no key
    for generation in range(1, generations + 1):
        hidden = []
        for _ in range(turns):
            path, share = f"seed/{draw.getrandbits(32):x}/part.py", f"{draw.random() * 100:.3f} %"
            written = json.dumps({"file_path": path, "content": f'a "quoted" share of {share}\n'})
            call = {"type": "tool-call", "id": f"c{seq}", "name": "write", "arguments": written}
            amount = {"type": "text", "text": f"{draw.randrange(10**6, 10**7)} rows"}
            said = [{"type": "text", "text": "So be it."}, call]
            rows.append(_event("assistant/message", seq, message={"content": said}))
            rows.append(_event("tool/result", seq + 1, message={"callId": f"c{seq}", "content": [amount]}))
            hidden += [seq, seq + 1]
            seq += 2
        mark = {"compactionId": f"k{generation}"}
        rows.append(_event("compaction/start", seq, **mark))
        rows.append(_event("compaction/summary", seq + 1, **mark, shadowedSeqs=hidden, summary="Some files written."))
        rows.append(_event("compaction/end", seq + 2, **mark))
        seq += 3
    rows.append(_event("user/message", seq, text="Go on."))
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def _event(kind: str, seq: int, **data: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {"type": kind, "seq": seq, "data": data}


def facts_of(texts: dict[int, str], hidden: set[int]) -> dict[str, int]:
    """Return fact -> the last turn that holds it, of those that no visible turn holds."""
    last: dict[str, int] = {}
    for turn in sorted(texts):
        last |= dict.fromkeys(_FACT.findall(texts[turn]), turn)
    shown = "\n".join(text for turn, text in texts.items() if turn not in hidden)
    return {fact: turn for fact, turn in last.items() if turn in hidden and fact not in shown}


def row(name: str, facts: dict[str, int], text: Callable[[str], str], tokens: int, each: int = 0) -> Row:
    """Count the facts that are in the text found for each of them."""
    strict = sum(fact in text(fact) for fact in facts)
    normalised = sum(_loose(fact) in _loose(text(fact)) for fact in facts)
    base = sum(_loose(posixpath.basename(fact)) in _loose(text(fact)) for fact in facts)
    return Row(name, strict, normalised, base, len(facts), tokens, each)


def _loose(text: str) -> str:
    return _LOOSE.sub("", text).casefold()


async def everything(read: Ask, turns: list[int]) -> str:
    """Return the text of turns, page by page."""
    found, offset = [], 0
    while turns:
        page = await read("context_read", {"turns": turns, "offset": offset, "max_bytes": 100_000})
        found += [one["text"] for one in page["turns"]]
        if page["next_offset"] is None:
            break
        offset = page["next_offset"]
    return "\n".join(found)


async def through_anchors(read: Ask, facts: dict[str, int], places: list[dict[str, Any]]) -> dict[str, str]:
    """Return what reading the turns of a fact's generation, around the fact, gives for each fact."""
    found = {}
    for fact, turn in facts.items():
        first, last = next(one["turns"] for one in places if one["turns"][0] <= turn <= one["turns"][1])
        asked = {"turns": list(range(first, last + 1)), "match": fact, "max_bytes": PAGE}
        page = await read("context_read", asked)
        found[fact] = "\n".join(one["text"] for one in page["turns"])
    return found


async def table(read: Ask, turns: int) -> list[Row]:
    """Return the four rows of a session with so many turns: last summary, surface, whole replay, anchors."""
    told = await read("context_anchors", {})
    places = told["generations"]
    hidden = {turn for one in places for turn in range(one["turns"][0], one["turns"][1] + 1)}
    texts = {turn: await everything(read, [turn]) for turn in range(turns)}
    facts = facts_of(texts, hidden)
    surface = "\n".join(text for turn, text in texts.items() if turn not in hidden)
    whole = "\n".join(texts.values())
    summary = texts.get(places[-1]["at"], "") if places else ""
    index = sum(one["tokens"] for one in places)
    found = await through_anchors(read, facts, places)
    each = int(statistics.median(estimate(text) for text in found.values())) if found else 0
    return [
        row("last summary", facts, lambda _: summary, estimate(summary)),
        row("surface", facts, lambda _: surface, estimate(surface)),
        row("whole replay", facts, lambda _: whole, estimate(whole)),
        row("anchors", facts, lambda fact: found[fact], index, each),
    ]


async def _measure(folder: Path, path: Path) -> list[Row]:
    async with asking(folder, "history", any_session=True) as read:
        kept = await read("context_capture", {"files": [str(path)]})
        return await table(read, kept["captured"][0]["turns"])


def main(arguments: list[str]) -> None:
    """Measure one session and print the table."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        os.environ["SIDECAR_HOME"] = f"{temporary}/home"
        subprocess.run(["git", "init", "-q", str(folder)], check=True)  # noqa: S603, S607 - our own folder
        made = folder / "made.jsonl"
        made.write_bytes(session(generations=5, turns=60))
        rows = asyncio.run(_measure(folder, Path(arguments[0]) if arguments else made))
    print(f"{'':14}{'strict':>8}{'normal':>8}{'base':>8}{'of':>6}{'tokens':>9}{'a fact':>8}")
    for one in rows:
        print(f"{one.name:14}{one.strict:8}{one.normalised:8}{one.by_base_name:8}{one.of:6}{one.tokens:9}"
              f"{one.tokens_a_fact:8}")  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
