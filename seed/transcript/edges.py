"""The typed edges of one session: what each joins, and the bytes it rests on. Never a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from seed.transcript import paths, spans
from seed.transcript.facts import Facts, parse_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from seed.transcript.facts import Ref
    from seed.transcript.spans import JsonPath

REPLIES_TO = "replies-to"
TOOL_RESULT_OF = "tool-result-of"
MENTIONS_PATH = "mentions-path"
KINDS = (REPLIES_TO, TOOL_RESULT_OF, MENTIONS_PATH)


@dataclass(frozen=True, slots=True)
class Edge:
    """From the turn ``source`` to a turn (ordinal) or a path; its basis is those bytes of the source."""

    kind: str
    source: int
    target: int | str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Pending:
    """A link whose other end is looked up once the whole session is known: the end may come later."""

    kind: str
    source: int
    key: str
    start: int
    end: int


class _Targets:
    """Where an id stands. An id can come twice: a link means the nearest row before it, else the first."""

    def __init__(self) -> None:
        self._rows: dict[str, list[int]] = {}

    def add(self, key: str, ordinal: int) -> None:
        self._rows.setdefault(key, []).append(ordinal)

    def find(self, key: str, source: int) -> int | None:
        rows = [row for row in self._rows.get(key, ()) if row != source]
        return next((row for row in reversed(rows) if row < source), rows[0] if rows else None)


def edges(lines: Iterable[tuple[int, bytes]], form: str, root: str = "") -> Iterator[Edge]:
    """Yield the edges of a session given as (ordinal, bytes of the turn), in the order of their sources.

    ``form`` is the session's format, ``root`` the folder its paths are told relative to. A link to a
    row that the session does not have is no edge.
    """
    from seed.transcript.formats import facts_of  # a question needs the names of the relations and no format

    ids, calls = _Targets(), _Targets()
    waiting: set[str] = set()  # calls that are asked and not answered: asking again is an echo of the first
    found: list[Edge | _Pending] = []
    for ordinal, raw in lines:
        row = parse_row(raw)
        if row is None:
            continue
        facts = facts_of(form, row)
        if facts.id:
            ids.add(facts.id.text, ordinal)
        for block in facts.blocks:
            key = block.call.text
            if block.kind == "call" and key and key not in waiting:
                waiting.add(key)
                calls.add(key, ordinal)
            elif block.kind == "result":
                waiting.discard(key)
        found += _of_turn(ordinal, raw, facts, root)
    for one in found:
        if isinstance(one, Edge):
            yield one
            continue
        target = (calls if one.kind == TOOL_RESULT_OF else ids).find(one.key, one.source)
        if target is not None:
            kind = TOOL_RESULT_OF if one.kind == _ANSWERS else one.kind
            yield Edge(kind, one.source, target, one.start, one.end)


_ANSWERS = "answers"  # a tool's result that names the row it answers, not the call


def _of_turn(ordinal: int, raw: bytes, facts: Facts, root: str) -> Iterator[Edge | _Pending]:
    links = [(REPLIES_TO, facts.parent)] if facts.parent else []
    results = [block for block in facts.blocks if block.kind == "result"]
    links += [(TOOL_RESULT_OF, block.call) for block in results if block.call]
    if facts.answers and results and not any(block.call for block in results):
        links.append((_ANSWERS, facts.answers))
    wanted = {link.at for _, link in links} | {block.at for block in facts.blocks}
    at = spans.locate(raw, wanted) if wanted else {}
    yield from _links(ordinal, links, at)
    yield from _paths(ordinal, raw, facts, at, root)


def _links(ordinal: int, links: list[tuple[str, Ref]], at: dict[JsonPath, tuple[int, int]]) -> Iterator[_Pending]:
    for kind, link in links:
        if link.at in at:
            yield _Pending(kind, ordinal, link.text, *at[link.at])


def _paths(ordinal: int, raw: bytes, facts: Facts, at: dict[JsonPath, tuple[int, int]], root: str) -> Iterator[Edge]:
    seen: set[str] = set()
    for block in facts.blocks:
        if block.kind == "image" or block.at not in at:
            continue
        for mention in paths.mentions(raw, *at[block.at]):
            path = paths.relative(mention.path, root or facts.cwd)
            if path not in seen:
                seen.add(path)
                yield Edge(MENTIONS_PATH, ordinal, path, mention.start, mention.end)
