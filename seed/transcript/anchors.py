"""Anchors: a compact index of what each compaction took away, small enough for a prompt.

Paths come first, since they are what a summary loses most; every entry names the turns to read.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from seed.transcript.marks import Mark
    from seed.transcript.surface import Ledger

TOKENS = 350
TURNS_SHOWN = 3
ENTRY_CHARS = 90
# Shares of the budget that paths written, then everything up to paths read, may fill.
_WRITTEN, _READ = 0.5, 0.75
_RESERVE = 10  # tokens for the closing line
_TOGETHER = 6  # names of a folder in one entry: more would not be cut where the budget ends
_TOKEN = re.compile(r"[A-Za-z]{1,6}|\d{1,3}|\s*[^\sA-Za-z\d]")


@dataclass(frozen=True, slots=True)
class Anchor:
    """The index of one generation, and what it would not hold any more (for which there is `read`)."""

    generation: int
    text: str
    tokens: int
    left_out: int


@dataclass(frozen=True, slots=True)
class _Section:
    """Entries under a title, and up to which share of the budget they may fill the index."""

    title: str
    share: float
    entries: list[str]


def estimate(text: str) -> int:
    """Return how many tokens ``text`` costs at most with the usual tokenizers: a cautious count.

    At most six letters, three digits or one other character make a token, so it errs upwards.
    """
    return sum(1 for _ in _TOKEN.finditer(text))


def anchors(
    ledger: Ledger, marks: Sequence[Mark], budget: int = TOKENS, count: Callable[[str], int] = estimate
) -> list[Anchor]:
    """Return one anchor a generation, of at most ``budget`` tokens by ``count``."""
    number = _numbers(marks)
    found = []
    for one in ledger.generations:
        mine = [marks[ordinal] for ordinal in sorted({*one.hidden, *one.log_only})]
        kind = "seq" if any(mark.seq is not None for mark in mine) else "turn"
        of = f"generation {one.number} of {len(ledger.generations)}"
        where = f"{kind} {number(one.first)}-{number(one.last)}"
        what = f"{len(one.hidden)} hidden ({one.messages} messages), {len(one.log_only)} log-only"
        head = f"{of}: {where}, {what}; {_counts(mine)}"
        text, left = _filled(head, _sections(mine, number), budget, count)
        found.append(Anchor(one.number, text, count(text), left))
    return found


def _numbers(marks: Sequence[Mark]) -> Callable[[int], int]:
    """Return how turns are told: by the host's own numbers where it gives them, else by ordinal."""
    own = {one.ordinal: one.seq for one in marks if one.seq is not None}
    return lambda ordinal: own.get(ordinal, ordinal)


def _filled(head: str, sections: Sequence[_Section], budget: int, count: Callable[[str], int]) -> tuple[str, int]:
    """Return the head and as many entries as the budget holds, and how many it does not.

    A section may take what the later ones do not need; what they need is theirs up to their share.
    """
    lines, left = [head], 0
    for at, section in enumerate(sections):
        kept: list[str] = []
        later = sum(count(entry) + 1 for other in sections[at + 1 :] for entry in other.entries)
        room = budget - _RESERVE - min(later, budget * (1 - section.share))
        for entry in section.entries:
            trial = "\n".join([*lines, f"{section.title}: " + ", ".join([*kept, entry])])
            if count(trial) > room:
                break
            kept.append(entry)
        if kept:
            lines.append(f"{section.title}: " + ", ".join(kept))
        left += len(section.entries) - len(kept)
    if left:
        lines.append(f"+{left} more: read with match")
    return "\n".join(lines), left


def _sections(mine: Sequence[Mark], number: Callable[[int], int]) -> list[_Section]:
    writes = _by_path((path, mark.ordinal) for mark in mine for path in mark.writes)
    reads = _by_path((path, mark.ordinal) for mark in mine for path in mark.mentions)
    rest = {path: turns for path, turns in reads.items() if path not in writes}
    return [
        _Section("written", _WRITTEN, _folders(writes, number)),
        _Section("mentioned", _READ, _folders(rest, number)),
        _Section("failures", 1.0, [_quoted(mark, mark.failure, number) for mark in mine if mark.failure]),
        _Section("decisions", 1.0, [_quoted(mark, mark.decision, number) for mark in mine if mark.decision]),
    ]


def _by_path(found: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    """Return paths with the turns they stand in, the one that stands in most turns first."""
    turns: dict[str, dict[int, None]] = {}
    for path, ordinal in found:
        turns.setdefault(path, {})[ordinal] = None
    return {path: list(turns[path]) for path in sorted(turns, key=lambda path: (-len(turns[path]), path))}


def _folders(paths: dict[str, list[int]], number: Callable[[int], int]) -> list[str]:
    """Return one entry a folder, so that what its paths have in common is paid for once."""
    folders: dict[str, list[str]] = {}
    for path, turns in paths.items():
        shown = " ".join(str(number(turn)) for turn in turns[-TURNS_SHOWN:])
        folders.setdefault(posixpath.dirname(path), []).append(f"{posixpath.basename(path)} {shown}")
    entries: list[str] = []
    for folder, names in folders.items():
        for start in range(0, len(names), _TOGETHER):
            some = names[start : start + _TOGETHER]
            inside = some[0] if len(some) == 1 else "{" + "; ".join(some) + "}"
            entries.append(f"{folder}/{inside}" if folder else inside)
    return entries


def _quoted(mark: Mark, line: str, number: Callable[[int], int]) -> str:
    return f"{number(mark.ordinal)} “{line[:ENTRY_CHARS]}”"


def _counts(mine: Sequence[Mark]) -> str:
    """Return how often each tool was called, a call told by several rows once."""
    calls = {call or f"{mark.ordinal}/{at}": name for mark in mine for at, (call, name) in enumerate(mark.calls)}
    tools = Counter(calls.values()).most_common(4)
    prompts = sum(1 for mark in mine if mark.prompt)
    return ", ".join([f"{prompts} prompts", *(f"{amount} {name or 'calls'}" for name, amount in tools)])
