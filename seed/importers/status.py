"""A status as people word it, to one of the record's; what is not understood stays unknown."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

SUPERSEDED = r"sup+er[sc]+e+d+e?d"
_WORDS: dict[str, str] = {
    # What is said of the work, not of the decision, comes first; refusals before the words they refuse.
    "": r"(?:not|un|non)[- ]?(?:yet )?implemented|implementation \w+",
    "not": r"not (?:accepted|approved|adopted|agreed|going ahead)",
    "proposed": r"not yet \w+|proposed|proposal|draft(?:ed|ing)?|pending|incomplete|w\.?i\.?p\.?|rfc|open|tbd"
    r"|(?:in|under|needs?|for|awaiting)[- ](?:review|discussion|consideration|approval|decision|feedback)"
    r"|awaiting|reviewing|discussion|on[- ]hold|deferred|postponed|(?:work )?in[- ]progress|last call|todo"
    r"|request for comments?|exploring|undecided|provisional|to be decided|planned|planning|idea",
    "accepted": r"accepted|approved|adopted|agreed|ratified|decided|active|enacted|finali[sz]ed|final|done"
    r"|signed off|in (?:force|use|effect)|effective|confirmed|recommended|amended|implementable|completed?"
    r"|(?:partially |fully )?implemented|released|ready for release",
    "rejected": r"rejected|declined|denied|refused|abandoned|withdrawn|cancell?ed|dropped|discarded|dismissed"
    r"|won'?t (?:do|fix)|wontfix|turned down",
    "deprecated": r"deprecated|obsolete|retired|reverted|rolled back|discontinued|outdated|expired|archived"
    r"|inactive|no longer (?:relevant|valid|applicable|applies|in use|used|in force|needed)",
    "superseded": rf"{SUPERSEDED}|replaced|obsoleted|supplanted|overridden|succeeded",
    "historical": r"historical",
}
_FORMS = {status: re.compile(rf"(?:{form})(?!\w)", re.IGNORECASE) for status, form in _WORDS.items()}
_ANY = re.compile(r"(?<![\w'-])(?:" + "|".join(_WORDS.values()) + r")(?!\w)", re.IGNORECASE)
_EMOJI = {
    "✅": "accepted",
    "✔": "accepted",
    "☑": "accepted",
    "👍": "accepted",
    "❌": "rejected",
    "👎": "rejected",
}
_DATE = r"\(?(?:on |as of |since )?\d[\d./-]{5,9}\)?|\(?\d{1,2}(?:st|nd|rd|th)? \w{3,9},? \d{4}\)?"
_LEAD = re.compile(
    rf"^(?:\W|{_DATE}|(?:the |current )?(?:adr )?status(?: is)?\b|"
    r"(?:(?:this|the) (?:\w+ )?)?(?:adr|decision|record|document|proposal|rfc)\b(?! \w+s\b)|"
    r"(?:it|we|is|was|has|have|been|currently|now|already|provisionally|tentatively|conditionally|mostly|initially|"
    r"unanimously|officially|marked as|considered)\b)+",
    re.IGNORECASE,
)
_PARTLY = re.compile(
    rf"\b(?:part(?:s|ly|ially)?|some|sections?|portions?|aspects?)\b[^.;]{{0,60}}?\b(?:{_WORDS['superseded']}|deprecated|obsolete)",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"\b(?:this|the|we|it)\b(?: (?:adr|decision|record|proposal|document|rfc))?"
    rf"(?: (?:is|was|has|have|been|now))+ (?P<word>{_ANY.pattern})",
    re.IGNORECASE,
)
_PARTIAL_LEAD = re.compile(r"^\W*(?:in part|part(?:ly|ially))\W+(?P<rest>.*)$", re.IGNORECASE)
_STILL = re.compile(r"\b(?:remain|still|stay)s? (?:\w+ )?(?:valid|in (?:force|effect)|appl|hold|stand)", re.IGNORECASE)
_MENU = re.compile(
    r"\bstatus(?:es)?\b.{0,40}\b(?:such as|are\b|one of|could be|can be)|^\W*(?:one of|options?)\b",
    re.IGNORECASE,
)
_FINAL = ("rejected", "deprecated", "superseded")
_STEP = re.compile(rf"^(?:[\s,;:./()–—-]|{_DATE}|but|and|by|has|been|is|on|later|since|now|then|was)*$", re.IGNORECASE)
_ENTRY = re.compile(
    rf"{_LEAD.pattern[:-2]})*(?:in part |part(?:ly|ially) )?(?:{'|'.join(_WORDS.values())})"
    rf"\W*(?:$|(?:by|on|in|at|see|from|because|since|as|due|with|for)\b|{_DATE})",
    re.IGNORECASE,
)
_ARROW = re.compile(r"^\W*(?:→|->|=>|➜|then\b|now\b|, now\b|but now\b)\W*(?:is |been )?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reading:
    """A status read from text: "" where none was said. ``doubt`` and ``note`` are for a person to look at."""

    status: str
    raw: str = ""
    doubt: str = ""
    note: str = ""


def clean(text: str) -> str:
    """Strip Markdown and HTML decoration: links and badges to their text, struck text away."""
    text = re.sub(r"~~.*?~~", "", text)
    text = re.sub(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", text)
    text = re.sub(r"<[^<>]{1,200}>|\\(?=\W)", " ", text)
    return re.sub(r"[*`\"“”]|(?<![^\W_])_+|_+(?![^\W_])", "", text)


def read(value: str) -> Reading:
    """Read a status line or section. ``raw`` keeps the wording, on one line of 300 characters at most."""
    lines = _lines(value)
    raw = " ".join(value.split())
    raw = raw if len(raw) <= 300 else raw[:299] + "…"  # noqa: PLR2004 - stated above
    if not lines:
        return Reading("", "", "" if not raw else "the status is only decoration")
    if is_menu(value):
        return Reading("", "", "the status is unedited template text")
    status, note = _from_lines(lines)
    if status in {"superseded", "deprecated"} and _STILL.search(" ".join(lines)):
        status, note = "accepted", f"{raw[:80]!r} says that something of it is still in force"
    if not status:
        return _from_prose(lines, raw)
    doubt = "provisional: read as not decided yet" if re.match(r"\W*provisional\b", raw, re.IGNORECASE) else ""
    return Reading(status, raw, doubt, note)


def _lines(value: str) -> list[str]:
    """Return the lines that say something, decoration stripped; of boxes to tick only the ticked ones."""
    ticked = [line for line in value.split("\n") if re.search(r"\[[xX✓]\]", line)]
    lines = [re.sub(r"\[[ xX✓]?\]", "", line) for line in ticked or value.split("\n")]
    cleaned = (clean(line).strip(" >|\t") for line in lines)
    return [line for line in cleaned if re.search(r"\w|[✅✔☑👍❌👎]", line)]


def is_menu(value: str) -> bool:
    """Whether the text offers statuses to choose from instead of stating one."""
    lines = _lines(value) or [""]
    first = lines[0]
    whole = value.strip()
    if re.fullmatch(r"\{.*\}|<.*>|\[[^\]]*\]", whole, re.DOTALL) and (len(_kinds(whole)) != 1):
        return True
    if any(_MENU.search(line) and len(_kinds(line)) > 1 for line in lines):
        return True
    words = list(_ANY.finditer(first))
    gaps = [first[a.end() : b.start()] for a, b in itertools.pairwise(words)]
    chosen = [gap for gap in gaps if re.fullmatch(r"\s*(?:\||/|or|,\s*or|\s\|\|\s)\s*", gap)]
    commas = [gap for gap in gaps if re.fullmatch(r"\s*(?:,|,?\s*(?:and|or)|\||/)\s*", gap)]
    return len(_kinds(first)) > 1 and (bool(chosen) or (len(commas) > 1 and len(_kinds(first)) > 2))  # noqa: PLR2004


def _kinds(text: str) -> set[str]:
    return {_kind(match[0]) for match in _ANY.finditer(text)} - {""}


def _kind(word: str) -> str:
    kind = next(status for status, form in _FORMS.items() if form.fullmatch(word))
    return "rejected" if kind == "not" else kind


def _from_lines(lines: list[str]) -> tuple[str, str]:
    """Return the status the lines lead with; a later line or clause can only move it on, never back."""
    status = note = ""
    for line in lines:
        found, clause_note = _from_line(line)
        if line is not lines[0] and not _ENTRY.match(line):
            found = ""  # prose under the status: "Dropped support for ..." says nothing of the record
        if found and moves_on(status, found):
            status, note = found, clause_note
        elif clause_note and status:
            note = note or clause_note
    return status, note


def moves_on(old: str, new: str) -> bool:
    """Whether a status later in the text replaces the one before: forward in a record's life only."""
    if old in {"", "proposed"}:
        return True
    return (old == "accepted" and new in _FINAL) or (old == "deprecated" and new == "superseded")


