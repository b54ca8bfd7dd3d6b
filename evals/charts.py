"""The charts of a report as inline SVG, drawn by pygal. Colours are the page's variables, so both themes fit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from seed.errors import SidecarError

_WIDTH, _HEIGHT = 640, 400
_FONT = 22
"""Size in units of the drawing: about 12 pixels on a phone, where 640 units are 360 pixels wide."""
_JITTER = 0.28
_TICKS = (0, 0.25, 0.5, 0.75, 1)
_EXTRAS = re.compile(r"<!--.*?-->|<script.*?</script>", re.DOTALL)
_CSS = """inline:
{{ id }} .guide.line, {{ id }} .axis .line { stroke: var(--line) !important; }
{{ id }} .series .line { stroke-width: 3 !important; stroke-opacity: 1 !important; }
"""


def risk_coverage(found: Mapping[str, Any]) -> str:
    """Return the curve: unanswerable questions answered (x) against answerable ones answered (y), and the floor."""
    points = [(0.0, 0.0), *((risk, coverage) for _, coverage, risk in found["curve"])]
    here = (found["answered_unanswerable"], found["answered_answerable"])
    chart = _chart(
        "coverage", x_title="unanswerable answered", y_title="answerable answered", range=(0, 1), xrange=(0, 1)
    )
    chart.x_labels = chart.y_labels = _TICKS
    chart.add("any threshold", points, show_dots=False, stroke_style={"width": 4})
    chart.add("the floor in force", [here] if None not in here else [], stroke=False, dots_size=11)
    return _svg(chart)


def distribution(found: Mapping[str, Any], key: str, title: str, floors: Sequence[float]) -> str:
    """Return one dot a question along its evidence (``key``), answerable ones above unanswerable ones."""
    top = max([1.0, *floors, *(q[key] for q in found["questions"] if q[key] is not None)])
    chart = _chart(key, x_title=title, range=(-0.5, 1.5), xrange=(0, top), show_legend=False)
    chart.x_labels = [tick / 4 for tick in range(int(top * 4) + 1)]
    chart.y_labels = [{"label": "unanswerable", "value": 0}, {"label": "answerable", "value": 1}]
    for row, name in ((1, "answerable"), (0, "unanswerable")):
        values = sorted(max(q[key], 0.0) for q in found["questions"] if q["class"] == name and q[key] is not None)
        dots = [(value, row + _JITTER * ((at % 5) - 2) / 2) for at, value in enumerate(values)]
        chart.add(name, dots, stroke=False, dots_size=6)
    for floor in floors:
        chart.add(
            "floor", [(floor, -0.5), (floor, 1.5)], show_dots=False, stroke_style={"width": 3, "dasharray": "8, 6"}
        )
    return _svg(chart)


def _chart(name: str, **options: Any) -> Any:  # noqa: ANN401 - pygal ships no types
    try:
        import pygal
        from pygal.style import Style
    except ImportError:  # an optional dependency
        raise SidecarError("the report's charts need pygal", "pip install 'knowledge-sidecar[evals]'") from None
    sizes = {f"{part}_font_size": _FONT for part in ("label", "major_label", "title", "legend")}
    style = Style(
        background="transparent", plot_background="transparent", foreground="var(--text)",
        foreground_strong="var(--text)", foreground_subtle="var(--line)", opacity="0.75",
        colors=("var(--first)", "var(--second)", "var(--text)", "var(--text)"), font_family="inherit", **sizes,
    )  # fmt: skip
    chart = pygal.XY(
        style=style, js=[], css=["file://style.css", "file://graph.css", _CSS], width=_WIDTH, height=_HEIGHT,
        legend_at_bottom=True, legend_at_bottom_columns=2, disable_xml_declaration=True, explicit_size=False,
        truncate_legend=-1, x_value_formatter="{:g}".format, value_formatter="{:g}".format, **options,
    )  # fmt: skip
    chart.uuid = name
    return chart


def _svg(chart: Any) -> str:  # noqa: ANN401 - pygal ships no types
    """Return the drawing without pygal's comments, which hold the date, and without its script."""
    return _EXTRAS.sub("", chart.render(is_unicode=True))
