"""Pages and documents that the sidecar exported, read back to the records they were written from. Pure.

A page is Markdown with YAML front matter whose key ``sidecar`` says how it was written. What stands between
``OPEN`` and ``CLOSE`` was made for readers and is not read. An edited page is read as edited.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seed.errors import SidecarError
from seed.importers import status as wording
from seed.reader import as_text
from seed.record import STATUSES
from seed.yamltext import YamlFaultError, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

KEY = "sidecar"
FORMAT = "1"
OPEN = "<!-- sidecar: for readers, not read back -->"
CLOSE = "<!-- /sidecar -->"
PARTS: Mapping[str, str] = {
    "body": "",
    "context": "## Context and Problem Statement",
    "decision": "## Decision Outcome",
    "consequences": "### Consequences",
}
"""The texts of a record in the order in which a page has them, each with the heading above it."""
MADR: Mapping[str, str] = {
    "## Context": PARTS["context"],
    "## Decision": PARTS["decision"],
    "## Consequences": PARTS["consequences"],
    "## Alternatives": "## Considered Options",
}
"""Headings of a body, and what MADR calls them."""
_OKF = {"draft": "proposed", "deprecated": "deprecated", "stable": ""}


@dataclass(frozen=True, slots=True)
class Kept:
    """One record as something outside kept it.

    ``data`` are its keys with texts as leaves, ``path`` the file it had ("" if that is not said), ``effective`` its
    status when it was exported ("" if that is not said), ``where`` the place it was read from.
    """

    data: dict[str, object]
    where: str
    path: str = ""
    effective: str = ""
    decided: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def split(text: str) -> tuple[str, str]:
    """Return (front matter, what follows it) of a page with LF line ends; no front matter is ""."""
    if not text.startswith("---\n"):
        return "", text
    end = text.find("\n---\n", 3)
    return (text[4 : end + 1], text[end + 5 :]) if end >= 0 else ("", text)


def unix(text: str) -> str:
    """Return a page without byte order mark; one whose every line was converted to CRLF gets its LF back."""
    plain = text.removeprefix("\ufeff")
    return plain.replace("\r\n", "\n") if plain.startswith("---\r\n") else plain


def read_page(text: str, where: str) -> Kept | None:
    """Read a page; None for one that no export wrote.

    Raises SidecarError for a page of ours that can no longer be read.
    """
    front, rest = split(unix(text))
    try:
        values = parse(front.encode()).data if front else {}
    except (YamlFaultError, UnicodeEncodeError) as fault:
        if f"\n{KEY}:" not in f"\n{front}":
            return None
        line = fault.line + 1 if isinstance(fault, YamlFaultError) else 1
        raise SidecarError(f"{where}:{line}: its front matter cannot be read", "restore it from the export") from None
    block = values.pop(KEY, None)
    if not isinstance(block, dict):
        return None
    if block.get("format") != FORMAT:
        raise SidecarError(f"{where}: format {block.get('format')!r} is not known here", "update the sidecar")
    if isinstance(whole := block.get("record"), str):
        return _whole(whole, block, rest, where)
    shown = values.pop("status", "")
    fields = block.get("fields", values)
    data: dict[str, object] = {**(fields if isinstance(fields, dict) else {}), **_texts(rest, block)}
    doubts = _status(data, block, shown)
    return Kept(data, where, str(block.get("path", "")), str(block.get("effective", "")), (), doubts)


def _whole(whole: str, block: Mapping[str, object], rest: str, where: str) -> Kept:
    """Read a page whose text cannot hold its record exactly: the front matter holds all of it."""
    try:
        data = json.loads(whole)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise SidecarError(f"{where}: the record in its front matter cannot be read", "restore it from the export")
    edited = digest(rest) != block.get("page")
    doubts = ("the page was edited, and the record in its front matter taken: edit that",) if edited else ()
    return Kept(data, where, str(block.get("path", "")), str(block.get("effective", "")), (), doubts)


def digest(rest: str) -> str:
    """Return what tells whether the text of a page was edited."""
    return hashlib.sha256(rest.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _status(data: dict[str, object], block: Mapping[str, object], shown: object) -> tuple[str, ...]:
    """Put the status in: the record's own, or what a person has made of the one shown. Nothing comes back in force."""
    if "status" in block:
        data["status"] = block["status"]
    was = block.get("shown", "")
    if shown == was:
        return ()
    text = str(shown)
    word = text.strip().casefold()
    okf = "fields" in block
    said = _OKF[word] if okf and word in _OKF else word if word in STATUSES else wording.read(text).status
    if said or not okf:
        data["status"] = said or "unknown"
    return (f"the status was edited from {str(was)[:60]!r} to {text[:60]!r}: read as {data.get('status', '')!r}",)


