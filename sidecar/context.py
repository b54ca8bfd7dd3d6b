"""What a session should start with: the records that bear on a task, chosen and cut to a budget of tokens. Pure.

Everything is named first, then the most binding records get their line, then what room is left goes to their text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sidecar.answer import width
from sidecar.quote import quoted, shorten

Entry = dict[str, Any]
Pack = dict[str, Any]

DEFAULT_BUDGET = 2000
LEAST_BUDGET = 200
WIDTH_OF_TOKEN = 3.5
"""Characters of JSON that cost at most one token (1500 cost 428 tokens of o200k_base, see `answer.BRIEF_WIDTH`)."""
SECTIONS = ("constraints", "decisions", "findings", "decided_against", "open_items", "conflicts")
_TITLES = ("Constraints", "Decisions", "Facts and findings", "Decided against", "Open items", "Unsettled conflicts")
_WITH_TEXT = ("constraints", "decisions", "findings")
_FIRST = 3
_LEAST_TEXT, _MOST_TEXT = 80, 900
_CONSTRAINING = frozenset({"constraint", "constraints", "rule", "invariant", "guardrail", "policy"})
_BINDING = re.compile(
    r"\b(?:must|shall|never|always|only|cannot|required?|forbid(?:s|den)?|may not|do(?:es)? not|no)\b"
    r"|必须|必須|务必|不得|不可|不能|禁止",
    re.IGNORECASE,
)
"""The words of RFC 2119 for an absolute requirement or prohibition, and the plain ones that titles use for them."""


@dataclass(frozen=True, slots=True)
class Found:
    """What bears on a task: results of a recall in full form, their neighbours in the graph, and the side lists."""

    results: Sequence[Mapping[str, Any]]
    neighbours: Sequence[Mapping[str, Any]] = ()
    against: Sequence[Mapping[str, Any]] = ()
    open_items: Sequence[Mapping[str, Any]] = ()
    more: int = 0


def tokens(value: object) -> int:
    """Return what a value's JSON costs at most, in tokens."""
    return math.ceil(width(value) / WIDTH_OF_TOKEN)


def binds(result: Mapping[str, Any]) -> bool:
    """Tell whether a record is a constraint: by a tag that says so, or a decision whose title requires or forbids."""
    if any(tag.casefold() in _CONSTRAINING for tag in result.get("tags", ())):
        return True
    return result["kind"] in ("decision", "adr") and bool(_BINDING.search(result["title"]))


def assemble(found: Found, frame: Mapping[str, Any], budget: int) -> Pack:
    """Return the pack of at most ``budget`` tokens: ``frame``, which stands in it anyway, the sections, what is left.

    ``left_out`` names what had no room, ``more`` counts what was not even named or was further down the ranking.
    """
    entries = _entries(found)
    pack: Pack = {**frame, **{name: [] for name in SECTIONS}, "left_out": [], "more": 0, "budget": budget, "tokens": 0}
    room = budget * WIDTH_OF_TOKEN - width(pack) - 12  # the digits of the two counts
    named = _nameable(entries, min(room, budget * WIDTH_OF_TOKEN / 4))
    room -= sum(_cost(_name(*item)) for item in entries[:named])
    taken: list[tuple[str, Entry]] = []
    left: list[Entry] = []
    for at, (section, entry) in enumerate(entries):
        back = _cost(_name(section, entry)) if at < named else 0
        if _cost(_line(entry)) - back <= room:
            room -= _cost(_line(entry)) - back
            taken.append((section, entry))
        elif at < named:
            left.append(_name(section, entry))
    texts = _texts([entry for section, entry in taken if section in _WITH_TEXT], room)
    for name in SECTIONS:
        pack[name] = [_line(e) | texts.get(e.get("id", ""), {}) for section, e in taken if section == name]
    pack["left_out"] = left
    pack["more"] = found.more + len(entries) - len(taken) - len(left)
    pack["tokens"] = tokens({**pack, "tokens": budget})  # no more digits than the budget has
    return pack


def _entries(found: Found) -> list[tuple[str, Entry]]:
    """Return (section, entry) in the order in which they get room: what binds, the best, the sides, then the rest."""
    bearing = [_entry(result) for result in (*found.results, *found.neighbours)]
    sections = ["constraints" if binds(r) else "decisions" if r["kind"] in ("decision", "adr") else "findings"
                for r in (*found.results, *found.neighbours)]  # fmt: skip
    binding = [("constraints", e) for s, e in zip(sections, bearing, strict=True) if s == "constraints"]
    other = [(s, e) for s, e in zip(sections, bearing, strict=True) if s != "constraints"]
    sides = [("decided_against", _entry(e)) for e in found.against]
    sides += [("conflicts", e) for e in _conflicts((*found.results, *found.neighbours))]
    sides += [("open_items", _entry(e)) for e in found.open_items]
    return [*binding, *other[:_FIRST], *sides, *other[_FIRST:]]


