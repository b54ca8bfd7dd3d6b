"""What a store keeps of one file, in the shape that every engine shares. Pure."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass

from seed.passages import Passage
from seed.record import Problem, Record
from seed.snapshot import Cut, record_from_json, record_to_json
from seed.text import word_count


@dataclass(frozen=True, slots=True)
class Stored:
    """What the store holds of one blob: the record or None, problems, passages, and its words-only document."""

    record: Record | None
    problems: tuple[Problem, ...]
    cuts: tuple[Cut, ...] = ()
    lengths: tuple[int, ...] = ()
    title_pid: int = 0
    title_length: int = 0


@dataclass(frozen=True, slots=True)
class Unseen:
    """A freshly parsed blob on its way into the store, with the index terms of each of its documents."""

    oid: str
    record: Record | None
    problems: tuple[Problem, ...]
    passages: tuple[Passage, ...]
    passage_terms: tuple[Counter[str], ...]
    title: str
    title_terms: Counter[str]


@dataclass(frozen=True, slots=True)
class Document:
    """A text with an index of its words: a passage (named by its sha256), or a title with id, tags and paths."""

    sha: bytes
    text: str
    skip: int
    terms: Counter[str]


def documents(item: Unseen) -> list[Document]:
    """Return the documents of a blob: its passages in order, then its title where there is a record."""
    found = [Document(p.sha, p.text, p.skip, terms) for p, terms in zip(item.passages, item.passage_terms, strict=True)]
    if item.record is not None:
        sha = zlib.crc32(item.title.encode()).to_bytes(4, "big") + b"title" + item.title.encode()
        found.append(Document(sha, item.title, len(item.title), item.title_terms))
    return found


def to_json(item: Unseen, number: Callable[[Document], int]) -> str:
    """Return a blob as JSON; ``number`` gives the store's number of each document."""
    made = documents(item)
    pids = [number(document) for document in made]
    cuts = [
        [pid, passage.section, passage.start, passage.end, word_count(terms)]
        for pid, passage, terms in zip(pids, item.passages, item.passage_terms, strict=False)
    ]
    title = [0, 0] if item.record is None else [pids[-1], word_count(item.title_terms)]
    record = record_to_json(item.record) if item.record else None
    problems = [asdict(problem) for problem in item.problems]
    return json.dumps([record, problems, cuts, title], ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> Stored:
    """Return what `to_json` wrote."""
    record, problems, cuts, title = json.loads(text)
    return Stored(
        record=record_from_json(record) if record else None,
        problems=tuple(Problem(**p) for p in problems),
        cuts=tuple(Cut(*cut[:4]) for cut in cuts),
        lengths=tuple(cut[4] for cut in cuts),
        title_pid=title[0],
        title_length=title[1],
    )


def numbers(text: str) -> set[int]:
    """Return the numbers of the documents that a blob's JSON names."""
    _, _, cuts, title = json.loads(text)
    return {int(cut[0]) for cut in cuts} | ({int(title[0])} if title[0] else set())
