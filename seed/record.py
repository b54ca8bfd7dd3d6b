"""One record: the frozen dataclass, and how a file's bytes become it or a list of problems. Pure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Literal

from seed.yamltext import Document, YamlFaultError, parse

SCHEMA_VERSION = 1
"""Version of this parser: parsed records are cached by (blob, schema version)."""

Kind = Literal["decision", "adr", "fact", "finding", "history"]
KINDS: tuple[str, ...] = ("decision", "adr", "fact", "finding", "history")
STATUSES: tuple[str, ...] = (
    "accepted",
    "verified",
    "unverified",
    "rejected",
    "proposed",
    "candidate",
    "deprecated",
    "superseded",
    "refuted",
    "historical",
    "unknown",
)
TRUSTS: tuple[str, ...] = ("user_confirmed", "document_extracted", "agent_generated")
FORWARD: tuple[str, ...] = ("supersedes", "amends", "refutes", "replies_to", "relates_to")
BACKWARD: dict[str, str] = {"superseded_by": "supersedes", "amended_by": "amends", "refuted_by": "refutes"}
SOURCES: tuple[str, ...] = ("path", "url", "commit", "transcript")
_ONLY_FOR: dict[str, tuple[str, ...]] = {
    "accepted": ("decision", "adr", "finding"),
    "verified": ("fact", "finding"),
    "unverified": ("fact", "finding"),
    "rejected": ("decision", "adr"),
}
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_TEXT_KEYS = (
    "id",
    "kind",
    "title",
    "status",
    "date",
    "body",
    "context",
    "decision",
    "consequences",
    "trust",
    "workspace",
    "valid_until",
    "format",
    "status_raw",
)
_LIST_KEYS = ("tags", "paths", *FORWARD, *BACKWARD)
KNOWN_KEYS: tuple[str, ...] = (*_TEXT_KEYS, *_LIST_KEYS, "source", "proposed_by", "seen_again")


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding of `check`. ``fatal`` means that the file could not be read as a record at all."""

    line: int
    reason: str
    fix: str
    level: Literal["error", "warning"] = "error"
    fatal: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """A record as its file says it; the effective status is worked out over the snapshot (seed.lifecycle).

    ``status`` is the normalised word of `STATUSES` ("unknown" for anything else), ``status_text`` what was typed.
    ``relations`` are (type, target id) pairs, backward ones included under their own names.
    """

    id: str
    kind: str
    title: str
    status: str
    status_text: str = ""
    date: str = ""
    body: str = ""
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    trust: str = ""
    source: tuple[dict[str, str], ...] = ()
    relations: tuple[tuple[str, str], ...] = ()
    workspace: str = ""
    valid_until: str = ""
    proposed_by: dict[str, str] = field(default_factory=dict)
    extra: dict[str, object] = field(default_factory=dict)

    def related(self, relation: str) -> tuple[str, ...]:
        """Return the ids this record names under ``relation``."""
        return tuple(target for kind, target in self.relations if kind == relation)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one file gave: a record, or None when it is unreadable, and every problem found."""

    record: Record | None
    problems: tuple[Problem, ...] = ()


def valid_id(text: str) -> bool:
    """Tell whether ``text`` may be an id (it also has to serve as a branch and a file name)."""
    return bool(_ID.fullmatch(text)) and ".." not in text and not text.endswith((".", ".lock"))


def normal_status(text: str, kind: str) -> str:
    """Return the status word for a typed text; "unknown" for a missing, unheard-of or unfitting one."""
    word = text.strip().casefold()
    if word == "draft":
        word = "proposed"
    if word not in STATUSES or kind not in _ONLY_FOR.get(word, KINDS):
        return "unknown"
    return word


def parse_day(text: str) -> date | None:
    """Return the UTC calendar day of an ISO 8601 date or date-time, or None when it is not one."""
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            return date.fromisoformat(text)
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC)
    return moment.date()


def parse_record(data: bytes) -> Parsed:
    """Read one record file. Never raises: what is wrong comes back as problems."""
    try:
        document = parse(data)
    except YamlFaultError as fault:
        return Parsed(None, (Problem(fault.line, fault.reason, fault.fix, fatal=True),))
    return _Reader(document).read()


def build_record(data: dict[str, object]) -> Parsed:
    """Read a record from a mapping (an agent's proposal, an importer) under the same rules as from a file."""
    return _Reader(Document({str(k): _as_text(v) for k, v in data.items()}, {})).read()


def _as_text(value: object) -> object:
    if isinstance(value, dict):
        return {str(k): _as_text(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_text(v) for v in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


class _Reader:
    """Checks one document against the schema and collects every problem with its line."""

    def __init__(self, document: Document) -> None:
        self.data = document.data
        self.lines = document.lines
        self.problems: list[Problem] = []

    def read(self) -> Parsed:
        ident, kind, title = self._text("id"), self._text("kind").strip(), self._text("title").strip()
        self._identity(ident, kind, title)
        if any(problem.fatal for problem in self.problems):
            return Parsed(None, tuple(self.problems))
        status_text = self._text("status")
        record = Record(
            id=ident,
            kind=kind,
            title=title,
            status=self._status(status_text, kind),
            status_text=status_text,
            date=self._day("date"),
            body=self._body(kind),
            tags=self._list("tags"),
            paths=tuple(unicodedata.normalize("NFC", p) for p in self._list("paths")),
            trust=self._choice("trust", TRUSTS),
            source=self._sources(),
            relations=self._relations(),
            workspace=self._text("workspace").strip(),
            valid_until=self._day("valid_until"),
            proposed_by=self._proposer(),
            extra=self._extra(),
        )
        return Parsed(record, tuple(self.problems))

    def _problem(self, key: str, reason: str, fix: str, *, warning: bool = False, fatal: bool = False) -> None:
        level: Literal["error", "warning"] = "warning" if warning else "error"
        self.problems.append(Problem(self.lines.get(key, 1), reason, fix, level, fatal))

    def _identity(self, ident: str, kind: str, title: str) -> None:
        if self._text("format") not in ("", "1"):
            self._problem(
                "format",
                f"format {self._text('format')!r} is not known here",
                "update the sidecar",
                fatal=True,
            )
        if not ident:
            self._problem("id", "no id", "add 'id: <kind>-<number>'", fatal=True)
        elif not valid_id(ident):
            self._problem(
                "id",
                f"id {ident[:140]!r} is not allowed",
                "use letters, digits, '.', '_' and '-', at most 128, no '..', no '.' or '.lock' at the end",
                fatal=True,
            )
        if kind not in KINDS:
            self._problem(
                "kind",
                f"kind {kind!r} is not known" if kind else "no kind",
                f"use one of {', '.join(KINDS)}",
                fatal=True,
            )
        if not title:
            self._problem("title", "no title", "add 'title:' with one sentence that says what holds", fatal=True)

    def _text(self, key: str) -> str:
        value = self.data.get(key, "")
        if isinstance(value, str):
            return value
        if not any(p.line == self.lines.get(key, 1) and key in p.reason for p in self.problems):
            self._problem(
                key,
                f"{key} is not plain text",
                f"write '{key}: <text>'",
                fatal=key in ("id", "kind", "title"),
            )
        return ""

    def _status(self, text: str, kind: str) -> str:
        status = normal_status(text, kind)
        if status != "unknown":
            return status
        word = text.strip().casefold()
        if word == "unknown":
            self._problem(
                "status",
                "the status is unknown, so the record never answers by default",
                "find out and set it",
                warning=True,
            )
        elif not word:
            self._problem("status", "no status, so the record never answers by default", "add 'status:'")
        elif word in STATUSES or word == "draft":
            self._problem(
                "status",
                f"a {kind} cannot be {word!r}, so it never answers by default",
                "use " + ", ".join(s for s in STATUSES if kind in _ONLY_FOR.get(s, KINDS)),
            )
        else:
            self._problem(
                "status",
                f"status {text.strip()[:80]!r} is not known, so the record never answers by default",
                "use one of " + ", ".join(STATUSES),
            )
        return status

    def _body(self, kind: str) -> str:
        parts = [self._text("body")] if self._text("body").strip() else []
        for key in ("context", "decision", "consequences"):
            if self._text(key).strip():
                parts.append(f"## {key.capitalize()}\n\n{self._text(key)}")
        if not parts and kind != "fact":
            self._problem("body", "no body", "add 'body: |' with context, decision and consequences")
        return "\n\n".join(part.rstrip("\n") for part in parts) + "\n" if len(parts) > 1 else "".join(parts)

    def _day(self, key: str) -> str:
        text = self._text(key).strip()
        if text and parse_day(text) is None:
            self._problem(key, f"{key} {text[:40]!r} is not an ISO 8601 date", "write YYYY-MM-DD")
        return text

    def _choice(self, key: str, allowed: tuple[str, ...]) -> str:
        text = self._text(key).strip()
        if text and text not in allowed:
            self._problem(key, f"{key} {text[:40]!r} is not known", f"use one of {', '.join(allowed)}")
            return ""
        return text

    def _list(self, key: str) -> tuple[str, ...]:
        value = self.data.get(key, "")
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            self._problem(key, f"{key} is not a list of texts", f"write '{key}: [first, second]'")
            items = [item for item in items if isinstance(item, str)] if isinstance(items, list) else []
        return tuple(dict.fromkeys(str(item).strip() for item in items if str(item).strip()))

    def _relations(self) -> tuple[tuple[str, str], ...]:
        found: list[tuple[str, str]] = []
        for key in (*FORWARD, *BACKWARD):
            for target in self._list(key):
                if valid_id(target):
                    found.append((key, target))
                else:
                    self._problem(key, f"{key} names {target[:140]!r}, which cannot be an id", "name a record's id")
        return tuple(found)

    def _sources(self) -> tuple[dict[str, str], ...]:
        value = self.data.get("source", [])
        items = value if isinstance(value, list) else [value]
        found = []
        for item in items:
            if isinstance(item, str) and item.strip():
                found.append({"url" if "://" in item else "path": item.strip()})
            elif (
                isinstance(item, dict)
                and any(key in item for key in SOURCES)
                and all(isinstance(v, str) for v in item.values())
            ):
                found.append(dict(item))
            elif item:
                self._problem(
                    "source",
                    "a source names none of path, url, commit, transcript",
                    "write '- path: docs/adr/0001.md'",
                )
        return tuple(found)

    def _proposer(self) -> dict[str, str]:
        value = self.data.get("proposed_by", {})
        if isinstance(value, str):
            return {"agent": value.strip()} if value.strip() else {}
        if not isinstance(value, dict):
            self._problem("proposed_by", "proposed_by is not a mapping", "write '{agent: name, session: id}'")
            return {}
        return {k: v for k, v in value.items() if isinstance(v, str)}

    def _extra(self) -> dict[str, object]:
        unknown = {k: v for k, v in self.data.items() if k not in KNOWN_KEYS}
        if unknown:
            key = next(iter(unknown))
            self._problem(
                key,
                f"unknown keys are kept and returned: {', '.join(unknown)}",
                "check the spelling",
                warning=True,
            )
        kept = {k: v for k, v in self.data.items() if k in ("status_raw", "seen_again")}
        return {**unknown, **kept}
