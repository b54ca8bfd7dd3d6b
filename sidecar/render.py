"""The answer as text, for terminals and for MCP hosts that show text. Pure; the same facts as the object."""

from __future__ import annotations

import os
from typing import Any

from sidecar.quote import quoted

_COLOURS = {
    "accepted": "32",
    "verified": "32",
    "unverified": "33",
    "candidate": "35",
    "proposed": "33",
    "rejected": "31",
    "superseded": "31",
    "refuted": "31",
    "deprecated": "31",
    "historical": "90",
    "unknown": "90",
}
_VERDICTS = {
    "match": "Match",
    "weak": "Weak match: confirm before you rely on it",
    "none": "No match",
}


def render(answer: dict[str, Any], *, colour: bool = False) -> str:
    """Return an answer of either detail as text."""
    paint = _painter(colour)
    lines = [paint(_VERDICTS[answer["verdict"]] + ".", "1")]
    if answer.get("note"):
        lines.append(answer["note"])
    for at, result in enumerate(answer["results"], 1):
        lines += _result(at, result, paint)
    for name, title in (
        ("decided_against", "Decided against"),
        ("retired", "No longer in force"),
        ("open_items", "Open items"),
    ):
        if answer.get(name):
            lines.append(title + ":")
            lines += [_side(entry, paint) for entry in answer[name]]
    lines += _footer(answer)
    return "\n".join(lines)


def _painter(colour: bool) -> Any:  # noqa: ANN401 - a small closure
    if not colour or os.environ.get("NO_COLOR"):
        return lambda text, _code: text
    return lambda text, code: f"\033[{code}m{text}\033[0m" if code else text


def _result(at: int, result: dict[str, Any], paint: Any) -> list[str]:  # noqa: ANN401 - see _painter
    status = paint(result["status"], _COLOURS.get(result["status"], ""))
    if result["status"] == "candidate":
        status += ", not reviewed"
    date = f", {result['date']}" if result.get("date") else ""
    lines = [f"{at}. {result['id']} ({result['kind']}, {status}{date}) {result['title']}"]
    lines.append(f"   why: {result['why']}; score {result['score']:.2f}; {result['path']}")
    if result.get("status_in_file"):
        lines.append(f"   its file says: {result['status_in_file']}")
    conflicts = result.get("conflicts") or []
    lines += [f"   conflict ({entry['state']}): {entry['id']}: {entry['reason']}" for entry in conflicts]
    if result.get("on_base"):
        lines.append(f"   on the default branch: {result['on_base'].get('reason', 'changed')}")
    lines += [f"   {link['relation']} {link['id']} ({link['status']})" for link in result.get("lineage") or []]
    passage = result.get("passage") or ""
    text = passage if isinstance(passage, str) else passage.get("text", "")
    if text:
        lines.append(quoted(text))
    return lines


def _side(entry: dict[str, Any], paint: Any) -> str:  # noqa: ANN401 - see _painter
    status = paint(entry["status"], _COLOURS.get(entry["status"], ""))
    after = f", replaced by {', '.join(entry['replaced_by'])}" if entry.get("replaced_by") else ""
    return f"- {entry['id']} ({status}{after}) {entry['title']}"


def _footer(answer: dict[str, Any]) -> list[str]:
    lines = []
    held = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in answer["withheld"].items() if n)
    if held:
        lines.append(f"Held back: {held}.")
    if answer.get("has_more"):
        lines.append(f"{answer['total']} in all; next page: cursor {answer['next_cursor']}")
    if answer.get("degraded"):
        lines.append(f"Degraded: {answer['degraded']}.")
    revision = answer["revision"]
    stale = f" (stale: HEAD is {revision['head'][:12]})" if revision["stale"] else ""
    receipt = answer["receipt"]["id"] if isinstance(answer["receipt"], dict) else answer["receipt"]
    commit = revision["commit"][:12] or "no commit"
    lines.append(f"{revision['repository']} at {commit}{stale}; {answer['retrieval']}; receipt {receipt[:23]}")
    return lines
