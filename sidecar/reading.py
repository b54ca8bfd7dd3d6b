"""One record in full: its facts, its body within a bound, lineage, and the commits that touched it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from difflib import get_close_matches
from typing import Any

from seed.errors import SidecarError
from seed.git.history import history
from seed.git.repository import inside
from seed.git.tree import UnreadableBlobError, find, read_blob
from seed.reader import parse_record
from seed.record import Record
from seed.snapshot import Head
from sidecar import answer as answers
from sidecar import contradictions, cursor, lineage
from sidecar.base import Bases
from sidecar.corpus import Corpus
from sidecar.quote import one_line, safe
from sidecar.session import Session, View

BODY_CHARS = 6000
"""Characters of a body on one page; a longer one lists its sections and goes on by cursor."""
MAX_SECTIONS = 60
MAX_LINEAGE = 40
MAX_HISTORY = 10
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t#]*$")
_FENCE = re.compile(r"^ {0,3}(```|~~~)")


class MissingRecordError(SidecarError):
    """No record has the id or path that was asked for."""


@dataclass(frozen=True, slots=True)
class Section:
    """One section of a body: its heading ("" before the first), and character offsets, the heading's line included."""

    name: str
    start: int
    end: int


def sections(body: str) -> tuple[Section, ...]:
    """Return the sections of a Markdown body in order; together they are the whole body."""
    marks: list[tuple[str, int]] = []
    at, fence = 0, ""
    for line in body.split("\n"):
        if found := _FENCE.match(line):
            fence = found[1] if not fence else ("" if fence == found[1] else fence)
        elif not fence and (heading := _HEADING.match(line)):
            marks.append((heading[1].strip(), at))
        at += len(line) + 1
    if not marks or body[: marks[0][1]].strip():
        marks.insert(0, ("", 0))
    marks[0] = (marks[0][0], 0)  # blank lines before the first heading belong to it
    ends = [start for _, start in marks[1:]] + [len(body)]
    return tuple(Section(name, start, end) for (name, start), end in zip(marks, ends, strict=True))


def chosen(body: str, name: str) -> str:
    """Return the text under a heading; without a name the whole body. Raises `SidecarError` naming the headings."""
    if not name.strip():
        return body
    wanted = one_line(name).casefold()
    parts = sections(body)
    found = [body[s.start : s.end] for s in parts if one_line(s.name).casefold() == wanted]
    if not found:
        names = ", ".join(repr(one_line(s.name, 60)) for s in parts[:12] if s.name)
        raise SidecarError(f"there is no section {name!r}", f"use one of {names}" if names else "leave section out")
    return "".join(found)


