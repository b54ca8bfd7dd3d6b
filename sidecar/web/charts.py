"""Small drawings as SVG, coloured by the style sheet, each with its figures in words beside it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

WIDTH, HEIGHT = 360, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 20, 12, 44
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
Point = tuple[float, float]


def _x(share: float) -> float:
    return round(_LEFT + share * (WIDTH - _LEFT - _RIGHT), 1)


def _y(share: float) -> float:
    return round(HEIGHT - _BOTTOM - share * (HEIGHT - _TOP - _BOTTOM), 1)


def _path(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{_x(x)} {_y(y)}" for x, y in points)


def _axes(x_title: str, y_title: str, *, x_ticks: bool = True) -> Markup:
    rows = [Markup('<path class="grid" d="M{} {}H{}"/>').format(_LEFT, _y(t), WIDTH - _RIGHT) for t in _TICKS]
    rows += [Markup('<text x="{}" y="{}" text-anchor="end">{:.0%}</text>').format(_LEFT - 6, _y(t) + 4, t)
             for t in _TICKS]  # fmt: skip
    rows += [Markup('<text x="{}" y="{}" text-anchor="middle">{:.0%}</text>').format(_x(t), HEIGHT - _BOTTOM + 17, t)
             for t in (_TICKS if x_ticks else ())]  # fmt: skip
    middle = (_TOP + HEIGHT - _BOTTOM) / 2
    rows.append(Markup('<text class="axis" x="{}" y="{}" text-anchor="middle">{}</text>').format(
        (_LEFT + WIDTH) / 2, HEIGHT - 8, x_title))  # fmt: skip
    rows.append(Markup('<text class="axis" transform="translate(10 {}) rotate(-90)" text-anchor="middle">{}</text>')
                .format(middle, y_title))  # fmt: skip
    return Markup("").join(rows)


def _svg(label: str, inner: Markup) -> Markup:
    return Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        WIDTH, HEIGHT, label, inner
    )


def risk_coverage(curve: Sequence[Sequence[float]], here: Point | None) -> Markup:
    """Return the curve of (threshold, coverage, risk); ``here`` is (risk, coverage) of the floor in force."""
    points = [(0.0, 0.0), *((float(risk), float(coverage)) for _, coverage, risk in curve)]
    inner = _axes("unanswerable questions answered (risk)", "answerable answered")
    inner += Markup('<path class="line first" d="{}"/>').format(_path(points))
    told = ""
    if here is not None:
        inner += Markup('<circle class="dot second" cx="{}" cy="{}" r="6"/>').format(_x(here[0]), _y(here[1]))
        told = f" The floor in force answers {here[1]:.0%} of the answerable and {here[0]:.0%} of the unanswerable."
    return _svg(f"Risk and coverage of every threshold.{told}", inner)


def trend(series: Sequence[tuple[str, str, Sequence[float | None]]], x_title: str) -> Markup:
    """Return lines over runs, oldest first: (name, class of its colour, values of 0 to 1, None where unmeasured)."""
    inner = _axes(x_title, "share", x_ticks=False)
    for _, colour, values in series:
        step = 1 / max(len(values) - 1, 1)
        points = [
            (at * step if len(values) > 1 else 0.5, value) for at, value in enumerate(values) if value is not None
        ]
        if len(points) > 1:
            inner += Markup('<path class="line {}" d="{}"/>').format(colour, _path(points))
        for x, y in points:
            inner += Markup('<circle class="dot {}" cx="{}" cy="{}" r="4"/>').format(colour, _x(x), _y(y))
    named = ", ".join(name for name, _, _ in series)
    return _svg(f"{named} over {max((len(v) for _, _, v in series), default=0)} results, oldest first.", inner)


def bar(share: float) -> Markup:
    """Return a share of 0 to 1 as a thin bar; the figure stands beside it in words."""
    width = round(max(0.0, min(share, 1.0)) * 100, 1)
    return Markup(
        '<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="rail" width="100" height="6"/><rect class="fill" width="{}" height="6"/></svg>'
    ).format(width)


def columns(counts: Sequence[tuple[str, int, str]]) -> Markup:
    """Return columns that lead somewhere: (what it counts, how many, URL); the tallest fills the height."""
    most = max((count for _, count, _ in counts), default=1) or 1
    inner = Markup("").join(_column(at, name, count, url, most) for at, (name, count, url) in enumerate(counts))
    return Markup(
        '<svg class="columns" width="{}" height="60" viewBox="0 0 {} 60" preserveAspectRatio="none" role="group" '
        'aria-label="How many, over time">{}</svg>'
    ).format(len(counts) * 22, len(counts) * 10, inner)


def _column(at: int, name: str, count: int, url: str, most: int) -> Markup:
    tall = round(58 * count / most + 2, 1) if count else 0
    return Markup(
        '<a href="{}" aria-label="{}: {}"><title>{}: {}</title><rect class="hit" x="{}" y="0" width="10" height="60"/>'
        '<rect class="fill" x="{}" y="{}" width="8" height="{}"/></a>'
    ).format(url, name, count, name, count, at * 10, at * 10 + 1, 60 - tall, tall)