def _texts(rest: str, block: Mapping[str, object]) -> dict[str, object]:
    """Return title and parts of a page below its front matter."""
    found: dict[str, object] = {}
    body = rest.removeprefix("\n")
    if body.startswith("# "):
        heading, _, body = body[2:].partition("\n")
        body = body.removeprefix("\n")
        if block.get("title") == "heading":
            found["title"] = heading
    body = _without_made(body)
    names, chomped = _names(block, "parts"), _names(block, "chomp")
    back = {new: old for old, new in MADR.items()} if "headings" in block else {}
    for name, piece in _pieces(body, names).items():
        found[name] = rename(piece.removesuffix("\n") if name in chomped else piece, back)
    return found


def _names(block: Mapping[str, object], key: str) -> list[str]:
    value = block.get(key, [])
    return [str(item) for item in value] if isinstance(value, list) else []


def _without_made(body: str) -> str:
    """Take away the block in front of the texts and the one behind them."""
    if body.startswith(OPEN) and (end := body.find(f"{CLOSE}\n")) >= 0:
        body = body[end + len(CLOSE) + 1 :].removeprefix("\n")
    start = body.rfind(f"\n{OPEN}\n")
    return body[:start] if start >= 0 and body.rstrip().endswith(CLOSE) else body


def _pieces(body: str, names: Sequence[str]) -> dict[str, str]:
    """Cut a text at the headings of its parts; a part whose heading is gone is none."""
    starts: list[tuple[str, int, int]] = []
    at = 0
    for name in names:
        lead = f"{PARTS[name]}\n\n" if PARTS.get(name) else ""
        begin = 0 if body.startswith(lead) and not at else body.find(f"\n{lead}", max(at - 1, 0)) + 1
        if begin or not at:
            starts.append((name, begin, begin + len(lead)))
            at = begin + len(lead)
    ends = [*(begin - 1 for _, begin, _ in starts[1:]), len(body)] if starts else []
    return {name: body[start:end] for (name, _, start), end in zip(starts, ends, strict=True)}


def rename(text: str, headings: Mapping[str, str]) -> str:
    """Return a text with the lines that are these headings replaced."""
    return "\n".join(headings.get(line, line) for line in text.split("\n"))


def read_json(text: str, where: str) -> Iterator[Kept | SidecarError]:
    """Read an export as JSON, or JSON lines of it or of plain records; an entry that is none comes as an error."""
    try:
        document = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, dict) and isinstance(document.get("records"), list):
        if str(document.get("format", FORMAT)) != FORMAT:
            raise SidecarError(f"{where}: format {document['format']!r} is not known here", "update the sidecar")
        yield from (_entry(entry, f"{where}, record {n}") for n, entry in enumerate(document["records"], 1))
        return
    if isinstance(document, list):
        yield from (_entry(entry, f"{where}, record {n}") for n, entry in enumerate(document, 1))
        return
    for n, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if line.strip():
            yield _line(line, f"{where}, line {n}")


def _line(line: str, where: str) -> Kept | SidecarError:
    try:
        return _entry(json.loads(line), where)
    except (ValueError, RecursionError):
        return SidecarError(f"{where} is no JSON", "write one object a line")


def _entry(entry: object, where: str) -> Kept | SidecarError:
    if not isinstance(entry, dict):
        return SidecarError(f"{where} is no object", "write a record as an object")
    inner = entry.get("record")
    if isinstance(inner, dict):
        data, effective = inner, str(entry.get("status", ""))
        return Kept({str(k): as_text(v) for k, v in data.items()}, where, str(entry.get("path", "")), effective)
    plain = {str(k): as_text(v) for k, v in entry.items() if v not in (None, "", [], {})}
    return Kept(plain, where)
