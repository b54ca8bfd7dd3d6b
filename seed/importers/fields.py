"""The names under which pages say their status, date and relations, and the lines that hold them."""

from __future__ import annotations

import re

from seed.importers.model import Field
from seed.importers.words import BY_ABROAD, RETIRED_ABROAD, SUPERSEDED

_SUPERSEDED = rf"(?:{SUPERSEDED}|replaced|obsoleted|supplanted)"
_ALIASES = {
    "status": r"(?:adr |rfc |decision |document |current |record )?stat(?:us|e)"
    r"|status of (?:the|this) (?:adr|decision|record|proposal|document|memo|rfc|pep|kep|specification)"
    r"|statut|estado|stato|ステータス|状态|狀態",
    "stage": r"stage",
    "state": r"state|(?:adr|decision)[ -]state|disposition",
    "date": r"(?:adr )?date|datum|fecha|日付|日期|date (?:of )?(?:decision|decided|accepted|approved)"
    r"|decision (?:date|made)|resolution|(?:decided|accepted|approved|agreed)(?: on| date)?",
    "created": r"created(?: on| at| date)?|creation date|start date|since|initial date"
    r"|date (?:created|proposed|started|raised)|(?:proposed|raised|submitted|authored|written)(?: on| date)?",
    "updated": r"(?:last )?(?:updated?|modified|changed|revised)(?: on| at| date)?|date (?:updated|modified)"
    r"|last (?:update|change|modification|revision)|status date",
    "changelog": r"change ?log|(?:change|revision|document) history|history|log|revisions",
    "supersedes": r"sup+er[sc]+e+d+e?s|replaces|obsoletes"
    r"|ersetzt|remplace|reemplaza|substitui|sostituisce|取代|置き換え",
    "superseded by": rf"{_SUPERSEDED}(?: by| with)?|successors?|(?:{RETIRED_ABROAD}) (?:{BY_ABROAD})|被取代|後継",
    "amends": r"amends|partially supersedes|supersedes in part",
    "amended by": rf"amended(?: by)?|partially {_SUPERSEDED}(?: by)?|{_SUPERSEDED} in part by",
    "tags": r"tags?|categor(?:y|ies)|labels?|keywords",
    "title": r"title",
}
_NAME = 60  # no name of a field or section is longer
RELATIONS = ("supersedes", "superseded by", "amends", "amended by")
_NAMES = tuple((name, re.compile(rf"(?:{form})", re.IGNORECASE)) for name, form in _ALIASES.items())
_SECTION = re.compile(
    r"context(?: and problem statement)?|decisions?(?: outcome| drivers)?|consequences|outcomes?|rationale"
    r"|(?:considered )?(?:options|alternatives)(?: considered)?|problem(?: statement)?|motivation|proposal"
    r"|summary|drawbacks|background|justification|solution|implications|abstract|introduction|overview|prior art"
    r"|(?:guide|reference)-level explanation|(?:detailed )?design|unresolved questions|specification"
    r"|goals|basic example",
    re.IGNORECASE,
)
_LINE = re.compile(
    r"^[\s>]*(?:[-*+]\s+)?(?P<bold>\**_*)(?P<name>[^\W\d_][\w -]{1,30}?)\**_*\s*"
    r"(?:(?P<colon>[:：])\**_*|(?=\s\d))\s*(?P<value>.*)$"
)
_SEPARATOR = re.compile(r"(?<!\s)(\s+[·•|]\s+|\s{2,}(?=\*\*\w))")  # "**Status:** accepted · **Date:** 2020-01-31"
_BOLD = re.compile(r"^[\s>]*(?:\*\*|__)([^\W\d_][\w -]{1,30}?)[:：]?(?:\*\*|__)[:：]?\s*$")
_RULE = re.compile(r"^[\s|:-]+$")


def normal_name(text: str) -> str:
    """Return the name a field is known by (``Last-Updated`` is ``updated``), or "" for any other text."""
    bare = re.sub(r"^[\W\d_]+|[\W_]+$", "", text[:_NAME].partition(":")[0])
    bare = re.sub(r"[\s_-]+", " ", bare)
    return next((name for name, form in _NAMES if form.fullmatch(bare)), "")


