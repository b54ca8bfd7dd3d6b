"""Gemini: a head row, message rows, and ``$set`` patches of the head or of a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seed.transcript.facts import Block, Facts, Ref, Row, mapping, ref, text
from seed.transcript.formats.blocks import call, content, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seed.transcript.spans import JsonPath

NAME = "gemini"


def recognises(row: Row) -> bool:
    """Whether only Gemini writes such a row."""
    return "$set" in row or "projectHash" in row or row.get("type") == "gemini"


def facts(row: Row) -> Facts:
    """Read one row; a patch is read like the row it patches, so that no text in it is missed."""
    patched = isinstance(row.get("$set"), dict)
    body = mapping(row.get("$set")) if patched else row
    at: tuple[str, ...] = ("$set",) if patched else ()
    kind = text(body.get("type"))
    head = "projectHash" in body
    return Facts(
        type="$set" if patched else kind or ("session" if head else ""),
        role="assistant" if kind == "gemini" else kind,
        blocks=tuple(_blocks(body, at)),
        id=ref(row, "id"),
        message=text(body.get("id")),
        timestamp=text(body.get("timestamp")) or text(body.get("startTime")) or text(body.get("lastUpdated")),
        session=text(body.get("sessionId")),
        visible=kind in {"user", "gemini"},
    )


def _blocks(body: Row, at: tuple[str, ...]) -> Iterator[Block]:
    yield from content(body.get("content"), (*at, "content"))
    calls = body.get("toolCalls")
    for index, one in enumerate(calls if isinstance(calls, list) else []):
        where: JsonPath = (*at, "toolCalls", index)
        asked = call(mapping(one), where)
        yield asked
        if mapping(one).get("result") is not None:
            said = shown(_outputs(mapping(one)["result"]))
            failed = mapping(one).get("status") == "error"
            yield Block("result", said, (*where, "result"), Ref(asked.call.text, asked.call.at), failed=failed)


def _outputs(result: object) -> object:
    parts = result if isinstance(result, list) else [result]
    found = [mapping(mapping(mapping(part).get("functionResponse")).get("response")).get("output") for part in parts]
    return [one for one in found if one is not None] or result
