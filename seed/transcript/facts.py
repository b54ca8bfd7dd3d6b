"""What a turn says, whichever agent wrote it: role, blocks, links to other turns, and compactions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seed.transcript.spans import JsonPath

# A longer line is kept, counted and read back like any other, but not parsed: parsing 50 MB of JSON
# takes several times that in memory.
PARSED_BYTES = 8 << 20

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ref:
    """A text and the value of the row it was read from."""

    text: str = ""
    at: JsonPath = ()

    def __bool__(self) -> bool:
        return bool(self.text)


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a turn. ``kind`` is text, thinking, call, result, image or other.

    ``text`` is what the program meant: strings as they are, without the row's escaping. ``at`` is the
    value it rests on; for a call that is its arguments, which ``arguments`` holds with their types.
    """

    kind: str
    text: str
    at: JsonPath
    call: Ref = Ref()
    name: str = ""
    arguments: object = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Compaction:
    """A row of a compaction. ``phase`` is start, summary, end; whole when one row is all; or replace.

    What it hides: ``seqs`` (the host's numbers), ``interval`` (first and last of them, inclusive), or
    ``everything`` visible before it, except the rows from id ``kept_from`` to id ``kept_to`` and the
    prompts in ``kept_texts``. ``replace`` is a row that takes the place of others, without a compaction.
    """

    phase: str
    id: str = ""
    seqs: tuple[int, ...] = ()
    interval: tuple[int, int] | None = None
    everything: bool = False
    kept_from: str = ""
    kept_to: str = ""
    kept_texts: frozenset[str] = frozenset()
    error: str = ""
    trigger: str = ""
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Facts:
    """What one row says. ``visible`` is whether the model sees it, as far as its format tells (else None).

    ``message`` is the id of the API message: rows that share it are one message.
    """

    type: str = ""
    role: str = ""
    blocks: tuple[Block, ...] = ()
    id: Ref = Ref()
    parent: Ref = Ref()
    answers: Ref = Ref()  # the row whose tool call this answers, where the host names rows, not calls
    message: str = ""
    timestamp: str = ""
    cwd: str = ""
    session: str = ""
    agent: str = ""
    seq: int | None = None
    visible: bool | None = None
    sidechain: bool = False
    compaction: Compaction | None = None


def parse_row(raw: bytes) -> Row | None:
    """Return the line as a JSON object, or None when it is broken, no object, or too long to parse."""
    if len(raw) > PARSED_BYTES:
        return None
    try:
        row = json.loads(raw.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def text(value: object) -> str:
    """Return a string as it is, nothing for what is no string."""
    return value if isinstance(value, str) else ""


def mapping(value: object) -> Row:
    """Return an object as it is, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def ref(row: Row, *at: str) -> Ref:
    """Return the text at a path of the row, with that path."""
    value: object = row
    for key in at:
        value = mapping(value).get(key)
    return Ref(text(value), at)


def number(value: object) -> int | None:
    """Return an integer (also one written as a float or as digits), None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:  # noqa: PLR2004  # 64 bits
        return int(value)
    return value if isinstance(value, int) else None
