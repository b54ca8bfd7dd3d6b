"""What the pages show of records: links relative to the page they stand on, and every status the effective one."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote

from seed.importers.naming import clean
from sidecar.exporters.collect import Export, Item
from sidecar.quote import one_line
from sidecar.web.html import markdown

RETIRING = ("superseded_by", "refuted_by")
ORDER = ("accepted", "verified", "unverified", "proposed", "rejected", "deprecated", "superseded", "refuted")
"""Statuses in the order in which pages list them; the others follow."""
Url = Callable[[str], str]


@dataclass(frozen=True)
class Site:
    """The records of a site, by name and by id, and where each one's page is."""

    export: Export

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """Return the records, newest first."""
        return tuple(sorted(self.export.items, key=lambda one: (one.record.date or "0", one.record.id), reverse=True))

    @cached_property
    def by_id(self) -> Mapping[str, Item]:
        """Return the record of each id, folded; of several the first."""
        return {one.record.id.casefold(): one for one in reversed(self.export.items)}

    @cached_property
    def by_name(self) -> Mapping[str, Item]:
        """Return the record of each page."""
        return {one.name: one for one in self.export.items}

    @cached_property
    def groups(self) -> Mapping[str, Mapping[str, list[Item]]]:
        """Return {"status" | "kind" | "tag": {value: records}}, newest records first."""
        found: dict[str, dict[str, list[Item]]] = {"status": {}, "kind": {}, "tag": {}}
        for one in self.items:
            found["status"].setdefault(one.status, []).append(one)
            found["kind"].setdefault(one.record.kind, []).append(one)
            for tag in dict.fromkeys(one.record.tags):
                found["tag"].setdefault(tag, []).append(one)
        rank = {name: n for n, name in enumerate(ORDER)}
        found["status"] = dict(sorted(found["status"].items(), key=lambda pair: rank.get(pair[0], 99)))
        found["tag"] = dict(sorted(found["tag"].items(), key=lambda pair: (-len(pair[1]), pair[0].casefold())))
        return found

    @cached_property
    def pages(self) -> Mapping[tuple[str, str], str]:
        """Return the page of each group: ("tag", "storage") -> "tag/storage.html", unique on any disk."""
        found: dict[tuple[str, str], str] = {}
        taken: set[str] = set()
        for name, values in self.groups.items():
            for value in values:
                page = f"{name}/{clean(value.casefold())[:60]}"
                while page.casefold() in taken:
                    page += "-"
                taken.add(page.casefold())
                found[name, value] = f"{page}.html"
        return found


def page_of(item: Item) -> str:
    """Return the page of a record."""
    return f"records/{item.name}.html"


def urls(page: str) -> Url:
    """Return a function from a page to the link that leads to it from ``page``."""
    folder = posixpath.dirname(page) or "."
    return lambda other: quote(posixpath.relpath(other, folder))


def row(site: Site, item: Item, url: Url) -> dict[str, Any]:
    """Return what a list shows of a record."""
    record = item.record
    return {
        "id": record.id,
        "title": one_line(record.title, 300),
        "url": url(page_of(item)),
        "status": item.status,
        "kind": record.kind,
        "date": one_line(record.date, 40),
        "tags": [(one_line(tag, 80), url(site.pages["tag", tag])) for tag in dict.fromkeys(record.tags)],
        "after": [tie_row(site, tie.id, tie.status, tie.relation, tie.title, url) for tie in item.tied(*RETIRING)],
    }


def tie_row(site: Site, ident: str, status: str, relation: str, title: str, url: Url) -> dict[str, Any]:
    """Return one relation; a record that is not in the site has no link."""
    other = site.by_id.get(ident.casefold())
    link = url(page_of(other)) if other else ""
    return {
        "relation": relation,
        "id": one_line(ident, 140),
        "status": status,
        "title": one_line(title, 200),
        "url": link,
    }


def full(site: Site, item: Item, url: Url) -> dict[str, Any]:
    """Return what a record's own page shows."""
    record = item.record

    def linked(ident: str) -> str:
        other = site.by_id.get(ident.casefold())
        return url(page_of(other)) if other and other is not item else ""

    written = one_line(record.status_text, 80)
    return row(site, item, url) | {
        "body": markdown(record.body, linked) if record.body.strip() else "",
        "in_force": item.in_force,
        "status_in_file": written if written.casefold() != item.status else "",
        "trust": record.trust or "document_extracted",
        "workspace": one_line(record.workspace, 80),
        "valid_until": record.valid_until,
        "proposed_by": {one_line(k, 40): one_line(v, 120) for k, v in record.proposed_by.items()},
        "paths": [one_line(path, 300) for path in record.paths],
        "sources": [{one_line(k, 40): one_line(v, 500) for k, v in source.items()} for source in record.source],
        "extra": {one_line(k, 60): one_line(_plain(v), 500) for k, v in record.extra.items()},
        "path": one_line(item.path),
        "ties": [tie_row(site, t.id, t.status, t.relation, t.title, url) for t in item.ties],
    }


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_plain(inner)}" for key, inner in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_plain, value))
    return str(value)