def _entry(result: Mapping[str, Any]) -> Entry:
    kept = {k: result[k] for k in ("id", "kind", "title", "status", "date", "why", "path", "on_base") if result.get(k)}
    text = " ".join(result.get("passage", {}).get("text", "").split())
    return {**kept, "title": shorten(result["title"], 160), "text": text}


def _conflicts(results: Sequence[Mapping[str, Any]]) -> list[Entry]:
    """Return each unsettled contradiction once, whichever of its two records it was found on."""
    found: dict[tuple[str, ...], Entry] = {}
    for result in results:
        for conflict in result.get("conflicts", ()):
            pair = tuple(sorted((result["id"], conflict["id"])))
            told = {"ids": list(pair), "state": conflict["state"], "reason": shorten(conflict["reason"], 200)}
            found.setdefault(pair, told)
    return list(found.values())


def _line(entry: Entry) -> Entry:
    return {k: v for k, v in entry.items() if k != "text"}


def _name(section: str, entry: Entry) -> Entry:
    return {"id": entry["id"] if "id" in entry else " / ".join(entry["ids"]), "section": section}


def _cost(entry: Entry) -> int:
    return width(entry) + len(", ")


def _nameable(entries: Sequence[tuple[str, Entry]], room: float) -> int:
    """Return how many entries can be named by id in the room there is."""
    for at, item in enumerate(entries):
        room -= _cost(_name(*item))
        if room < 0:
            return at
    return len(entries)


def _texts(entries: Sequence[Entry], room: float) -> dict[str, Entry]:
    """Share the room among the records in order; what one does not need goes to those after it."""
    found: dict[str, Entry] = {}
    for at, entry in enumerate(entries):
        share = room / (len(entries) - at) - len(', "text": ""')
        text = entry["text"]
        if not text or share < _LEAST_TEXT:
            continue
        kept = shorten(text, int(min(share * len(text) / width(text), _MOST_TEXT)))
        while width(kept) > share and len(kept) > 1:
            kept = shorten(kept, len(kept) * 3 // 4)
        found[entry["id"]] = {"text": kept}
        room -= width(kept) + len(', "text": ')
    return found


def render(pack: Pack) -> str:
    """Return a pack as text: the same facts, and every record's words behind a margin."""
    lines = [f"Context for: {pack['task']}"]
    lines += [f"Note: {pack['note']}"] if pack.get("note") else []
    for name, title in zip(SECTIONS, _TITLES, strict=True):
        if pack[name]:
            lines.append(f"{title}:")
            lines += [line for entry in pack[name] for line in _shown(entry)]
    if not any(pack[name] for name in SECTIONS):
        lines.append("No record bears on it.")
    if pack["left_out"]:
        lines.append("Left out for room: " + ", ".join(entry["id"] for entry in pack["left_out"]) + ".")
    if pack["more"]:
        lines.append(f"{pack['more']} more bear on it: see 'sidecar recall', or give a larger budget.")
    revision, receipt = pack["revision"], pack["receipt"]
    stored = "" if receipt["stored"] else " (not stored)"
    lines.append(f"{revision['repository']} at {revision['commit'] or 'no commit'}"
                 f"{' (stale)' if revision['stale'] else ''}; about {pack['tokens']} of {pack['budget']} tokens; "
                 f"receipt {receipt['id'][:23]}{stored}")  # fmt: skip
    return "\n".join(lines)


def _shown(entry: Entry) -> list[str]:
    if "ids" in entry:
        return [f"- {' / '.join(entry['ids'])} ({entry['state']}): {entry['reason']}"]
    date = f", {entry['date']}" if entry.get("date") else ""
    why = f"; why: {entry['why']}" if entry.get("why") else ""
    line = f"- {entry['id']} ({entry['kind']}, {entry['status']}{date}) {entry['title']}{why}; {entry['path']}"
    if entry.get("on_base"):
        line += f"; on the default branch: {entry['on_base'].get('reason', 'changed')}"
    return [line, *([quoted(entry["text"], "  ")] if entry.get("text") else [])]
