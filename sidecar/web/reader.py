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


@dataclass(frozen=True)
class Look:
    """The records as they stand at one commit and on one day. Whatever the door holds back is not in here."""

    provider: Provider
    view: View
    today: date

    @cached_property
    def ordinals(self) -> list[int]:
        """Return every record that passes, whatever its status."""
        found: list[int] = self.view.corpus.admit(EVERY, self.today).results.tolist()
        return found

    @cached_property
    def index(self) -> dict[str, int]:
        """Return folded id -> ordinal; of several records with one id, the first that is in force."""
        heads = self.view.corpus.heads
        found: dict[str, int] = {}
        for n in sorted(self.ordinals, key=lambda n: not by_default(self.status(n), heads[n].record.kind)):
            found.setdefault(heads[n].record.id.casefold(), n)
        return found

    @cached_property
    def _statuses(self) -> dict[int, str]:
        return {n: self.view.corpus.status(n, self.today) for n in self.ordinals}

    def status(self, ordinal: int) -> str:
        """Return the effective status of a record that passed."""
        return self._statuses[ordinal]

    def link(self, ident: str) -> str:
        """Return the address of a record's page, or "" where there is no such record."""
        n = self.index.get(ident.casefold())
        return f"/record/{record_path(self.view.corpus.heads[n].record.id)}" if n is not None else ""

    @cached_property
    def counts(self) -> Mapping[str, Counter[str]]:
        """Return how many records there are by kind, status, tag, workspace, and day."""
        found: dict[str, Counter[str]] = {name: Counter() for name in ("kind", "status", "tag", "workspace", "day")}
        for n in self.ordinals:
            record = self.view.corpus.heads[n].record
            found["kind"][record.kind] += 1
            found["status"][self.status(n)] += 1
            found["tag"].update({one_line(tag, 60) for tag in record.tags})
            if record.workspace:
                found["workspace"][one_line(record.workspace, 60)] += 1
            if record.date:
                found["day"][record.date[:10]] += 1
        return found

    def qualifying(self, query: Query) -> list[int]:
        """Return the records that pass a query's filters, newest first."""
        corpus = self.view.corpus
        found: list[int] = corpus.admit(query, self.today, query.workspace).results.tolist()
        records = [corpus.heads[n].record for n in found]
        positions = order(np.zeros(len(found)), [r.date for r in records], [r.id for r in records])
        return [found[p] for p in positions]

    def rows(self, ordinals: Sequence[int]) -> list[dict[str, Any]]:
        """Return records as a list shows them: facts, lineage with today's statuses, contradictions."""
        corpus, session = self.view.corpus, self.provider.session
        ids = [corpus.heads[n].record.id for n in ordinals]
        told = contradictions.by_record(session, corpus, self.today, ids) if ids else {}
        found = []
        for n in ordinals:
            head = corpus.heads[n]
            statuses = {x.id.casefold(): self.named(x.id)["status"] for x in head.lineage}
            row = answers.item(head, Hit(n, self.status(n)), {}, statuses)
            found.append({**row, "conflicts": [*row["conflicts"], *told.get(row["id"].casefold(), ())]})
        return found

    def named(self, ident: str) -> dict[str, str]:
        """Return what is told of a record that something names: id, title, status, date, blob."""
        n = self.index.get(ident.casefold())
        if n is None:
            return {"id": one_line(ident, 130), "title": "", "status": "missing", "date": "", "blob": ""}
        head = self.view.corpus.heads[n]
        title = one_line(head.record.title, answers.MAX_TITLE)
        return {"id": head.record.id, "title": title, "status": self.status(n), "date": one_line(head.record.date, 40),
                "blob": head.blob}  # fmt: skip


class Reader:
    """Looks at one repository, again and again: what was worked out holds until HEAD, a candidate or the day changes."""

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
