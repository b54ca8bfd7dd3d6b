"""How a file's bytes, or a mapping, become a record: every problem is collected with its line, nothing raises. Pure."""

from __future__ import annotations

import unicodedata
from difflib import get_close_matches
from typing import Literal

from seed.record import (
    BACKWARD,
    FORWARD,
    KINDS,
    KNOWN_KEYS,
    SOURCES,
    STATUSES,
    TRUSTS,
    Parsed,
    Problem,
    Record,
    fits,
    is_verdict,
    normal_status,
    parse_day,
    valid_id,
)
from seed.yamltext import Document, YamlFaultError, parse

UNREADABLE = "(unreadable)"
"""Stands for a relation's target that is no text."""


def parse_record(data: bytes) -> Parsed:
    """Read one record file. Never raises: what is wrong comes back as problems."""
    try:
        document = parse(data)
    except YamlFaultError as fault:
        return Parsed(None, (Problem(fault.line, fault.reason, fault.fix, fatal=True),))
    return _Reader(document).read()


def build_record(data: dict[str, object]) -> Parsed:
    """Read a record from a mapping (an agent's proposal, an importer) under the same rules as from a file."""
    return _Reader(Document({str(k): as_text(v) for k, v in data.items()}, {})).read()


def as_text(value: object) -> object:
    """Return a value of a mapping with texts as its leaves, which is how a file is read."""
    if isinstance(value, dict):
        return {str(k): as_text(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_text(v) for v in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


class _Reader:
    """Checks one document against the schema and collects every problem with its line."""

    def __init__(self, document: Document) -> None:
        self.problems: list[Problem] = []
        self.lines = document.lines
        self.data = self._spelled(document.data)

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
                "use " + ", ".join(s for s in STATUSES if fits(s, kind)),
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
        named = ("context", "decision", "consequences")
        parts += [f"## {key.capitalize()}\n\n{self._text(key)}" for key in named if self._text(key).strip()]
        if not parts and kind != "fact":
            self._problem("body", "no body", "add 'body: |' with context, decision and consequences")
        lines = [line for part in parts for line in part.split("\n") if line.strip()]
        if lines and all(line.lstrip().startswith("#") for line in lines):
            self._problem("body", "the body has headings and no text yet", "write it", warning=True)
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

    def _spelled(self, data: dict[str, object]) -> dict[str, object]:
        """Return the data with keys that differ from a known one only by case or hyphens put right, each a problem.

        A relation under a key that nobody reads would let what it overturns answer on.
        """
        found = dict(data)
        for key in data:
            known = key.strip().casefold().replace("-", "_")
            if known != key and known in KNOWN_KEYS and known not in found:
                found[known] = found.pop(key)
                self.lines = {**self.lines, known: self.lines.get(key, 1)}
                self._problem(known, f"key {key!r} is read as {known!r}", f"write {known!r}")
        return found

    def _targets(self, key: str) -> list[str]:
        """Return what a relation names. What cannot be an id is kept too: it says that there is such a relation."""
        value = self.data.get(key, [])
        items = value if isinstance(value, list) else [value]
        found: list[str] = []
        for item in items:
            text = item.strip() if isinstance(item, str) else UNREADABLE
            parts = [part.strip() for part in text.split(",")]
            found += parts if all(map(valid_id, parts)) else [text[:128]]
        return list(dict.fromkeys(text for text in found if text))

    def _relations(self) -> tuple[tuple[str, str], ...]:
        found: list[tuple[str, str]] = []
        for key in (*FORWARD, *BACKWARD):
            targets = self._targets(key)
            found.extend((key, target) for target in targets)
            for target in targets:
                if not valid_id(target):
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
        relations = (*FORWARD, *BACKWARD)
        for key in unknown:
            if near := get_close_matches(key.casefold(), relations, n=1, cutoff=0.85):
                self._problem(key, f"key {key!r} is not known, so it retires nothing", f"did you mean {near[0]!r}?")
        if unknown:
            key = next(iter(unknown))
            self._problem(
                key,
                f"unknown keys are kept and returned: {', '.join(unknown)}",
                "check the spelling",
                warning=True,
            )
        if "conflict" in self.data and not is_verdict(self.data["conflict"]):
            reason = "conflict is no verdict on two records with their blobs, so no answer shows it"
            self._problem("conflict", reason, "let 'sidecar conflicts record' write it", warning=True)
        kept = {k: v for k, v in self.data.items() if k in ("status_raw", "seen_again", "conflict")}
        return {**unknown, **kept}