def page(text: str, start: int, size: int = BODY_CHARS) -> tuple[str, int]:
    """Return (one page of a text from ``start``, where the next one starts or 0), cut at a line end if one is near."""
    if len(text) - start <= size:
        return text[start:], 0
    line = text.rfind("\n", start + size // 2, start + size)
    stop = line + 1 if line > 0 else start + size
    return text[start:stop], stop


def show(
    session: Session,
    bases: Bases,
    name: str,
    now: datetime,
    *,
    at: str,
    section: str,
    start: str,
    budget: float,
    size: int = BODY_CHARS,
) -> dict[str, Any]:
    """Return one record; see `sidecar.provider.Provider.show`."""
    view = session.past(at, budget) if at.strip() else session.view(vectors=False, budget=budget)
    corpus, today = view.corpus, now.astimezone(UTC).date()
    standing = corpus.standing(inside(session.repo, name.strip()), today)
    if not standing:
        raise _missing(name, view)
    ordinal, status = standing[0]
    head = corpus.heads[ordinal]
    ident = head.record.id
    told = [] if head.origin else contradictions.by_record(session, corpus, today, [ident]).get(ident.casefold(), [])
    found: dict[str, Any] = {"format": 1, "record": _facts(head, status, told)}
    found["lineage"] = [
        {"relation": x.relation, "id": x.id, "status": _status_of(corpus, x.id, x.status, now)}
        for x in head.lineage[:MAX_LINEAGE]
    ]
    found["chain"] = lineage.chain(corpus, ordinal, today)
    found["cited_by"] = lineage.cited_by(corpus, ordinal, today)
    record = _reread(session, head)
    found |= _body(head, record, section, start, size)
    found["paths"] = _paths(session, view, head, record)
    if not at.strip():
        bases.budget = budget
        _on_base(found["record"], bases, view, today)
    touches, complete = history(session.repo, _tip(view, head), head.path, MAX_HISTORY)
    found["history"] = [{k: one_line(v, 120) for k, v in asdict(touch).items()} for touch in touches]
    found["history_complete"] = complete
    others = [(corpus.heads[n], state) for n, state in standing[1:]]
    found["twins"] = [
        {"path": one_line(h.path), "status": state, "title": one_line(h.record.title, answers.MAX_TITLE)}
        for h, state in others
    ]
    found["revision"] = {"commit": view.commit, "head": view.head, "stale": view.stale, "repository": session.repo.name}
    return found


def _status_of(corpus: Corpus, ident: str, otherwise: str, now: datetime) -> str:
    standing = corpus.standing(ident, now.astimezone(UTC).date())
    return standing[0][1] if standing else otherwise


def _tip(view: View, head: Head) -> str:
    """Return the commit from which a record's file is followed back: a candidate's own branch, else the view's."""
    return next((c.commit for c in view.wanted.candidates if c.ref == head.origin), view.commit)


def _facts(head: Head, status: str, told: Sequence[dict[str, Any]]) -> dict[str, Any]:
    record = head.record
    typed = one_line(record.status_text, 80)
    facts: dict[str, Any] = {
        "id": record.id,
        "kind": record.kind,
        "title": one_line(record.title, answers.MAX_TITLE),
        "status": status,
        "status_in_file": typed if typed.casefold() != status else "",
        "date": one_line(record.date),
        "trust": record.trust or "document_extracted",
        "tags": [one_line(t, 80) for t in record.tags[:MAX_LINEAGE]],
        "paths": [one_line(p) for p in record.paths[:MAX_LINEAGE]],
        "workspace": one_line(record.workspace),
        "valid_until": record.valid_until,
        "source": [_plain(s) for s in record.source[:10]],
        "proposed_by": _plain(record.proposed_by),
        "path": one_line(head.path),
        "blob": head.blob,
        "branch": one_line(head.origin),
        "extra": _plain({k: str(v) for k, v in record.extra.items()}),
        "conflicts": [
            *({"id": ident, "state": "recorded", "reason": reason} for ident, reason in head.conflicts[:10]),
            *told,
        ],
    }
    return {k: v for k, v in facts.items() if v}


def _plain(values: dict[str, str]) -> dict[str, str]:
    return {one_line(k, 40): one_line(v, 300) for k, v in list(values.items())[:10]}


def _on_base(facts: dict[str, Any], bases: Bases, view: View, today: date) -> None:
    """Say on the record itself what the default branch did to it since: it is read to confirm an answer."""
    policy = view.corpus.snapshot.policy
    base = bases.find(view.commit, policy)
    if base and view.stale and not bases.in_time(base, policy):
        return  # the record says that it is of an older commit, and which
    since = bases.since(base, policy, today)
    if since is not None:
        since.mark([facts])


def _paths(session: Session, view: View, head: Head, record: Record | None) -> list[dict[str, Any]]:
    """Return the paths a record names, and whether each is there in the commit that answers."""
    named = lineage.named_paths(head.record.paths, record.body if record else "")
    return [
        {"path": one_line(p), "exists": find(session.repo, view.commit, p) is not None} for p in named if view.commit
    ]


def _body(head: Head, record: Record | None, section: str, start: str, size: int) -> dict[str, Any]:
    text = safe(chosen(record.body if record else "", section))
    about = f"{head.blob}\n{section}"
    part, following = page(text, min(cursor.decode(start, about), len(text)), size)
    found: dict[str, Any] = {"section": section, "body": part, "chars": len(text)}
    if len(text) > size and not section:
        parts = [{"section": one_line(s.name, 80), "chars": s.end - s.start} for s in sections(text)]
        found["sections"] = parts[:MAX_SECTIONS]
        found["note"] = _long(len(text), len(parts))
    return {**found, "next_cursor": cursor.encode(following, about) if following else ""}


def _long(chars: int, parts: int) -> str:
    listed = f"{parts} sections" + (f", of which {MAX_SECTIONS} are listed" if parts > MAX_SECTIONS else "")
    return f"The body has {chars} characters in {listed}: ask for one with 'section', or go on with 'cursor'."


def _reread(session: Session, head: Head) -> Record | None:
    """Return the record with its body, which the store does not keep: Git has it."""
    try:
        return parse_record(read_blob(session.repo, head.blob)).record
    except UnreadableBlobError as exc:
        raise SidecarError(f"{head.path}: {exc.reason}", exc.fix) from None


def _missing(name: str, view: View) -> MissingRecordError:
    heads: Sequence[Head] = view.corpus.heads
    near = get_close_matches(name, [h.record.id for h in heads], n=3, cutoff=0.6)
    unread = len(view.corpus.snapshot.unreadable)
    bad = f"; {unread} files are unreadable, see 'sidecar check'" if unread else ""
    fix = f"did you mean {', '.join(near)}?" if near else "list the ids with 'sidecar list' or query_decisions"
    commit = view.commit[:12] or "a repository without commits"
    return MissingRecordError(f"there is no record {one_line(name, 80)!r} at {commit}{bad}", fix)
