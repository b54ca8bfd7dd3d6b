"""Statuses that stand where none is looked for: in a title, in a badge, in a row of an HTML table. Pure."""

from __future__ import annotations

import re
from urllib.parse import unquote

from seed.importers import status as wording

_AT_START = re.compile(r"^\W{0,3}[\[(](?P<mark>[^\])]{4,80})[\])]\W*(?=\w)")
_AT_END = re.compile(r"\s*[\[(](?P<mark>[^\])]{4,80})[\])]\W*$")
_LOUD = re.compile(r"^(?P<mark>[A-Z]{5,20}(?: BY [A-Z]+[- ]?\d+)?)\s*(?::|\s[-–—])\s+(?=\w)")
_STRUCK = re.compile(r"^\W*?~~(?P<text>.+?)~~\W*$")
_NEVER = frozenset({"", "unknown", "accepted"})
_BADGE = re.compile(r"!\[[^\]]{0,80}\]\(https?://(?:img\.shields\.io/badge|badgen\.net/badge|flat\.badgen\.net/badge)/"
                    r"(?P<path>[^)\s?]{1,200})[^)]{0,300}\)")  # fmt: skip
_ROW = re.compile(r"^\s*<tr>\s*(?P<cells>(?:<t[dh][^>]*>.*?</t[dh]>\s*){2,8})</tr>\s*$", re.IGNORECASE)
_CELL = re.compile(r"<t[dh][^>]*>(.*?)</t[dh]>", re.IGNORECASE)
STRUCK_OUT = "(struck out)"
TITLE = "the title"
"""Where a mark was read."""


def of_title(title: str) -> tuple[str, str]:
    """Return a title without its mark, and the mark: ``[SUPERSEDED] Use X`` and ``Use X (deprecated)``.

    Only a mark that takes a record out of force counts: a title does not put one in force. One that is struck out as
    a whole has the mark ``STRUCK_OUT``.
    """
    if struck := _STRUCK.match(title):
        inner, mark = of_title(struck["text"].strip())
        return inner, mark or STRUCK_OUT
    plain = re.sub(r"\]\([^)]*\)", "]", title)
    for form in (_AT_START, _AT_END, _LOUD):
        match = form.search(plain)
        if match and plain[: match.start()] + plain[match.end() :]:
            reading = wording.read(match["mark"])
            if reading.status not in _NEVER and not reading.doubt:
                return (plain[: match.start()] + plain[match.end() :]).strip(), match["mark"]
    return title, ""


def of_folder(path: str) -> tuple[str, str]:
    """Return the status that a folder's name takes the records in it out of force by, and where: ``rejected/7.md``."""
    for part in path.split("/")[:-1]:
        word = {"archive": "archived", "drafts": "draft"}.get(part.lower(), part)
        if len(word.split()) == 1 and wording.read(word).status not in _NEVER:
            return word, f"the folder {part!r}"
    return "", ""


def with_badges(line: str) -> str:
    """Return a line with badges as text: ``status: accepted``; what a badge says is in its address."""
    return _BADGE.sub(lambda match: f" · {_said(match['path'])} · ", line).strip(" ·") if "/badge/" in line else line


def _said(path: str) -> str:
    """Read ``status-accepted-green`` or ``status/accepted/green``; a double hyphen is a hyphen."""
    text = unquote(path).replace("--", "\ue000").replace("__", "\ue001").replace("_", " ")
    label, _, rest = text.replace("/", "-").partition("-")
    value = rest.rpartition("-")[0] or rest
    return f"{label}: {value}".replace("\ue000", "-").replace("\ue001", "_")


def with_rows(line: str) -> str:
    """Return a row of an HTML table as one of Markdown."""
    row = _ROW.match(line)
    if not row:
        return line
    cells = [re.sub(r"<[^>]{1,100}>", "", cell).strip() for cell in _CELL.findall(row["cells"])]
    return f"| {' | '.join(cells)} |"
