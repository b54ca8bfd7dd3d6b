"""One record: its vocabulary and the frozen dataclass. Pure; reading one is in seed.reader."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Literal

SCHEMA_VERSION = 2
"""Version of this parser: parsed records are cached by (blob, schema version)."""

Kind = Literal["decision", "adr", "fact", "finding", "history"]
KINDS: tuple[str, ...] = ("decision", "adr", "fact", "finding", "history")
STATUSES: tuple[str, ...] = tuple(
    "accepted verified unverified rejected proposed candidate deprecated superseded refuted historical unknown".split()
)
TRUSTS: tuple[str, ...] = ("user_confirmed", "document_extracted", "agent_generated")
FORWARD: tuple[str, ...] = ("supersedes", "amends", "refutes", "replies_to", "relates_to")
BACKWARD: dict[str, str] = {"superseded_by": "supersedes", "amended_by": "amends", "refuted_by": "refutes"}
SOURCES: tuple[str, ...] = ("path", "url", "commit", "transcript")
VERDICTS: tuple[str, ...] = ("contradicts", "duplicates", "compatible", "resolved")
"""What a finding's `conflict` may say of the two records that it names."""
_ONLY_FOR: dict[str, tuple[str, ...]] = {
    "accepted": ("decision", "adr", "finding"),
    "verified": ("fact", "finding"),
    "unverified": ("fact", "finding"),
    "rejected": ("decision", "adr"),
}
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_TEXT_KEYS = tuple(
    "id kind title status date body context decision consequences trust workspace valid_until format status_raw".split()
)
_LIST_KEYS = ("tags", "paths", *FORWARD, *BACKWARD)
KNOWN_KEYS: tuple[str, ...] = (*_TEXT_KEYS, *_LIST_KEYS, "source", "proposed_by", "seen_again", "conflict")


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding of `check`. ``fatal`` means that the file could not be read as a record at all."""

    line: int
    reason: str
    fix: str
    level: Literal["error", "warning"] = "error"
    fatal: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """A record as its file says it; the effective status is worked out over the snapshot (seed.lifecycle).

    ``status`` is the normalised word of `STATUSES` ("unknown" for anything else), ``status_text`` what was typed.
    ``relations`` are (type, target id) pairs, backward ones included under their own names.
    """

    id: str
    kind: str
    title: str
    status: str
    status_text: str = ""
    date: str = ""
    body: str = ""
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    trust: str = ""
    source: tuple[dict[str, str], ...] = ()
    relations: tuple[tuple[str, str], ...] = ()
    workspace: str = ""
    valid_until: str = ""
    proposed_by: dict[str, str] = field(default_factory=dict)
    extra: dict[str, object] = field(default_factory=dict)

    def related(self, relation: str) -> tuple[str, ...]:
        """Return the ids this record names under ``relation``."""
        return tuple(target for kind, target in self.relations if kind == relation)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one file gave: a record, or None when it is unreadable, and every problem found."""

    record: Record | None
    problems: tuple[Problem, ...] = ()


def valid_id(text: str) -> bool:
    """Tell whether ``text`` may be an id (it also has to serve as a branch and a file name)."""
    return bool(_ID.fullmatch(text)) and ".." not in text and not text.endswith((".", ".lock"))


def fits(status: str, kind: str) -> bool:
    """Tell whether a kind can have a status."""
    return kind in _ONLY_FOR.get(status, KINDS)


def normal_status(text: str, kind: str) -> str:
    """Return the status word for a typed text; "unknown" for a missing, unheard-of or unfitting one."""
    word = text.strip().casefold()
    if word == "draft":
        word = "proposed"
    if word not in STATUSES or not fits(word, kind):
        return "unknown"
    return word


def parse_day(text: str) -> date | None:
    """Return the UTC calendar day of an ISO 8601 date or date-time, or None when it is not one."""
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            return date.fromisoformat(text)
        moment = datetime.fromisoformat(text.strip())
        return (moment.astimezone(UTC) if moment.tzinfo is not None else moment).date()
    except (ValueError, OverflowError):  # a day of the year 0 or 10000 in UTC
        return None


def is_verdict(value: object) -> bool:
    """Tell whether a `conflict` is a verdict: one of `VERDICTS`, between two records, each with id and blob."""
    if not isinstance(value, dict) or value.get("relation") not in VERDICTS:
        return False
    between = value.get("between")
    if not isinstance(between, list) or len(between) != 2:  # noqa: PLR2004 - a pair
        return False
    return all(isinstance(side, dict) and side.get("id") and side.get("blob") for side in between)
