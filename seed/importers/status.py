"""A status as people word it, to one of the record's; what is not understood stays unknown."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace

from seed.importers import force
from seed.importers.words import ANY, RETIRED, meaning, meanings, sign

_DATE = r"\(?(?:on |as of |since )?\d[\d./-]{5,9}\)?|\(?\d{1,2}(?:st|nd|rd|th)? \w{3,9},? \d{4}\)?"
_LEAD = re.compile(
    rf"^(?:{_DATE}|\W|(?:the |current )?(?:adr )?status(?: is)?\b|"
    r"(?:(?:this|the) (?:\w+ )?)?(?:adr|decision|record|document|proposal|rfc)\b(?! \w+s\b)|"
    r"(?:it|we|is|was|has|have|been|currently|now|already|provisionally|tentatively|conditionally|mostly|initially|"
    r"unanimously|officially|marked as|considered)\b)+",
    re.IGNORECASE,
)
_PARTLY = re.compile(
    rf"\b(?:part(?:s|ly|ially)?|some|sections?|portions?|aspects?)\b[^.;]{{0,60}}?\b(?:{RETIRED}|deprecated|obsolete)",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"\b(?:this|the|we|it)\b(?: (?:adr|decision|record|proposal|document|rfc))?"
    rf"(?: (?:is|was|has|have|been|now))+ (?P<word>{ANY.pattern})",
    re.IGNORECASE,
)
_PARTIAL_LEAD = re.compile(r"^\W*(?:in part|part(?:ly|ially))\W+(?P<rest>.*)$", re.IGNORECASE)
_STILL = re.compile(r"\b(?:remain|still|stay)s? (?:\w+ )?(?:valid|in (?:force|effect)|appl|hold|stand)", re.IGNORECASE)
_MENU = re.compile(
    r"\bstatus(?:es)?\b.{0,40}\b(?:such as|are\b|one of|could be|can be)|^\W*(?:one of|options?)\b",
    re.IGNORECASE,
)
_BY_EAST = re.compile(
    r"被[^。]{0,80}?(?:取代|替代|代替|替换|替換)|(?:に|によって|により)(?:よって)?(?:置き換え|取って代わ|廃止)"
)
STRUCK = re.compile(r"~~.*?~~|<(?P<tag>del|s|strike)\b[^<>]{0,200}>.*?(?:</(?P=tag)>|$)", re.DOTALL | re.IGNORECASE)
ENOUGH = 4000  # characters of a section in which a status stands
_FINAL = force.FINAL
_EARLIER = re.compile(r"\b(?:was|previously|formerly|originally|once)\b|\($", re.IGNORECASE)
_HEDGED = re.compile(
    r"accepted\W{0,3}\?|\btentativ|\bprovisional|\bsubject to\b|\baccepted until\b"
    r"|\bpending (?!implement|roll|migrat|releas|deploy|develop)|[❌👎🚫⛔]|^\W*was (?:accepted|approved)\W*$",
    re.IGNORECASE,
)
"""What keeps "accepted" from being taken at its word."""
_DATED = re.compile(_DATE)
_STEP = re.compile(
    r"^(?:[\s,;:./()\[\]–—-]|\b(?:but|and|by|has|been|is|on|later|since|now|then|was)\b)*$", re.IGNORECASE
)
_ENTRY = re.compile(rf"^\W{{0,9}}(?:$|(?:by|on|in|at|see|from|because|since|as|due|with|for)\b|{_DATE})", re.IGNORECASE)
_ARROW = re.compile(r"^\W*(?:→|->|=>|➜|➡|⇒|⟶|»|then\b|now\b|, now\b|but now\b)\W*(?:is |been )?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reading:
    """A status read from text: "" where none was said. ``doubt`` and ``note`` are for a person to look at.

    ``reserved``: it is unknown since something is said against its being in force.
    """

    status: str
    raw: str = ""
    doubt: str = ""
    note: str = ""
    reserved: bool = False


def clean(text: str) -> str:
    """Strip Markdown and HTML decoration: links and badges to their text, struck text away."""
    text = STRUCK.sub("", text)
    text = re.sub(r":[a-z][a-z0-9_+-]{2,30}:", "", text)
    text = re.sub(r"!?\[([^\]]{0,300})\](?:\([^)]{0,2000}\)|\[[^\]]{0,300}\])", r"\1", text)
    text = re.sub(r"<[^<>]{1,200}>|\\(?=\W)", " ", text)
    return re.sub(r"[*`\"“”]|(?<![^\W_])_+|_+(?![^\W_])", "", text)


def read(value: str) -> Reading:
    """Read a status line or section. ``raw`` keeps the wording, on one line of 300 characters at most."""
    value = value[:ENOUGH]
    raw = " ".join(value.split())
    raw = raw if len(raw) <= 300 else raw[:299] + "…"  # noqa: PLR2004 - stated above
    value, struck = STRUCK.subn(" ", value)
    lines = _lines(value)
    if struck and not lines:
        return Reading("unknown", raw, f"the status {raw[:80]!r} is struck out", reserved=True)
    if reason := _no_status(value, lines):
        return Reading("", "", reason if raw else "")
    reading = _stated(lines, raw)
    return _in_force(reading, value, lines) if reading.status in {"accepted", "unknown"} else reading


def _stated(lines: list[str], raw: str) -> Reading:
    """Read what the lines lead with, whatever else they say."""
    status, note = ("superseded", "") if _BY_EAST.search(raw) else _from_lines(lines)
    if status in _FINAL and re.search(r"\b(?:for|only)\b", lines[0]) and _STILL.search(" ".join(lines)):
        return Reading("accepted", raw, note=f"{raw[:80]!r} says that something of it is still in force")
    if not status:
        return _from_prose(lines, raw)
    if status == "accepted" and not note and _HEDGED.search(lines[0]):
        return Reading("unknown", raw, f"{raw[:80]!r} is accepted with a reservation: set it by hand", reserved=True)
    doubtful = re.match(r"\W*provisional\b", raw, re.IGNORECASE)
    return Reading(status, raw, "provisional: read as not decided yet" if doubtful else "", note)


def _in_force(reading: Reading, value: str, lines: list[str]) -> Reading:
    """Take "accepted" at its word only where nothing else is said; a word that ends a record wins over it."""
    if "still in force" in reading.note:
        return reading
    said = "\n".join(_lines(force.without_links(value)) or lines)
    left = force.rest(said) if reading.status == "accepted" else said
    if not left:
        return reading
    if status := force.ended(left, _LEAD):
        return Reading(status, reading.raw)
    if reading.status == "unknown":
        return replace(reading, reserved=reading.reserved or force.warns(said))
    doubt = f"{reading.raw[:80]!r} says more than accepted ({shown(left)[:80]!r}): set it by hand"
    return Reading("unknown", reading.raw, doubt, reserved=True)


def shown(text: str) -> str:
    """Return a text on one line, marks of links as words."""
    return " ".join(re.sub("\ue000\\d*\ue001?", "[link]", text).split())


def _no_status(value: str, lines: list[str]) -> str:
    """Return why a text states no status at all, or ""."""
    if not lines:
        return "the status is only decoration"
    if len(re.findall(r"\[ ?\]", value)) > 1 and not re.search(r"\[[xX✓]\]", value):
        return "no box of the status is ticked"
    return "the status is unedited template text" if is_menu(value) else ""


def _lines(value: str) -> list[str]:
    """Return the lines that say something, decoration stripped; of boxes to tick only the ticked ones."""
    value = value[:ENOUGH]
    ticked = [line for line in value.split("\n") if re.search(r"\[[xX✓]\]", line)]
    lines = [re.sub(r"\[[ xX✓]?\]", "", line) for line in ticked or value.split("\n")]
    cleaned = (clean(line).strip(" >|\t") for line in lines)
    return [line for line in cleaned if re.search(r"\w", line) or sign(line)]


def is_menu(value: str) -> bool:
    """Whether the text offers statuses to choose from instead of stating one."""
    lines = _lines(value) or [""]
    first = lines[0]
    whole = value.strip()[:ENOUGH]
    if re.fullmatch(r"\{.*\}|<.*>|\[[^\]]*\]", whole, re.DOTALL) and (len(meanings(whole)) != 1):
        return True
    if any(_MENU.search(line) and len(meanings(line)) > 1 for line in lines):
        return True
    words = list(ANY.finditer(first))
    gaps = [first[a.end() : b.start()] for a, b in itertools.pairwise(words)]
    chosen = [gap for gap in gaps if re.fullmatch(r"\s*(?:\||/|or|,\s*or|\s\|\|\s)\s*", gap)]
    commas = [gap for gap in gaps if re.fullmatch(r"\s*(?:,|,?\s*(?:and|or)|\||/)\s*", gap)]
    if meanings(first) <= set(_FINAL):
        return False  # "Deprecated / Superseded" is both
    return len(meanings(first)) > 1 and (bool(chosen) or (len(commas) > 1 and len(meanings(first)) > 2))  # noqa: PLR2004


def _from_lines(lines: list[str]) -> tuple[str, str]:
    """Return the status the lines lead with; a later line or clause can only move it on, never back."""
    status = note = ""
    for line in lines:
        found, clause_note = _from_line(line, entry=line is not lines[0])
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


def _from_line(line: str, *, entry: bool = False) -> tuple[str, str]:
    """Read a line that leads with a status. ``entry``: nothing but its circumstances may follow.

    So prose under the status, "Dropped support for ...", says nothing of the record.
    """
    lead = _LEAD.match(line)
    rest = line[lead.end() :] if lead else line
    partial = _PARTIAL_LEAD.match(rest)
    if partial:
        rest = partial["rest"]
    match = ANY.match(rest)
    if not match:
        return sign(line), ""
    if entry and not _ENTRY.match(rest[match.end() :]):
        return "", ""
    status = meaning(match[0])
    if partial and status in _FINAL:
        return "accepted", f"{line[:80]!r} does not retire the whole record"
    if not status and (later := ANY.match(rest[match.end() :].lstrip(" ,;.-"))):
        return meaning(later[0]), ""
    return _follow(status, rest, match)


def _follow(status: str, rest: str, match: re.Match[str]) -> tuple[str, str]:
    """Go on through the rest of a line: ``Accepted, superseded by 7`` and ``Proposed -> Accepted``."""
    for following in ANY.finditer(rest, match.end()):
        gap, kind = _DATED.sub(" ", rest[match.end() : following.start()]), meaning(following[0])
        if _EARLIER.search(gap) and kind not in _FINAL:  # "On hold (was accepted)"
            continue
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
        return Reading(meaning(said["word"]), raw, doubt="the status is read from a sentence")
    return Reading("unknown", raw, doubt=f"the status {raw[:80]!r} is none that is known")
