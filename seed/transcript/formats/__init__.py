"""The formats of sessions, told apart by what their rows hold, never by a file's name or folder."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Protocol

from seed.transcript.formats import claude, codex, copilot, eventlog, gemini, generic, pi

if TYPE_CHECKING:
    from collections.abc import Iterable

    from seed.transcript.facts import Facts, Row

UNKNOWN = "unknown"


class Format(Protocol):
    """What a format's module offers."""

    NAME: str

    def recognises(self, row: Row) -> bool:
        """Whether only this format writes such a row."""

    def facts(self, row: Row) -> Facts:
        """Read one row."""


# From the most telling to the least: the first that recognises a row has its vote.
FORMATS: tuple[Format, ...] = (codex, eventlog, copilot, claude, gemini, pi, generic)
_BY_NAME = {one.NAME: one for one in FORMATS}


def detect(rows: Iterable[Row]) -> str:
    """Return the name of the format that most of ``rows`` are in, `UNKNOWN` when none recognises any."""
    votes = Counter(one for one in map(_vote, rows) if one)
    return max(votes, key=lambda name: (votes[name], -list(_BY_NAME).index(name))) if votes else UNKNOWN


def _vote(row: Row) -> str:
    return next((one.NAME for one in FORMATS if one.recognises(row)), "")


def facts_of(name: str, row: Row) -> Facts:
    """Read one row of a session in the format ``name``; an unknown one is read as role and content."""
    return _BY_NAME.get(name, generic).facts(row)