def _from_line(line: str) -> tuple[str, str]:
    lead = _LEAD.match(line)
    rest = line[lead.end() :] if lead else line
    partial = _PARTIAL_LEAD.match(rest)
    if partial:
        rest = partial["rest"]
    match = _ANY.match(rest)
    if not match:
        return next((kind for sign, kind in _EMOJI.items() if sign in line and not re.search(r"\w", line)), ""), ""
    status = _kind(match[0])
    if partial and status in _FINAL:
        return "accepted", f"{line[:80]!r} does not retire the whole record"
    if not status and (later := _ANY.match(rest[match.end() :].lstrip(" ,;.-"))):
        return _kind(later[0]), ""
    return _follow(status, rest, match)


def _follow(status: str, rest: str, match: re.Match[str]) -> tuple[str, str]:
    """Go on through the rest of a line: ``Accepted, superseded by 7`` and ``Proposed -> Accepted``."""
    for following in _ANY.finditer(rest, match.end()):
        gap, kind = rest[match.end() : following.start()], _kind(following[0])
        step = _STEP.match(gap) and not re.match(r"implemented|complete|done|released", following[0], re.IGNORECASE)
        if kind and ((step and moves_on(status, kind)) or (_ARROW.match(gap) and kind != status)):
            status = kind
        match = following
    return status, f"{rest[:80]!r} does not retire the whole record" if _PARTLY.search(rest) else ""


def _from_prose(lines: list[str], raw: str) -> Reading:
    """Read a paragraph that does not lead with a status: only a plain statement about this record counts."""
    text = " ".join(lines)
    if _PARTLY.search(text):
        return Reading("accepted", raw, note=f"{raw[:80]!r} does not retire the whole record")
    said = _SAID.search(text)
    if said:
        return Reading(_kind(said["word"]), raw, doubt="the status is read from a sentence")
    return Reading("unknown", raw, doubt=f"the status {raw[:80]!r} is none that is known")
