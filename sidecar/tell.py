"""What became of a proposal, a promotion or an edit, as lines of text for the command line and for MCP hosts. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sidecar.quote import one_line

Done = Mapping[str, Any]
_HINTS = {
    "near_duplicate": "may say the same as",
    "may_contradict": "may contradict",
    "decided_against": "was decided against in",
    "needs_user_confirmation": "would overturn",
}


def proposed(done: Done) -> list[str]:
    """Return the text of a proposal."""
    lines = [f"warning: {one_line(text)}" for text in done["warnings"]]
    lines += [_hint(hint) for hint in done["write_hints"]]
    if done.get("dry_run"):
        return [*lines, f"Would propose {done['id']}; nothing was written."]
    again = done["seen_again"]
    first = f"{done['id']} waits already; counted as seen again ({again})" if again else f"Proposed {done['id']}"
    return [*lines, f"{first} on {done['branch']} ({done['commit'][:12]}).", *published(done)]


def _hint(hint: Done) -> str:
    title, why = one_line(hint["title"], 120), one_line(hint["why"], 160)
    return f"hint: {_HINTS[hint['hint']]} {hint['id']} ({hint['status']}) {title} - {why}"


def published(done: Done) -> list[str]:
    """Return whether a branch was pushed, and the command that does it."""
    if done["pushed"]:
        return ["Pushed."]
    note = [f"Not pushed: {one_line(done['push_note'])}."] if done.get("push_note") else []
    return [*note, *([f"To share it: {done['command']}"] if done["command"] else [])]


def waiting(found: Done) -> list[str]:
    """Return the text of a listing of candidates."""
    lines = [line for one in found["candidates"] for line in _one(one)]
    note = [found["note"]] if found.get("note") else []
    return [*(lines or ["No candidates wait. 'sidecar propose FILE' makes one."]), *note]


def _one(one: Done) -> list[str]:
    by = one["proposed_by"].get("agent", "unknown")
    again = f", seen again {one['seen_again']} times" if one["seen_again"] else ""
    merged = " (merged; end it with 'sidecar withdraw')" if one["state"] == "merged" else ""
    lines = [f"{one['id']} ({one['kind']}, candidate, not reviewed){merged} {one['title']}"]
    lines.append(f"   {one['age_days']} days old, by {by} ({one['author']}){again}; on {', '.join(one['places'])}")
    return lines + [f"   near: {near['id']} ({near['status']}) {near['title']}" for near in one["nearest"]]


def promoted(done: Done) -> list[str]:
    """Return the text of a promotion."""
    lines = []
    for one in done["records"]:
        raised = f" ({one['raised']})" if "raised" in one else ""
        lines.append(f"{one['id']}: {one['status']}, trust {one['trust']}, {one['path']}{raised}")
    lines += [f"closes {one['id']}: {one['status']}" for one in done["closed"]]
    lines.append(f"Branch {done['branch']} ({done['commit'][:12]}) from {done['base']['ref']}; check passed.")
    if done["pull_request"]:
        return [*lines, f"Pull request: {done['pull_request']}"]
    note = one_line(done["note"])
    return [*lines, f"{note[:1].upper()}{note[1:]}.", *(f"  {command}" for command in done["commands"])]


def withdrawn(done: Done) -> list[str]:
    """Return the text of a withdrawal."""
    lines = [f"Withdrawn: {done['id']} (to get it back: {done['restore']})."] if done["withdrawn"] else []
    return [*lines, *([f"Still on the remote until: {done['command']}"] if done["command"] else [])]


def edited(done: Done) -> list[str]:
    """Return the text of a revision or of forgetting a record."""
    if done.get("code"):
        where = f"{done['id']} is at {one_line(done['path'])}:{done['line']} of commit {done['commit'][:12]}"
        if not done["written"]:
            return [f"{done['code']}: {where}; {done['message']} ({done['branch']})."]
        return [f"{done['code']}: {where}; the edit is on {done['branch']}.", *published(done)]
    if done["state"] == "withdrawn":
        return withdrawn(done)
    return [f"{done['id']} {done['state']} on {done['branch']} ({done['commit'][:12]}).", *published(done)]


def closed(done: Done) -> list[str]:
    """Return the text of closing an open item."""
    return [f"{done['id']} is done on {done['branch']} ({done['commit'][:12]}).", *published(done)]
