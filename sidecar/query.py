"""One question as asked: its text, other phrasings and filters. Pure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, time
from typing import Any

from seed.errors import SidecarError
from seed.record import KINDS, STATUSES, TRUSTS, parse_day
from seed.text import fold, is_cjk

IN_FORCE = ("accepted", "verified", "unverified")
"""What answers by default; kind `history` never does."""
MAX_LIMIT = 50
MAX_QUESTION = 4000
MAX_PATHS = 50


@dataclass(frozen=True, slots=True)
class Query:
    """The arguments of every reading surface. Empty tuples and texts mean "no filter".

    ``path`` is a filter. ``paths`` bring in what speaks of them: a question's answer also has those records, and a
    listing has only those. ``since`` is a revision: only records that were added or changed after it.
    """

    question: str = ""
    also: tuple[str, ...] = ()
    limit: int = 5
    cursor: str = ""
    kinds: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    path: str = ""
    workspace: str = ""
    trust: str = ""
    after: str = ""
    before: str = ""
    listing: bool = False
    paths: tuple[str, ...] = ()
    since: str = ""

    @property
    def phrasings(self) -> tuple[str, ...]:
        """Return the question and its other phrasings, each once, without empty ones."""
        return tuple(dict.fromkeys(t for t in (self.question, *self.also) if t.strip()))

    @property
    def every_status(self) -> bool:
        """Tell whether every status was asked for."""
        return "all" in self.statuses


def checked(query: Query) -> Query:
    """Return the query in normal form. Raises `SidecarError` naming the argument that cannot be meant."""
    query = _sendable(query)
    if not 1 <= query.limit <= MAX_LIMIT:
        raise SidecarError(f"limit {query.limit} is out of range", f"use 1 to {MAX_LIMIT}, and the cursor for more")
    if not query.phrasings and replace(query, question="", also=()) == Query(limit=query.limit, cursor=query.cursor):
        raise SidecarError("nothing is asked", "give a question, or a filter to list what passes it")
    for text in query.phrasings:
        if len(text) > MAX_QUESTION:
            raise SidecarError(f"the question has {len(text)} characters", f"ask in at most {MAX_QUESTION}")
    paths = tuple(dict.fromkeys(p for p in map(_path, query.paths) if p))
    if len(paths) > MAX_PATHS:
        raise SidecarError(f"{len(paths)} paths are too many", f"name at most {MAX_PATHS}, or the folder they share")
    statuses = tuple("proposed" if s == "draft" else s for s in _words(query.statuses))
    _known("kind", kinds := _words(query.kinds), KINDS)
    _known("status", statuses, (*STATUSES, "all"))
    _known("trust", trust := _words((query.trust,) if query.trust else ()), TRUSTS)
    for name, text in (("after", query.after), ("before", query.before)):
        if text.strip() and parse_day(text.strip()) is None:
            raise SidecarError(f"{name} {text!r} is not an ISO 8601 date", "write YYYY-MM-DD")
    return replace(
        query,
        question=query.question.strip(),
        also=tuple(text.strip() for text in query.also),
        kinds=kinds,
        statuses=statuses,
        trust=trust[0] if trust else "",
        path=_path(query.path),
        paths=paths,
        since=query.since.strip(),
        after=query.after.strip(),
        before=query.before.strip(),
    )


def _words(values: tuple[str, ...]) -> tuple[str, ...]:
    parts = [word.strip().casefold() for value in values for word in value.split(",")]
    return tuple(dict.fromkeys(word for word in parts if word))


def _known(name: str, values: tuple[str, ...], allowed: tuple[str, ...]) -> None:
    for value in values:
        if value not in allowed:
            raise SidecarError(f"{name} {value!r} is not known", f"use {', '.join(allowed)}")


def _sendable(query: Query) -> Query:
    """Return the query with lone surrogates as '?': no text that holds one can be hashed, sent or looked up."""
    plain: dict[str, Any] = {}
    for one in fields(query):
        value = getattr(query, one.name)
        if isinstance(value, str):
            plain[one.name] = value.encode("utf-8", "replace").decode()
        elif isinstance(value, tuple):
            plain[one.name] = tuple(text.encode("utf-8", "replace").decode() for text in value)
    return replace(query, **plain)


def _path(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip().replace("\\", "/").removeprefix("./")).rstrip("/")


def by_default(status: str, kind: str) -> bool:
    """Tell whether a record of this effective status and kind answers when nothing else is asked for."""
    return status in IN_FORCE and kind != "history"


def status_admits(query: Query, status: str, kind: str) -> bool:
    """Tell whether the query's statuses let a record into the results; rejected ones only by their own name."""
    if query.every_status:
        return query.listing or not query.phrasings or status != "rejected"
    if query.statuses:
        return status in query.statuses
    return by_default(status, kind)


def same_path(asked: str, held: str) -> bool:
    """Tell whether a record's path is the asked one, lies below it, or is a folder above it."""
    held = held.rstrip("/")
    return held == asked or held.startswith(asked + "/") or asked.startswith(held + "/")


_SCRIPT = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]+")


def tag_tokens(tag: str) -> list[str]:
    """Return the whole tokens of a tag: split at spaces, commas, slashes and script changes, versions without v."""
    found = []
    for piece in re.split(r"[\s,/:;#]+", fold(tag)):
        found += [re.sub(r"^v(?=\d)", "", part) for part in _SCRIPT.findall(piece)]
    return [token for token in found if token]


def has_tag(tags: tuple[str, ...], asked: str) -> bool:
    """Tell whether a tag is held: as a label, as whole tokens, or for CJK by prefix or suffix."""
    wanted = tag_tokens(asked)
    for tag in tags:
        tokens = tag_tokens(tag)
        if wanted and all(any(_token_hit(w, t) for t in tokens) for w in wanted):
            return True
    return False


def _token_hit(wanted: str, held: str) -> bool:
    return wanted == held or (is_cjk(wanted) and (held.startswith(wanted) or held.endswith(wanted)))


def in_period(text: str, after: str, before: str) -> bool:
    """Tell whether a record's date lies in a period, both ends included; a day means the whole day, UTC."""
    if not after and not before:
        return True
    moment = _moment(text, end=False)
    if moment is None:
        return False
    start, stop = _moment(after, end=False), _moment(before, end=True)
    last = _moment(text, end=True) or moment
    return (start is None or last >= start) and (stop is None or moment <= stop)


def _moment(text: str, *, end: bool) -> datetime | None:
    if not text:
        return None
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        return datetime.combine(date.fromisoformat(text), time.max if end else time.min, tzinfo=UTC)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
