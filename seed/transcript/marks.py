"""A mark: the little of each turn that the ledger, the anchors and the candidates need."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seed.transcript import paths, signals, spans
from seed.transcript.facts import Compaction, Facts, parse_row
from seed.transcript.formats import facts_of
from seed.transcript.formats.blocks import output

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from seed.transcript.facts import Block

BROKEN = "broken"
# A longer result that is not marked as failed is a file that was read, not a report of a failure.
REPORT_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Mark:
    """One turn in short. ``visible`` is None where its format leaves that to the ledger."""

    ordinal: int
    type: str = BROKEN
    role: str = ""
    seq: int | None = None
    visible: bool | None = False
    sidechain: bool = False
    id: str = ""
    message: str = ""
    compaction: Compaction | None = None
    calls: tuple[tuple[str, str], ...] = ()  # (call id, tool's name)
    writes: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    prompt: int = 0  # the hash of what a user said; 0 for nothing
    decision: str = ""
    failure: str = ""


def marks(lines: Iterable[tuple[int, bytes]], form: str, root: str = "") -> Iterator[Mark]:
    """Yield the mark of every turn of a session given as (ordinal, bytes); a broken line has one too."""
    for ordinal, raw in lines:
        row = parse_row(raw)
        yield Mark(ordinal) if row is None else _mark(ordinal, raw, facts_of(form, row), root)


def _mark(ordinal: int, raw: bytes, facts: Facts, root: str) -> Mark:
    blocks, base = facts.blocks, root or facts.cwd
    calls = [block for block in blocks if block.kind == "call"]
    written = [paths.relative(path, base) for call in calls for path in paths.written(call)]
    said = "\n".join(block.text for block in blocks if block.kind == "text")
    return Mark(
        ordinal=ordinal,
        type=sys.intern(facts.type),  # a session has few types and roles, and many rows
        role=sys.intern(facts.role),
        seq=facts.seq,
        visible=facts.visible,
        sidechain=facts.sidechain,
        id=facts.id.text,
        message=facts.message,
        compaction=facts.compaction,
        calls=tuple((block.call.text, block.name) for block in calls),
        writes=tuple(dict.fromkeys(written)),
        mentions=tuple(_mentioned(raw, blocks, base)),
        prompt=hash(said) if said and facts.role == "user" else 0,
        decision=signals.decision(said) if facts.role in {"user", "assistant"} else "",
        failure=next(filter(None, map(_failure, blocks)), ""),
    )


def _mentioned(raw: bytes, blocks: tuple[Block, ...], base: str) -> Iterator[str]:
    wanted = {block.at for block in blocks if block.kind not in {"image", "thinking"}}
    at = spans.locate(raw, wanted) if wanted else {}
    found = [mention for start, end in at.values() for mention in paths.mentions(raw, start, end)]
    yield from dict.fromkeys(paths.relative(mention.path, base) for mention in found)


def _failure(block: Block) -> str:
    if block.kind != "result":
        return ""
    text = output(block.text)
    said = signals.failure(text) if block.failed or len(text) < REPORT_CHARS else ""
    return said or (signals.first_line(text) if block.failed else "")