def is_section(heading: str) -> bool:
    """Whether a heading names a usual section of a decision record, and so is no title."""
    return bool(_SECTION.fullmatch(re.sub(r"^[\W\d_]+|[\W_]+$", "", heading[:_NAME])))


def scan_lines(lines: list[str], where: str, only: tuple[str, ...] = ()) -> tuple[list[Field], set[int]]:
    """Find ``Name: value`` lines: plain, bold, in a list, in a table, or the name alone above its value.

    Returns the fields and the indices of their lines; ``only`` limits the names.
    """
    found: list[Field] = []
    used: set[int] = set()
    for index in range(len(lines)):
        for name, value, span in _table(lines, index) or _line(lines, index):
            if not only or name in only:
                found.append(Field(name, value, f"{where} {index + 1}"))
                used.update(range(index, index + span))
    return found, used


def _line(lines: list[str], index: int) -> list[tuple[str, str, int]]:
    found: list[tuple[str, str, int]] = []
    mark = ""
    for piece in _SEPARATOR.split(lines[index]):
        name, value = _pair(piece)
        if name:
            found.append((name, value, 1))
        elif found and not piece.strip(" ·•|"):
            mark = piece
        elif found:  # no field of its own: the mark belongs to the value before it
            found[-1] = (found[-1][0], f"{found[-1][1]}{mark}{piece}", 1)
        else:
            return []
    return _below(lines, index, found[0][0]) if len(found) == 1 and not found[0][1] else found


def _pair(line: str) -> tuple[str, str]:
    """Return the name and value of a field's line; ("", "") for any other line."""
    alone = _BOLD.match(line)
    if alone:
        return normal_name(alone[1]), ""
    match = _LINE.match(line)
    name = normal_name(match["name"]) if match else ""
    if not match or not name or (name != "date" and not match["colon"]):
        return "", ""  # only a date is also written without a colon: "Date 09/04/2018"
    return name, match["value"].strip()


def _below(lines: list[str], index: int, name: str) -> list[tuple[str, str, int]]:
    """Return the paragraph under a name that stands alone, unless another field or heading comes first."""
    start = index + 1
    while start < len(lines) and not lines[start].strip(" >"):
        start += 1
    end = start
    while (
        end < len(lines)
        and lines[end].strip(" >")
        and not lines[end].lstrip().startswith("#")
        and not _pair(lines[end])[0]
    ):
        end += 1
    return [(name, "\n".join(lines[start:end]).strip(), max(end - index, 1) if end > start else 1)]


def _table(lines: list[str], index: int) -> list[tuple[str, str, int]]:
    """Read ``| Status | Accepted |``, or the row under a header row of names."""
    if lines[index].count("|") < 2:  # noqa: PLR2004 - a row has at least two bars
        return []
    cells = _cells(lines[index])
    if not lines[index].lstrip().startswith("|") and _pair(cells[0])[1]:
        return []  # "**Status:** accepted | **Date:** 2020-01-31" is no row
    names = [normal_name(cell) for cell in cells]
    below = lines[index + 1 : index + 3]
    if len(below) == 2 and _RULE.match(below[0]) and "-" in below[0] and _is_header(names, cells, below[1]):  # noqa: PLR2004
        values = _cells(below[1])
        return [(name, value, 3) for name, value in zip(names, values, strict=False) if name]
    return [(names[0], cells[1], 1)] if len(cells) > 1 and names[0] else []


def _is_header(names: list[str], cells: list[str], below: str) -> bool:
    """Whether a row over a rule names columns; ``| Status | Accepted |`` over ``| Date | ... |`` is a pair itself."""
    if (
        len(cells) == 2  # noqa: PLR2004 - a name and its value
        and normal_name(_cells(below)[0])
        and not re.fullmatch(r"date", cells[1].strip(" *"), re.IGNORECASE)
    ):
        return False
    return sum(map(bool, names)) > 1


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]
