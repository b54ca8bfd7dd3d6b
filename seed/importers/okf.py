"""Concepts of an Open Knowledge Format bundle (0.1 and 0.2) that others wrote, to records. Pure.

OKF's "stable" says that a page is ready to be read, not that a decision was taken: such a decision's status is
unknown, and such a fact's unverified unless a person is named who verified it.
"""

from __future__ import annotations

import posixpath
import re
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from seed.errors import SidecarError
from seed.importers import exchange
from seed.importers import status as wording
from seed.importers.exchange import Kept, split, unix
from seed.importers.markdown import mask
from seed.importers.model import Skipped
from seed.importers.naming import clean
from seed.importers.notes import headline
from seed.record import KNOWN_KEYS, parse_day
from seed.yamltext import YamlFaultError, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

RESERVED = frozenset({"index.md", "log.md"})
_KINDS = (
    (re.compile(r"\badr\b|architect\w* decision|\brfc\b", re.IGNORECASE), "adr"),
    (re.compile(r"\bdecision", re.IGNORECASE), "decision"),
    (re.compile(r"\bfinding|\bobservation|\blesson|\bincident", re.IGNORECASE), "finding"),
    (re.compile(r"\bhistory\b|\bchangelog\b", re.IGNORECASE), "history"),
)
_WORDS = {"draft": "proposed", "deprecated": "deprecated"}
_TAKEN = frozenset(
    {"type", "title", "description", "resource", "tags", "status", "stale_after", "timestamp", "generated"}
)
_LINK = re.compile(r"\]\((/?[^)\s#:]+\.md)(?:#[^)]*)?\)")


def read_bundle(pages: Iterable[tuple[str, str]], *, prefix: str) -> Iterator[Kept | Skipped]:
    """Read the pages of a bundle, (path below its root, text); pages of our own exports come back exactly."""
    every = {path: text for path, text in pages if posixpath.basename(path) not in RESERVED}
    ids = _ids(every, prefix)
    for path, text in every.items():
        try:
            yield exchange.read_page(text, path) or _concept(path, text, ids)
        except SidecarError as error:
            yield Skipped(path, str(error))


def _ids(paths: Iterable[str], prefix: str) -> dict[str, str]:
    ids: dict[str, str] = {}
    taken: set[str] = set()
    for path in paths:
        name = clean(path.removesuffix(".md").replace("/", "-"))
        ident = f"{prefix}-{name}"[:120].rstrip("-._") if prefix else name[:120]
        while ident.casefold() in taken:
            ident += "_"
        taken.add(ident.casefold())
        ids[path] = ident
    return ids


def _concept(path: str, text: str, ids: Mapping[str, str]) -> Kept | Skipped:
    front, body = split(unix(text))
    try:
        values = parse(front.encode()).data if front else {}
    except (YamlFaultError, UnicodeEncodeError) as fault:
        reason = fault.reason if isinstance(fault, YamlFaultError) else "not UTF-8"
        return Skipped(path, f"its front matter cannot be read: {reason}")
    kind_text = _one(values.get("type"))
    if not kind_text:
        return Skipped(path, "no concept: its front matter has no type")
    kind = next((kind for form, kind in _KINDS if form.search(kind_text)), "fact")
    body = body.strip("\n") + "\n" if body.strip() else ""
    title = _one(values.get("title")) or headline(re.sub(r"^#+\s*", "", body) or path)
    status, doubts = _status(values, kind)
    data: dict[str, object] = {"id": ids[path], "kind": kind, "title": title, "status": status}
    data |= {"status_raw": _one(values["status"])} if _one(values.get("status")) else {}
    data |= _dates(values)
    tags = [tag for tag in _list(values.get("tags")) if tag]
    data |= {"tags": tags} if tags else {}
    data |= {"trust": "agent_generated"} if _by_agent(values) else {}
    resource = _one(values.get("resource"))
    data["source"] = [{"path": path}, *([{"url": resource}] if "://" in resource else [])]
    data |= {"relates_to": links} if (links := _links(path, body, ids)) else {}
    data |= _others(values)
    said = "\n\n".join(part for part in (_one(values.get("description")), body) if part)
    data |= {"body": said if said.endswith("\n") else f"{said}\n"} if said else {"body": f"{title}\n"}
    return Kept(data, path, "", "", (f"type {kind_text!r}",), tuple(doubts))


def _status(values: Mapping[str, object], kind: str) -> tuple[str, list[str]]:
    text = _one(values.get("status"))
    word = text.casefold()
    if word in _WORDS:
        return _WORDS[word], []
    if kind == "history":
        return "historical", []
    if word not in ("", "stable"):
        read = wording.read(text)
        known = read.status if read.status and (kind in ("decision", "adr") or read.status != "accepted") else "unknown"
        return known, [read.doubt] if read.doubt else []
    if kind in ("decision", "adr"):
        return "unknown", ["OKF says no more than that it can be read, not that it was decided: set its status"]
    verified = values.get("verified")
    events = verified if isinstance(verified, list) else [verified]
    people = [e for e in events if isinstance(e, dict) and str(e.get("by", "")).startswith("human:")]
    return ("verified" if people else "unverified"), []


def _dates(values: Mapping[str, object]) -> dict[str, object]:
    made = values.get("generated")
    at = _one(made.get("at")) if isinstance(made, dict) else _one(values.get("timestamp"))
    found: dict[str, object] = {}
    if day := parse_day(at):
        found["date"] = day.isoformat()
    if stale := parse_day(_one(values.get("stale_after"))):
        found["valid_until"] = (stale - timedelta(days=1)).isoformat()
    return found


def _by_agent(values: Mapping[str, object]) -> bool:
    made = values.get("generated")
    return isinstance(made, dict) and not str(made.get("by", "")).startswith("human:")


def _links(path: str, body: str, ids: Mapping[str, str]) -> list[str]:
    found: dict[str, None] = {}
    for line in mask(body.split("\n")):
        for match in _LINK.finditer(line):
            route = unquote(urlsplit(match[1]).path)
            target = posixpath.normpath(
                route.lstrip("/") if route.startswith("/") else posixpath.join(posixpath.dirname(path), route)
            )
            if target in ids and target != path:
                found[ids[target]] = None
    return list(found)


def _others(values: Mapping[str, object]) -> dict[str, object]:
    """Keep every key of others, under its own name, or ``okf_<name>`` where a record has one of that name."""
    said = _TAKEN - {"generated"} if "://" in _one(values.get("resource")) else _TAKEN - {"generated", "resource"}
    rest = {key: value for key, value in values.items() if key not in said}
    own = {*KNOWN_KEYS}
    return {f"okf_{key}" if key.casefold().replace("-", "_") in own else key: value for key, value in rest.items()}


def _one(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _list(value: object) -> list[str]:
    return [_one(item) for item in (value if isinstance(value, list) else str(value or "").split(","))]
