"""What was scanned, judged and closed, as lines of text for the command line and for MCP hosts. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sidecar.tell import published

Done = Mapping[str, Any]


def scanned(found: Done) -> list[str]:
    """Return the text of a scan."""
    anew = ", all anew" if found["anew"] else ""
    lines = [
        f"Compared {found['compared']} of {found['records']} records{anew}; {found['total']} pairs wait for a judge."
    ]
    lines += [line for pair in found["pairs"] for line in _pair(pair)]
    if found["pairs"]:
        lines.append("Judge each: sidecar conflicts record ID ID contradicts|duplicates|compatible --reason WHY")
    return lines


def _pair(pair: Done) -> list[str]:
    sides = [f"   {ident}: {title}" for ident, title in zip(pair["ids"], pair["titles"], strict=True)]
    differs = f"; {pair['differs']}" if pair["differs"] else ""
    head = f"- {' / '.join(pair['ids'])}: {pair['why']}{differs}; cosine {pair['cosine']:.2f}"
    return [head, *sides, f"   if they contradict: {pair['suggestion']['reason']}"]


def recorded(done: Done) -> list[str]:
    """Return the text of a verdict or of its closing."""
    pair = " / ".join(done["ids"])
    if done["already"]:
        return [f"{pair}: {done['verdict']} is recorded already, in {done['id']}."]
    return [
        f"{pair}: {done['verdict']}, as {done['id']} on {done['branch']} ({done['commit'][:12]}).",
        *published(done),
    ]


def listed(found: Done) -> list[str]:
    """Return the text of a listing."""
    lines = []
    for one in found["recorded"]:
        waits = "" if one["reviewed"] else ", not reviewed"
        lines.append(
            f"- {one['id']} ({one['state']}{waits}) {' / '.join(one['ids'])}: {one['verdict']}: {one['reason']}"
        )
        if one["state"] == "open":
            lines.append(f"   {one['suggestion']['reason']}")
    if found["hints"]:
        lines.append(f"Not judged ({len(found['hints'])}):")
        lines += [line for pair in found["hints"] for line in _pair(pair)]
    return lines or ["No contradiction is recorded or hinted at. 'sidecar conflicts scan' looks for some."]
