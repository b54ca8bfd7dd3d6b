"""What passes between the importer's steps: a document, its page, and what was decided about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Value = str | list[str] | list[dict[str, str]]
Record = dict[str, Value]
"""A record that an importer made of a document."""
Data = Mapping[str, object]
"""A record's keys with texts as leaves, whatever its shape."""


@dataclass(frozen=True, slots=True)
class Document:
    """One text file of the folder: ``path`` relative to it, in POSIX form; ``text`` with LF line ends.

    ``also``: paths of other files whose text is part of it.
    """

    path: str
    text: str
    doubt: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Field:
    """One thing a page says of itself, e.g. status: ``name`` in lower case, ``value`` as written."""

    name: str
    value: str
    where: str


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, list item or table row of prose, with the line it starts on (from 1)."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Page:
    """A document taken apart, whatever its format.

    ``title`` is the heading as written; ``fields`` come in the order in which they are trusted; ``links`` are
    the page's link definitions; ``blocks`` leave out code, comments and the lines that are fields.
    """

    path: str
    text: str
    title: str = ""
    fields: tuple[Field, ...] = ()
    headings: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    def named(self, *names: str) -> tuple[Field, ...]:
        """Return the fields with one of these names, most trusted first."""
        return tuple(f for f in self.fields if f.name in names)


@dataclass(frozen=True, slots=True)
class Imported:
    """One record: where it goes, its text, and in words what was decided from where, and what was not."""

    id: str
    source: str
    target: str
    record: Data
    text: str
    decided: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is no record, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of reading one folder; nothing has been written yet."""

    prefix: str
    into: str
    records: tuple[Imported, ...]
    skipped: tuple[Skipped, ...]
    notes: tuple[str, ...] = ()
