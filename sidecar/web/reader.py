"""What the pages read: the records of HEAD, taken through the one door, with what every page needs of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from seed.errors import SidecarError
from sidecar import answer as answers
from sidecar import contradictions
from sidecar.answer import Hit
from sidecar.query import Query, by_default
from sidecar.quote import one_line
from sidecar.rank import order
from sidecar.web.html import record_path

if TYPE_CHECKING:
    from seed.snapshot import Head
    from sidecar.graph import Graph
    from sidecar.provider import Provider
    from sidecar.session import View

EVERY = Query(listing=True, statuses=("all",))
_SECONDS = 5.0


class NotHereError(SidecarError):
    """What an address names is not there."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page before it is drawn: its template, title, what the template needs, and the HTTP status."""

    template: str
    title: str
    values: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200


@dataclass(frozen=True, slots=True)
class Told:
    """What is kept of every record between two pages: enough to name it, to count it, and to put it in order."""

    id: str
    title: str
    kind: str
    status: str
    date: str
    blob: str
    tags: tuple[str, ...]
    paths: tuple[str, ...]
    workspace: str
    links: int


@dataclass(frozen=True)
class Look:
    """The records as they stand at one commit and on one day. Whatever the door holds back is not in here."""

    provider: Provider
    view: View
    today: date

    @cached_property
    def told(self) -> dict[int, Told]:
        """Return ordinal -> what is told of a record, for every one that passes, whatever its status.

        One pass over all heads for each snapshot: a head is costly to read, and most pages need but little of it.
        """
        corpus = self.view.corpus
        return {n: _told(corpus.heads[n], corpus.status(n, self.today)) for n in
                corpus.admit(EVERY, self.today).results.tolist()}  # fmt: skip

    @cached_property
    def index(self) -> dict[str, int]:
        """Return folded id -> ordinal; of several records with one id, the first that is in force."""
        found: dict[str, int] = {}
        for n, one in sorted(self.told.items(), key=lambda pair: not by_default(pair[1].status, pair[1].kind)):
            found.setdefault(one.id.casefold(), n)
        return found

    def link(self, ident: str) -> str:
        """Return the address of a record's page, or "" where there is no such record."""
        n = self.index.get(ident.casefold())
        return f"/record/{record_path(self.told[n].id)}" if n is not None else ""

    @cached_property
    def counts(self) -> Mapping[str, Counter[str]]:
        """Return how many records there are by kind, status, tag and workspace."""
        found: dict[str, Counter[str]] = {name: Counter() for name in ("kind", "status", "tag", "workspace")}
        for one in self.told.values():
            found["kind"][one.kind] += 1
            found["status"][one.status] += 1
            found["tag"].update(set(one.tags))
            found["workspace"].update([one.workspace] if one.workspace else [])
        return found

    def qualifying(self, query: Query) -> list[int]:
        """Return the records that pass a query's filters, newest first."""
        found: list[int] = self.view.corpus.admit(query, self.today, query.workspace).results.tolist()
        kept = [self.told[n] for n in found]
        positions = order(np.zeros(len(found)), [one.date for one in kept], [one.id for one in kept])
        return [found[p] for p in positions]

    def rows(self, ordinals: Sequence[int]) -> list[dict[str, Any]]:
        """Return records as a list shows them: facts, lineage with today's statuses, contradictions."""
        corpus, session = self.view.corpus, self.provider.session
        ids = [self.told[n].id for n in ordinals]
        told = contradictions.by_record(session, corpus, self.today, ids) if ids else {}
        found = []
        for n in ordinals:
            head = corpus.heads[n]
            statuses = {x.id.casefold(): self.named(x.id)["status"] for x in head.lineage}
            row = answers.item(head, Hit(n, self.told[n].status), {}, statuses)
            found.append({**row, "conflicts": [*row["conflicts"], *told.get(row["id"].casefold(), ())]})
        return found

    def named(self, ident: str) -> dict[str, str]:
        """Return what is told of a record that something names: id, title, status, date, blob."""
        n = self.index.get(ident.casefold())
        if n is None:
            return {"id": one_line(ident, 130), "title": "", "status": "missing", "date": "", "blob": ""}
        one = self.told[n]
        return {"id": one.id, "title": one.title, "status": one.status, "date": one.date, "blob": one.blob}


def _told(head: Head, status: str) -> Told:
    record = head.record
    return Told(
        id=record.id,
        title=one_line(record.title, answers.MAX_TITLE),
        kind=record.kind,
        status=status,
        date=one_line(record.date, 40),
        blob=head.blob,
        tags=tuple(one_line(tag, 60) for tag in record.tags),
        paths=tuple(dict.fromkeys(one_line(path, 200) for path in record.paths)),
        workspace=one_line(record.workspace, 60),
        links=len(head.lineage) + len(record.paths),
    )


class Reader:
    """Looks at one repository again and again: what was worked out holds until HEAD, a candidate or the day changes."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self._look: Look | None = None
        self._graph: tuple[object, Graph] | None = None

    def look(self) -> Look:
        """Return the records as they stand now. Raises `SidecarError` where nothing can be read."""
        session = self.provider.session
        view = session.healing(lambda: session.view(vectors=False, budget=_SECONDS))
        today = self.provider.clock().astimezone(UTC).date()
        last = self._look
        if last is None or last.view.corpus is not view.corpus or last.today != today or last.view.head != view.head:
            self._look = Look(self.provider, view, today)
        return self._look or Look(self.provider, view, today)

    def graph(self) -> Graph:
        """Return the graph of the records and sessions as they stand now; walking it again is cheap."""
        from sidecar.graph import Graph

        look = self.look()
        fresh = Graph(self.provider)
        state = (id(look), tuple((one.manifest.id, one.manifest.digest) for one in fresh.sessions))
        if self._graph is None or self._graph[0] != state:
            self._graph = (state, fresh)
        return self._graph[1]
