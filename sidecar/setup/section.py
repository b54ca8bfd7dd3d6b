"""One marked section at the end of a Markdown file, put in, brought up to date and cut out again. Pure."""

from __future__ import annotations

import re

from sidecar.jsonc import Insertion

BEGIN = "<!-- sidecar: begin ('sidecar init' keeps this, --remove takes it out) -->"
END = "<!-- sidecar: end -->"
_SECTION = re.compile(r"<!-- sidecar: begin\b[^\n]*\n.*?<!-- sidecar: end -->", re.DOTALL)
_WITH_GAP = re.compile(r"(?:(?<=\n)\r?\n)?" + _SECTION.pattern + r"(?:\r?\n|\Z)", re.DOTALL)


def marked(body: str, text: str) -> str:
    """Return the section with a body, in the line ends of a text."""
    section = f"{BEGIN}\n{body.strip()}\n{END}"
    return section.replace("\n", "\r\n") if "\r\n" in text else section


def insert(text: str, body: str) -> list[Insertion]:
    """Return the insertion that adds the section to a text that has none. Raises `ValueError` for half a section."""
    if "<!-- sidecar: begin" in text or END in text:
        raise ValueError(f"it holds half a section: put both lines back, or delete the one with {END[:13]!r}")
    line = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else line if text.endswith("\n") else line * 2
    return [(len(text), f"{gap}{marked(body, text)}{line}")]


def found(text: str) -> bool:
    """Tell whether a text has a whole section."""
    return _SECTION.search(text) is not None


def updated(text: str, body: str) -> str:
    """Return the text with its section's body replaced."""
    return _SECTION.sub(lambda _: marked(body, text), text, count=1)


def cut(text: str) -> str:
    """Return the text without its section and the gap before it."""
    return _WITH_GAP.sub("", text, count=1)
