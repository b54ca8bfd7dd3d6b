"""Which numbers a compaction's row says it hides: hosts write a list, a pair, pairs, or two ends."""

from __future__ import annotations

import re

from seed.transcript.facts import Row, number

Interval = tuple[int, int]

_HIDES = re.compile(r"shadow|hid|range|interval|compacted|replaced|removed|covers|^seqs$", re.IGNORECASE)
_BETWEEN = re.compile(r"range|interval", re.IGNORECASE)
_FIRST = ("minSeq", "min", "fromSeq", "from_seq", "startSeq", "start_seq", "from", "start", "first")
_LAST = ("maxSeq", "max", "toSeq", "to_seq", "endSeq", "end_seq", "to", "end", "last")
_PAIR = 2


def hidden(row: Row) -> tuple[tuple[int, ...], Interval | None]:
    """Return the numbers that ``row`` lists, and the interval it names (inclusive), if it does."""
    seqs: set[int] = set()
    interval = ends(row)
    for key, value in row.items():
        if _HIDES.search(key):
            listed, between = _value(key, value)
            seqs.update(listed)
            interval = interval or between
    return tuple(sorted(seqs)), interval


def ends(row: Row) -> Interval | None:
    """Return the first and last number of a row or object that names both."""
    low = next((number(row[key]) for key in _FIRST if key in row), None)
    high = next((number(row[key]) for key in _LAST if key in row), None)
    return None if low is None or high is None else (min(low, high), max(low, high))


def _value(key: str, value: object) -> tuple[list[int], Interval | None]:
    if isinstance(value, dict):
        return _numbers(value.get("seqs")), ends(value)
    if not isinstance(value, list):
        return [], None
    numbers = _numbers(value)
    if len(numbers) == len(value) == _PAIR and ("seq" not in key.lower() or _BETWEEN.search(key)):
        return [], (min(numbers), max(numbers))
    pairs = [between for part in value if (between := _value("range", part)[1])]
    if len(pairs) == 1:
        return numbers, pairs[0]
    return numbers + [seq for first, last in pairs for seq in range(first, last + 1)], None


def _numbers(value: object) -> list[int]:
    return [one for one in map(number, value) if one is not None] if isinstance(value, list) else []
