"""The whole site as files: an index, a page for each record, lists by status, kind and tag, the graph, and search."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files as resources
from typing import Any

from jinja2 import Environment, PackageLoader

from sidecar.exporters.collect import Export, Item
from sidecar.quote import one_line
from sidecar.site import drawing
from sidecar.site.view import Site, Url, full, page_of, row, urls
from sidecar.web.html import STATUS_WORDS, clean, environment, plural

MAX_INDEX = 4_000_000
"""Characters of text in the search index; with many records each has less."""
_NEWEST = 12
_STATIC = (("sidecar.web", "static/style.css"), ("sidecar.web", "static/icon.svg"),
           ("sidecar.site", "static/site.css"), ("sidecar.site", "static/search.js"))  # fmt: skip
_NAMES = {"status": "Status", "kind": "Kind", "tag": "Tag"}


def files(export: Export) -> dict[str, str | bytes]:
    """Return path -> content of every file of the site."""
    site = Site(export)
    found: dict[str, str | bytes] = dict(_pages(site))
    for package, path in _STATIC:
        found[path] = resources(package).joinpath(path).read_bytes()
    found["static/index.js"] = _index(site)
    found[".nojekyll"] = ""  # a host that runs Jekyll would leave out files that begin with an underscore
    return found


def _pages(site: Site) -> Iterator[tuple[str, str]]:
    arrows = drawing.arrows(site)
    yield _page(site, "index.html", "index.html", "Overview", _overview(site, urls("index.html")))
    yield _page(site, "all.html", "list.html", "All records", _listed(site, list(site.items), urls("all.html")))
    yield _page(site, "graph.html", "graph.html", "Graph", _graph(site, arrows, urls("graph.html")))
    yield _page(site, "search.html", "search.html", "Search", {"total": len(site.items)})
    for (name, value), page in site.pages.items():
        items = site.groups[name][value]
        title = f"{_NAMES[name]}: {one_line(value, 80)}"
        yield _page(site, page, "list.html", title, _listed(site, items, urls(page)))
    ends = drawing.by_end(arrows)
    for item in site.items:
        page = page_of(item)
        near, inside = drawing.around(ends, item.name)
        picture = drawing.draw(site, near, inside, urls(page), item.name) if inside else ""
        values = {"one": full(site, item, urls(page)), "picture": picture}
        yield _page(site, page, "record.html", one_line(item.record.title, 300), values)


def _page(site: Site, page: str, template: str, title: str, values: dict[str, Any]) -> tuple[str, str]:
    url = urls(page)
    navigation = [("Pages", [("index.html", "Overview"), ("all.html", "All records"), ("graph.html", "Graph"),
                             ("search.html", "Search")]),
                  *((_NAMES[name], [(site.pages[name, v], one_line(v, 40)) for v in site.groups[name]])
                    for name in ("status", "kind"))]  # fmt: skip
    frame = {
        "title": title,
        "repository": one_line(site.export.repository, 80),
        "commit": site.export.commit,
        "day": site.export.day.isoformat(),
        "unreadable": len(site.export.unreadable),
        "candidates": site.export.candidates,
        "navigation": [
            (n, [(url(p), label, p == page) for p, label in entries]) for n, entries in navigation if entries
        ],
        "url": url,
    }
    return page, clean(_environment().get_template(template).render(frame | values))


@cache
def _environment() -> Environment:
    """Return our templates with the filters of explore's."""
    found = Environment(loader=PackageLoader("sidecar.site"), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    found.filters |= {name: environment().filters[name] for name in ("status", "words", "safe_url", "sentence")}
    found.globals |= {"plural": plural, "status_words": STATUS_WORDS}
    return found


def _overview(site: Site, url: Url) -> dict[str, Any]:
    groups = {
        name: [(one_line(value, 60), len(items), url(site.pages[name, value])) for value, items in values.items()]
        for name, values in site.groups.items()
    }
    newest = [row(site, item, url) for item in site.items if item.in_force][:_NEWEST]
    return {"groups": groups, "newest": newest, "total": len(site.items)}


def _listed(site: Site, items: list[Item], url: Url) -> dict[str, Any]:
    now = [row(site, item, url) for item in items if item.in_force]
    past = [row(site, item, url) for item in items if not item.in_force]
    return {"now": now, "past": past, "total": len(items)}


def _graph(site: Site, arrows: tuple[drawing.Arrow, ...], url: Url) -> dict[str, Any]:
    clusters, ends = drawing.clusters(arrows), drawing.by_end(arrows)
    by_name = site.by_name
    groups = []
    for names in clusters:
        inside = list(dict.fromkeys(arrow for name in names for arrow in ends[name]))
        told = [(row(site, by_name[a.actor], url), a.relation, row(site, by_name[a.target], url)) for a in inside]
        newest = max((by_name[name] for name in names), key=lambda item: (item.record.date, item.record.id))
        title = one_line(newest.record.title, 120)
        picture = drawing.draw(site, names, inside, url)
        groups.append({"title": title, "picture": picture, "told": told})
    joined = sum(map(len, clusters))
    return {"groups": groups, "relations": sorted({a.relation for a in arrows}), "alone": len(site.items) - joined}


def _index(site: Site) -> str:
    """Return what the search page looks through, as a script, since a page opened from a disk may fetch nothing."""
    most = max(60, min(1200, MAX_INDEX // max(len(site.items), 1)))
    entries = []
    for item in site.items:
        record = item.record
        text = one_line(re.sub(r"[#*`>|_\[\]]+", " ", record.body), most)
        entries.append({
            "id": record.id, "title": one_line(record.title, 300), "kind": record.kind, "status": item.status,
            "now": item.in_force, "date": one_line(record.date, 40), "tags": [one_line(t, 80) for t in record.tags],
            "url": urls("search.html")(page_of(item)), "text": text,
        })  # fmt: skip
    data = json.dumps(entries, ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", " ").replace("\u2029", " ")
    return f"window.sidecarIndex = {data};\n"
