"""The answer as text, for terminals and for MCP hosts that show text. Pure; the same facts as the object."""

from __future__ import annotations

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
_SURE = {"match": "1;32", "weak": "1;33", "none": "1"}


def render(answer: dict[str, Any], *, colour: bool = False) -> str:
    """Return an answer of either detail as text."""
    paint = _painter(colour)
    lines = [paint(_VERDICTS[answer["verdict"]] + ".", _SURE[answer["verdict"]])]
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
            lines.append(paint(title + ":", "1"))
            lines += [_side(entry, paint) for entry in answer[name]]
    lines += [paint(line, "2") for line in _footer(answer)]
    return "\n".join(lines)


def _painter(colour: bool) -> Any:  # noqa: ANN401 - a small closure
    if not colour:
        return lambda text, _code: text
    return lambda text, code: f"\033[{code}m{text}\033[0m" if code else text


def _result(at: int, result: dict[str, Any], paint: Any) -> list[str]:  # noqa: ANN401 - see _painter
    status = paint(result["status"], _COLOURS.get(result["status"], ""))
    if result["status"] == "candidate":
        status += ", not reviewed"
    date = f", {result['date']}" if result.get("date") else ""
    lines = [f"{at}. {paint(result['id'], '1')} ({result['kind']}, {status}{date}) {paint(result['title'], '1')}"]
    why = [f"why: {result['why']}"] if result.get("why") else []
    score = [f"score {result['score']:.2f}"] if "score" in result else []
    lines.append(f"   {paint('; '.join([*why, *score, result['path']]), '2')}")
    if result.get("status_in_file"):
        lines.append(f"   its file says: {result['status_in_file']}")
    conflicts = result.get("conflicts") or []
    lines += [f"   conflict ({entry['state']}): {entry['id']}: {entry['reason']}" for entry in conflicts]
    if there := result.get("on_base"):
        lines.append(f"   on {there['ref']}: {there['status']} ({there['reason']})")
    lines += [f"   {link['relation']} {link['id']} ({link['status']})" for link in result.get("lineage") or []]
    passage = result.get("passage") or ""
    text = passage if isinstance(passage, str) else passage.get("text", "")
    if text:
        lines.append(quoted(text))
    return lines


def _side(entry: dict[str, Any], paint: Any) -> str:  # noqa: ANN401 - see _painter
    status = paint(entry["status"], _COLOURS.get(entry["status"], ""))
    after = f", replaced by {', '.join(entry['replaced_by'])}" if entry.get("replaced_by") else ""
    date = f", {entry['date']}" if entry.get("date") else ""
    why = f"; why: {entry['why']}" if entry.get("why") else ""
    there = f"; on {base['ref']}: {base['status']} ({base['reason']})" if (base := entry.get("on_base")) else ""
    return f"- {entry['id']} ({status}{date}{after}) {entry['title']}{why}{there}"


def _footer(answer: dict[str, Any]) -> list[str]:
    lines = []
    held = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in answer["withheld"].items() if n)
    if held:
        lines.append(f"Held back: {held}.")
    if answer.get("next_cursor"):
        lines.append(f"{answer['total']} in all; next page: cursor {answer['next_cursor']}")
    elif answer["retrieval"] == "listing":
        lines.append(f"{answer['total']} in all.")
    if answer.get("degraded"):
        lines.append(f"Degraded: {answer['degraded']}.")
    receipt = answer["receipt"]
    if isinstance(receipt, dict):
        receipt = receipt["id"][:23] + ("" if receipt["stored"] else " (not stored)")
    lines.append(f"{_where(answer['revision'])}; {answer['retrieval']}; receipt {receipt}")
    return lines


def render_record(found: dict[str, Any], *, colour: bool = False) -> str:
    """Return one record as Markdown; everything that its file says stands as quoted data."""
    paint = _painter(colour)
    record = found["record"]
    lines = [paint(f"# {record['id']}: {record['title']}", "1"), ""]
    lines += [f"- {name}: {_plain(record[key])}" for name, key in _FACTS if record.get(key)]
    lines += [f"- source: {_plain(source)}" for source in record.get("source", [])]
    lines += [f"- {name}: {value}" for name, value in record.get("extra", {}).items()]
    lines += [f"- conflict ({c['state']}): {c['id']}: {c['reason']}" for c in record.get("conflicts", [])]
    lines += [f"- also in {twin['path']} ({twin['status']}): {twin['title']}" for twin in found["twins"]]
    if there := record.get("on_base"):
        lines.append(f"- on {there['ref']}: {there['status']} ({there['reason']})")
    lines += [f"- {link['relation']} {link['id']} ({link['status']})" for link in found["lineage"]]
    lines += _surroundings(found)
    if found["body"]:
        lines += ["", quoted(found["body"], "")]
    if found.get("note"):
        lines += ["", found["note"]]
        lines += [f"- {part['section'] or '(before the first heading)'}: {part['chars']}" for part in found["sections"]]
    if found["next_cursor"]:
        lines.append(f"Next page: cursor {found['next_cursor']}")
    lines += ["", "History:"] if found["history"] else []
    lines += [f"- {t['date'][:10]} {t['commit'][:12]} {t['author']}: {t['subject']}" for t in found["history"]]
    if not found["history_complete"]:
        lines.append("- older commits are not listed")
    return "\n".join([*lines, "", _where(found["revision"])])


def _surroundings(found: dict[str, Any]) -> list[str]:
    """Return the steps of the chain beyond the next one, who else cites the record, and paths that are gone."""
    lines = []
    for step in found["chain"]:
        if abs(step["step"]) > 1 or step.get("cycle"):
            date = f", {step['date']}" if step["date"] else ""
            circle = ": a circle" if step.get("cycle") else ""
            lines.append(f"- {step['of']} {step['relation']} {step['id']} ({step['status']}{date}){circle}")
    near = {link["id"] for link in found["lineage"]}
    lines += [f"- cited by {c['id']} ({c['status']}): {c['how']}" for c in found["cited_by"] if c["id"] not in near]
    return [*lines, *(f"- path that is gone: {path['path']}" for path in found["paths"] if not path["exists"])]


_FACTS = (
    ("kind", "kind"),
    ("status", "status"),
    ("its file says", "status_in_file"),
    ("date", "date"),
    ("trust", "trust"),
    ("tags", "tags"),
    ("paths", "paths"),
    ("workspace", "workspace"),
    ("valid until", "valid_until"),
    ("proposed by", "proposed_by"),
    ("file", "path"),
    ("branch, not reviewed", "branch"),
)


def _plain(value: Any) -> str:  # noqa: ANN401 - JSON data
    if isinstance(value, dict):
        return ", ".join(f"{k} {v}" for k, v in value.items())
    return ", ".join(value) if isinstance(value, list) else str(value)


def _where(revision: dict[str, Any]) -> str:
    stale = f" (stale: HEAD is {revision['head'][:12]})" if revision["stale"] else ""
    return f"{revision['repository']} at {revision['commit'][:12] or 'no commit'}{stale}"
