"""reStructuredText to pages, as in PEPs and in ADRs of Sphinx projects.

A PEP's header (``Status: Final``) is read like front matter, docinfo (``:Status: Final``) like header lines.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seed.importers.frontmatter import as_fields
from seed.importers.pages import Heading, Source, assemble

if TYPE_CHECKING:
    from seed.importers.model import Document, Page

_HEADER = re.compile(r"^([A-Z][\w-]*):\s*(.*)$")
_DOCINFO = re.compile(r"^:([A-Za-z][\w -]*):(?=\s)")
_TABLE = re.compile(r"^\.\.\s+list-table::")
_TABLE_ROW = re.compile(r"^\s+\*\s+-\s+(.*)$")
_TABLE_CELL = re.compile(r"^\s+-\s+(.*)$")
_ADORNMENT = re.compile(r"^([=\-~^\"'`#*+.:_<>])\1{2,}\s*$")
_TARGET = re.compile(r"^\.\.\s+_`?([^`:]+)`?:\s*(\S+)\s*$")
_DIRECTIVE = re.compile(r"^(\s*)\.\.(?:\s+(?P<name>[\w-]+)::(?P<rest>.*))?")
_SHOWN = frozenset({"note", "warning", "important", "attention", "caution", "tip", "hint", "admonition"})
_INLINE = (
    (re.compile(r"`([^`<>]+?)\s*<([^`<>\s]+)>`__?"), r"[\1](\2)"),
    (re.compile(r":(?:doc|ref):`([^`<>]+?)\s*<([^`<>\s]+)>`"), r"[\1](\2)"),
    (re.compile(r":doc:`/?([^`<>]+)`"), r"[\1](\1.rst)"),
    (re.compile(r":(pep|rfc):`(\d+)`", re.IGNORECASE), r"\1 \2"),
    (re.compile(r"`([^`<>]+)`_(?!\w)"), r"[\1][]"),
    (re.compile(r":[\w:-]+:`([^`]*)`"), r"\1"),
)


def parse(document: Document) -> Page:
    """Take one reStructuredText document apart. Never fails."""
    raw = document.text.split("\n")
    header, start = _header(raw)
    table = _list_table(raw)
    links = {m[1].strip().lower(): m[2] for line in raw if (m := _TARGET.match(line))}
    lines = [_inline(_DOCINFO.sub(r"\1:", line)) for line in mask(raw, start)]
    front = (*as_fields(header, "header"), *as_fields(table, "table"))
    return assemble(Source(document, lines, _headings(lines), front, links))


def _header(lines: list[str]) -> tuple[dict[str, str], int]:
    """Read the lines ``Name: value`` that a PEP begins with; an indented line goes on with the value."""
    found: dict[str, str] = {}
    name = ""
    start = next((n for n, line in enumerate(lines) if line.strip()), 0)
    if start < len(lines) and lines[start].strip() == "::":  # a ZIP's header is a literal block
        end = next((n for n in range(start + 1, len(lines)) if lines[n].strip() and lines[n][0] != " "), len(lines))
        inner, length = _header([line.removeprefix("  ") for line in lines[start + 2 : end]])
        return inner, end if length else 0
    for index, line in enumerate(lines):
        match = _HEADER.match(line)
        if match:
            name = match[1]
            found[name] = _inline(match[2])
        elif name and line.startswith((" ", "\t")) and line.strip():
            found[name] += f" {_inline(line.strip())}"
        else:
            return (found, index) if len(found) > 1 else ({}, 0)
    return (found, len(lines)) if len(found) > 1 else ({}, 0)


def _list_table(lines: list[str]) -> dict[str, str]:
    """Read the first list-table as names and values, as OEPs have them; a row of more cells is none."""
    found: dict[str, str] = {}
    name = ""
    begun = False
    for line in lines:
        begun = begun or bool(_TABLE.match(line))
        row, cell = _TABLE_ROW.match(line), _TABLE_CELL.match(line)
        if not begun or not line.strip():
            continue
        if row:
            name = row[1].strip(" *")
            found[name] = ""
        elif cell and name:
            found[name] = " ".join(part for part in (found[name], _inline(cell[1])) if part)
        elif found and not line.startswith(" "):
            break
    return {name: value for name, value in found.items() if value}


def mask(lines: list[str], start: int = 0) -> list[str]:
    """Blank out all before line ``start``, comments, directives and literal blocks; notes are unindented."""
    masked = [""] * min(start, len(lines))
    hidden: int | None = None  # lines indented by more than this belong to a block that is not read
    literal = False
    for line in lines[start:]:
        indent = len(line) - len(line.lstrip())
        if hidden is not None and line.strip() and indent <= hidden:
            hidden = None
        directive = _DIRECTIVE.match(line) if hidden is None else None
        if hidden is not None or not line.strip():
            masked.append("")
        elif directive and directive["name"] in _SHOWN:
            masked.append((directive["rest"] or "").strip())
        elif directive and (directive["name"] or re.match(r"^\s*\.\.(?:\s|$)", line)):
            hidden = indent
            masked.append("")
        else:
            masked.append(line.strip() if indent else line)
        literal = line.rstrip().endswith("::") and not directive and hidden is None
        hidden = indent if literal else hidden
    return masked


def _headings(lines: list[str]) -> list[Heading]:
    styles: list[str] = []
    found: list[Heading] = []
    for index in range(1, len(lines)):
        title, under = lines[index - 1].strip(), _ADORNMENT.match(lines[index])
        if not under or not title or _ADORNMENT.match(title):
            continue
        over = index > 1 and lines[index - 2].strip() == under[0].strip()
        style = under[1] + ("/" if over else "")
        if style not in styles:
            styles.append(style)
        found.append(Heading(styles.index(style) + 1, title, index - 2 if over else index - 1, index + 1))
    return found


def _inline(line: str) -> str:
    for form, replacement in _INLINE:
        line = form.sub(replacement, line)
    return line
