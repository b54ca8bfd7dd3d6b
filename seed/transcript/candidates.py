"""Places of a session that are worth a record, by rules: corrections, decisions, failures with their fix.

What the sidecar itself had answered is skipped, or its records would come back as new ones.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from seed.transcript import paths, signals, spans, turns
from seed.transcript.facts import Facts, parse_row
from seed.transcript.formats import facts_of
from seed.transcript.formats.blocks import output

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from seed.transcript.facts import Block
    from seed.transcript.signals import Span

CORRECTION, DECISION, FIX = "correction", "decision", "fix"
# Shorter statements are no proof that a text was taken over from an answer.
COPIED_CHARS = 24

_OWN_TOOL = re.compile(
    r"sidecar|^(?:recall|find_precedents|query_decisions|get_record|assemble_context)$|^context_",
    re.IGNORECASE,
)
_OWN_CALL = re.compile(r"(?:^|[\s\"';|&/])sidecar\s+(?:recall|show|list|why|graph|context|transcript|candidates)\b")
_OWN_TEXT = re.compile(r"\"verdict\":\s*\"(?:match|weak|none)\"|receipt\W{1,12}(?:id\W{1,6})?sha256:")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place: bytes ``start`` to ``end`` of the turn with this ``digest``; ``related`` turns belong to it.

    ``key`` is the same whenever the same bytes are found again, also in a grown or copied session.
    """

    kind: str
    turn: int
    start: int
    end: int
    digest: str
    quote: str
    paths: tuple[str, ...] = ()
    related: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        """Return what this candidate is known by."""
        return hashlib.sha256(f"{self.kind}\n{self.digest}\n{self.start}\n{self.end}".encode()).hexdigest()[:16]


@dataclass(slots=True)
class _Failure:
    candidate: Candidate
    call: str
    writes: list[int] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Walk:
    root: str
    own: list[str] = field(default_factory=list)  # what the sidecar answered, in one line each
    calls: dict[str, Block] = field(default_factory=dict)
    failures: list[_Failure] = field(default_factory=list)
    said: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Line:
    ordinal: int
    raw: bytes
    role: str

    def candidate(self, kind: str, span: Span, quote: str) -> Candidate:
        return Candidate(kind, self.ordinal, *span, turns.digest_of(self.raw), quote)


def candidates(lines: Iterable[tuple[int, bytes]], form: str, root: str = "") -> list[Candidate]:
    """Return the candidates of a session given as (ordinal, bytes of the turn), in the order of the turns."""
    walk = _Walk(root)
    found: dict[str, Candidate] = {}
    for ordinal, raw in lines:
        row = parse_row(raw)
        facts = facts_of(form, row) if row is not None else Facts()
        if facts.visible is False:  # an echo for the screen
            continue
        walk.root = walk.root or facts.cwd
        at = spans.locate(raw, {block.at for block in facts.blocks}) if facts.blocks else {}
        for block in facts.blocks:
            if block.at in at:
                line = _Line(ordinal, raw, facts.role)
                found |= {one.key: one for one in _of_block(walk, line, block, at[block.at])}
    return sorted(found.values(), key=lambda one: (one.turn, one.start))


def _of_block(walk: _Walk, line: _Line, block: Block, where: Span) -> Iterator[Candidate]:
    if block.kind == "call":
        walk.calls[block.call.text] = block
        written = [paths.relative(path, walk.root) for path in paths.written(block)]
        for failure in walk.failures if written else ():
            failure.writes.append(line.ordinal)
            failure.paths += written
    elif block.kind == "result":
        yield from _result(walk, line, block, where)
    elif block.kind == "text" and _OWN_TEXT.search(block.text):
        walk.own.append(_joined(block.text))
    elif block.kind == "text" and line.role in {"user", "assistant"}:
        yield from _statement(walk, line, block.text, where)


def _statement(walk: _Walk, line: _Line, text: str, where: Span) -> Iterator[Candidate]:
    user = line.role == "user"
    if user and signals.injected(text):
        return
    correction = signals.corrected(text) if user else None
    span = correction or signals.decided(text)
    if span is None or _copied(walk, text[slice(*span)]):
        return
    quote = signals.quoted(text, span)
    if quote not in walk.said:
        walk.said.add(quote)
        place = _bytes(line.raw, where, text[slice(*span)])
        yield line.candidate(CORRECTION if correction else DECISION, place, quote)


def _result(walk: _Walk, line: _Line, block: Block, where: Span) -> Iterator[Candidate]:
    """Note a failure, or yield those that this result shows to be fixed: the same call, now without one."""
    call = walk.calls.get(block.call.text)
    if _own(call, block):
        walk.own.append(_joined(block.text))
        return
    asked = f"{call.name}\n{call.text}" if call else ""
    text = output(block.text)
    span = signals.failed(text)
    if block.failed or (span and call and call.name.lower() in paths.SHELLS):
        place = _bytes(line.raw, where, text[slice(*span)]) if span else where
        quote = signals.quoted(text, span) or signals.first_line(text)
        if not any(one.call == asked for one in walk.failures):
            walk.failures.append(_Failure(line.candidate(FIX, place, quote), asked))
        return
    for one in [one for one in walk.failures if asked and one.call == asked]:
        walk.failures.remove(one)
        if one.writes:
            related = (*dict.fromkeys(one.writes), line.ordinal)
            yield replace(one.candidate, paths=tuple(dict.fromkeys(one.paths)), related=related)


def _own(call: Block | None, result: Block) -> bool:
    """Whether a result is an answer of the sidecar."""
    if call is not None and (_OWN_TOOL.search(call.name) or _OWN_CALL.search(call.text)):
        return True
    return bool(_OWN_TEXT.search(result.text))


def _copied(walk: _Walk, statement: str) -> bool:
    """Whether a statement only repeats what the sidecar had answered."""
    plain = _joined(statement)
    return len(plain) >= COPIED_CHARS and any(plain in answer for answer in walk.own)


def _joined(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.replace("\\n", " "))).casefold()


def _bytes(raw: bytes, where: Span, piece: str) -> Span:
    """Return the bytes of the line that hold ``piece`` as the row writes it, else the whole value."""
    for ascii_only in (False, True):
        written = piece
        for _ in range(2):  # once escaped, or twice: as a string in a string
            written = json.dumps(written, ensure_ascii=ascii_only)[1:-1]
            wanted = written.encode("utf-8", "surrogatepass")
            at = raw.find(wanted, *where)
            if at >= 0:
                return at, at + len(wanted)
    return where
