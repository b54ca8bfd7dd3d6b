"""Who overturned whom, as SVG without a script: older records left, what came after them right. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sidecar.exporters.collect import Item
from sidecar.quote import one_line, shorten
from sidecar.site.view import Site, Url, page_of

WIDE, HIGH, ACROSS, DOWN, EDGE = 204, 46, 60, 18, 12
MOST, NEAR = 60, 12
"""Nodes of a drawing, and of one around a record; the words beside it leave none out."""
_DRAWN = ("supersedes", "refutes", "amends")
"""What changes the standing of another record; other relations are told in words."""
_LINE, _NAME = 31, 24


@dataclass(frozen=True, slots=True)
class Arrow:
    """From the record that acts to the one it acts on, by the names of their pages."""

    relation: str
    actor: str
    target: str


def arrows(site: Site) -> tuple[Arrow, ...]:
    """Return every relation between two records of the site, told from its acting end, each once."""
    found = [
        Arrow(tie.relation, item.name, site.by_id[tie.id.casefold()].name)
        for item in site.export.items
        for tie in item.ties
        if tie.relation in _DRAWN and tie.id.casefold() in site.by_id
    ]
    return tuple(dict.fromkeys(arrow for arrow in found if arrow.actor != arrow.target))


def clusters(found: Iterable[Arrow]) -> list[list[str]]:
    """Return the names that hang together, the largest group first."""
    near: dict[str, set[str]] = defaultdict(set)
    for arrow in found:
        near[arrow.actor].add(arrow.target)
        near[arrow.target].add(arrow.actor)
    groups: list[list[str]] = []
    seen: set[str] = set()
    for start in sorted(near):
        if start not in seen:
            groups.append(_reached(start, near))
            seen.update(groups[-1])
    return sorted(groups, key=lambda names: (-len(names), names))


def _reached(start: str, near: dict[str, set[str]]) -> list[str]:
    """Return what hangs together with ``start``, nearest first."""
    order, seen = [start], {start}
    for name in order:
        order += sorted(near[name] - seen)
        seen |= near[name]
    return order


def by_end(found: Iterable[Arrow]) -> dict[str, list[Arrow]]:
    """Return the arrows of each record that has any."""
    ends: dict[str, list[Arrow]] = defaultdict(list)
    for arrow in found:
        ends[arrow.actor].append(arrow)
        ends[arrow.target].append(arrow)
    return ends


def around(ends: Mapping[str, Sequence[Arrow]], name: str) -> tuple[list[str], list[Arrow]]:
    """Return a record's name with those it is joined to, and the arrows between all of them."""
    own = ends.get(name, ())
    names = list(dict.fromkeys([name, *(end for arrow in own for end in (arrow.actor, arrow.target))]))[:NEAR]
    inside = set(names)
    found = [arrow for other in names for arrow in ends.get(other, ()) if {arrow.actor, arrow.target} <= inside]
    return names, list(dict.fromkeys(found))


def places(names: Sequence[str], found: Iterable[Arrow]) -> dict[str, tuple[int, int]]:
    """Return (column, row) of each name: one column right of the right-most record that it acts on."""
    inside = set(names)
    below: dict[str, list[str]] = defaultdict(list)
    for arrow in found:
        if {arrow.actor, arrow.target} <= inside:
            below[arrow.actor].append(arrow.target)
    columns: dict[str, int] = {}
    for start in names:
        waiting = [(start, iter(below[start]))]
        open_now = {start}
        while waiting:
            name, rest = waiting[-1]
            following = next((other for other in rest if other not in columns and other not in open_now), None)
            if following is None:
                columns.setdefault(name, max((columns[t] + 1 for t in below[name] if t in columns), default=0))
                open_now.discard(name)
                waiting.pop()
            else:
                open_now.add(following)
                waiting.append((following, iter(below[following])))
    rows: dict[int, int] = defaultdict(int)
    placed: dict[str, tuple[int, int]] = {}
    for name in names:
        placed[name] = (columns[name], rows[columns[name]])
        rows[columns[name]] += 1
    return placed


def draw(site: Site, names: Sequence[str], found: Sequence[Arrow], url: Url, here: str = "") -> Markup:
    """Return the drawing of these records and the arrows between them; ``here`` is the page's own."""
    shown = list(names)[:MOST]
    placed = places(shown, found)
    wide = (max(column for column, _ in placed.values()) + 1) * (WIDE + ACROSS) - ACROSS + 2 * EDGE
    high = (max(row for _, row in placed.values()) + 1) * (HIGH + DOWN) - DOWN + 2 * EDGE
    lines = [_arrow(arrow, placed) for arrow in found if arrow.actor in placed and arrow.target in placed]
    nodes = [_node(site.by_name[name], placed[name], url, here) for name in shown]
    kinds = sorted({arrow.relation for arrow in found if arrow.actor in placed and arrow.target in placed})
    marks = Markup("").join(
        Markup('<marker id="m-{}" class="arrow e-{}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
               'markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8Z"/></marker>').format(kind, kind)
        for kind in kinds
    )  # fmt: skip
    return Markup(
        '<svg class="drawn" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="group" aria-label="{label}">'
        "<defs>{marks}</defs>{lines}{nodes}</svg>"
    ).format(w=wide, h=high, label=f"{len(shown)} records and what they did to one another", marks=marks,
             lines=Markup("").join(lines), nodes=Markup("").join(nodes))  # fmt: skip


def _corner(place: tuple[int, int]) -> tuple[int, int]:
    return EDGE + place[0] * (WIDE + ACROSS), EDGE + place[1] * (HIGH + DOWN)


def _arrow(arrow: Arrow, placed: dict[str, tuple[int, int]]) -> Markup:
    (x1, y1), (x2, y2) = _corner(placed[arrow.actor]), _corner(placed[arrow.target])
    start, end = (x1, x2 + WIDE + 2) if x1 > x2 else (x1 + WIDE, x2 - 2)
    y1, y2 = y1 + HIGH // 2, y2 + HIGH // 2
    bend = ACROSS // 2 if x1 > x2 else -ACROSS // 2
    if x1 == x2:  # a circle, or two records that only relate
        start, end, bend = x1, x2 - 2, ACROSS // 2
    path = f"M{start} {y1}C{start - bend} {y1} {end + (bend if x1 != x2 else -bend)} {y2} {end} {y2}"
    return Markup('<path class="edge e-{}" d="{}" marker-end="url(#m-{})"/>').format(
        arrow.relation, path, arrow.relation
    )


def _middle(ident: str) -> str:
    """Return an id without its middle where it is long: ids mostly differ at their end."""
    return ident if len(ident) <= _NAME else f"{ident[: _NAME // 2 - 1]}…{ident[-_NAME // 2 :]}"


def _node(item: Item, place: tuple[int, int], url: Url, here: str) -> Markup:
    x, y = _corner(place)
    title = one_line(item.record.title)
    inner = Markup(
        '<rect width="{}" height="{}" rx="6"/><circle cx="14" cy="16" r="4.5" class="f-{}"/>'
        '<text x="25" y="20">{}</text><text class="line2" x="12" y="37">{}</text><title>{}</title>'
    ).format(WIDE, HIGH, item.status, _middle(item.record.id), shorten(title, _LINE), f"{title} ({item.status})")
    if item.name == here:
        return Markup('<g class="node centre" transform="translate({} {})">{}</g>').format(x, y, inner)
    return Markup('<a class="node" href="{}" transform="translate({} {})" aria-label="{}">{}</a>').format(
        url(page_of(item)), x, y, f"{item.record.id}, {item.status}: {title}", inner
    )
