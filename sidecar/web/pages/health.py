"""What `sidecar doctor` finds, worst first."""

from __future__ import annotations

from pathlib import Path

from sidecar.web.given import Given
from sidecar.web.html import plural
from sidecar.web.reader import Page

_TITLES = {"critical": "Mend this first", "warning": "Worth mending", "info": "Good to know", "ok": "In order"}
_NOUNS = {
    "critical": ("critical finding",),
    "warning": ("warning",),
    "info": ("note",),
    "ok": ("check in order", "checks in order"),
}
_COLOURS = {"critical": "bad", "warning": "wait", "info": "", "ok": "good"}


def page(folder: Path, _given: Given) -> Page:
    """Return the findings on a folder, without the checks that change or take long."""
    from sidecar.doctor.diagnose import diagnose

    report = diagnose(folder)
    groups = [
        {"name": name, "title": title, "colour": _COLOURS[name],
         "findings": [f for f in report.findings if f.severity == name]}
        for name, title in _TITLES.items()
    ]  # fmt: skip
    counts = [plural(len(g["findings"]), *_NOUNS[str(g["name"])]) for g in groups if g["findings"]]
    return Page("health.html", "Health", {
        "groups": groups, "worst": report.worst, "counts": ", ".join(counts),
        "skipped": [(name, reason) for name, reason in report.skipped],
    })  # fmt: skip
