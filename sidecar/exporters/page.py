"""One record as a Markdown page that a person can read and that reads back exactly. Pure.

What is written is read back at once. Where the nice form would lose anything (a title with a line break, a body
that holds our own marks) the front matter keeps the whole record beside the page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from seed.edit import write as yaml_text
from seed.errors import SidecarError
from seed.importers.exchange import CLOSE, FORMAT, KEY, MADR, OPEN, PARTS, digest, read_page, rename
from sidecar.exporters.collect import Item, Tie, relative
from sidecar.quote import one_line

ENDING = ".md"
_SPECIAL = re.compile(r"([\\\[\]<>*_`#|])")
_RETIRING = ("superseded_by", "refuted_by")
_SAID: Mapping[str, str] = {
    "superseded": "Superseded: this no longer holds.",
    "refuted": "Refuted: this has turned out to be wrong.",
    "deprecated": "Deprecated: do not follow this any more.",
    "historical": "Historical: this held once.",
    "rejected": "Rejected: this was decided against.",
    "proposed": "Proposed: nothing is decided yet.",
    "candidate": "Candidate: proposed by an agent, reviewed by nobody.",
    "unknown": "Status unknown: do not rely on this.",
    "unverified": "Unverified: nobody has confirmed this.",
}
RELATION_WORDS: Mapping[str, str] = {
    "supersedes": "Supersedes",
    "superseded_by": "Superseded by",
    "amends": "Amends",
    "amended_by": "Amended by",
    "refutes": "Refutes",
    "refuted_by": "Refuted by",
    "replies_to": "Replies to",
    "relates_to": "Relates to",
}


@dataclass(frozen=True, slots=True)
class Look:
    """How a format's pages look: keys in front that are for readers, and whether the record's keys stand below ours.

    ``madr`` calls the headings of the text as MADR does.
    """

    front: Mapping[str, object]
    nested: bool = False
    madr: bool = False
    root: bool = False


def page(item: Item, look: Look) -> str:
    """Return the page of a record. Raises `SidecarError` for one whose characters no YAML can keep."""
    text = _written(item, look, _fields(item))
    kept = _read(text, item)
    if kept is None or kept != item.data:
        text = _written(item, look, None)
        if _read(text, item) != item.data:
            raise SidecarError(f"{item.path} cannot be kept in Markdown", "export it as JSON")
    return text


def _read(text: str, item: Item) -> dict[str, object] | None:
    try:
        kept = read_page(text, item.path)
    except SidecarError:
        return None
    return kept.data if kept and not kept.doubts and kept.path == item.path else None


def _fields(item: Item) -> dict[str, object]:
    """Return what stands in front of a page: every key but the status and those whose text is the page's own."""
    title = item.data.get("title")
    shown = {"status", *(name for name in PARTS if isinstance(item.data.get(name), str))}
    return {k: v for k, v in item.data.items() if k not in shown and not (k == "title" and title == _heading(item))}


def _heading(item: Item) -> str:
    return one_line(item.record.title)


def _written(item: Item, look: Look, fields: dict[str, object] | None) -> str:
    texts = {name: str(item.data[name]) for name in PARTS if isinstance(item.data.get(name), str)}
    if fields is None and not texts:
        texts = {"body": item.record.body}
    chomp = [name for name, text in texts.items() if not text.endswith("\n")]
    body = "\n".join(_part(name, text + ("\n" if name in chomp else "")) for name, text in texts.items())
    renamed = rename(body, MADR) if look.madr else body
    banner, links = _block(_banner(item, look)), _block(_links(item, look))
    rest = "\n".join(["", f"# {_heading(item)}", "", *([banner] if banner else []), renamed])
    rest += f"\n{links}" if links else ""
    shown = look.front.get("status", "")
    block: dict[str, object] = {"format": FORMAT, "path": item.path, "effective": item.status, "shown": shown}
    if fields is None:
        return _front(look.front, {**block, "record": json.dumps(item.data), "page": digest(rest)}) + rest
    block |= {"status": item.data["status"]} if "status" in item.data else {}
    block |= {"title": "heading"} if "title" in item.data and "title" not in fields else {}
    block |= {"parts": list(texts)} if texts else {}
    block |= {"chomp": chomp} if chomp else {}
    block |= {"headings": "madr"} if renamed != body else {}
    if look.nested:
        return _front(look.front, {**block, "fields": fields}) + rest
    if KEY in fields:
        return ""
    return _front({**look.front, **fields}, block) + rest


def _part(name: str, text: str) -> str:
    return f"{PARTS[name]}\n\n{text}" if PARTS[name] else text


def _front(front: Mapping[str, object], block: Mapping[str, object]) -> str:
    return f"---\n{yaml_text({**front, KEY: dict(block)})}---\n"


def _block(lines: list[str]) -> str:
    return "\n".join([OPEN, *lines, CLOSE, ""]) if lines else ""


def _banner(item: Item, look: Look) -> list[str]:
    """Say above the text what the record is worth, and where to go on: an overturned one never looks current."""
    said = _SAID.get(item.status) or ("" if item.in_force else _SAID["historical"])
    if not said:
        return []
    after = [f"{RELATION_WORDS[tie.relation]} {link(item, tie, look)}." for tie in item.tied(*_RETIRING)]
    return [f"> **{said}** {' '.join(after)}".rstrip()]


def _links(item: Item, look: Look) -> list[str]:
    ties = item.tied(*RELATION_WORDS)
    if not ties:
        return []
    lines = [f"* {RELATION_WORDS[tie.relation]} {link(item, tie, look)} ({tie.status})" for tie in ties]
    return ["## More Information" if look.madr else "## Relations", "", *lines]


def link(item: Item, tie: Tie, look: Look) -> str:
    """Return a tie as a Markdown link; a record that is not in the export is named by its id."""
    text = escaped(f"{tie.id}: {tie.title}" if tie.title else tie.id)
    if not tie.name:
        return text
    from urllib.parse import quote

    target = f"/{quote(tie.name + ENDING)}" if look.root else relative(item.name, tie.name, ENDING)
    return f"[{text}]({target})"


def escaped(text: str, limit: int = 160) -> str:
    """Return a text on one line that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", one_line(text, limit))
