"""Record text as quoted data: what comes out of a record is never an instruction to its reader. Pure."""

from __future__ import annotations

import re

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
# Invisible, and of no use in a text: what hides words in words. Joiners stay, since scripts and emoji need them.
_HIDDEN = "\u00ad\u180e\u200b\u2060-\u2064\u206a-\u206f\U000e0000-\U000e01ef"
_UNSAFE = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_BIDI}{_HIDDEN}\u2028\u2029\ufeff\ufff9-\ufffb\ud800-\udfff]")
_SPACE = re.compile(r"\s+")
_BMP = 0xFFFF
_DAY = (
    r"(?:[\W\d_]|[tz]|utc|gmt|st|nd|rd|th|[ap]m|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?"
    r"|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)*"
)
"""A date and nothing else: what stands beside one may say that it holds no more."""
_TOLD = re.compile(
    rf"\W*(?:date|decided|last updated)\W*:{_DAY}|#+\s*status\s*|\W*(?:status\W*:\W*)?(?:accepted|approved)\W*|\s*",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"#[\W\d_]*(?:(?:adr|rfc|decision)[\W\d_]*)?")
MARGIN = "| "
"""In front of each quoted line, so that no line of a record can pass for one of the answer's own."""


def safe(text: str) -> str:
    r"""Return the text with control, bidirectional and invisible characters as visible ``\uXXXX``, ``\UXXXXXXXX``."""
    return _UNSAFE.sub(_visible, text.replace("\r\n", "\n"))


def _visible(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\u{code:04x}" if code <= _BMP else f"\\U{code:08x}"


def one_line(text: str, limit: int = 0) -> str:
    """Return safe text on one line, cut at ``limit`` characters if given."""
    return shorten(safe(_SPACE.sub(" ", text)).strip(), limit) if limit else safe(_SPACE.sub(" ", text)).strip()


def shorten(text: str, limit: int) -> str:
    """Return at most ``limit`` characters, cut at a space where one is near, with an ellipsis."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit * 2 // 3 else cut).rstrip() + "…"


def quoted(text: str, indent: str = "   ") -> str:
    """Return text with every line behind a margin."""
    return "\n".join(f"{indent}{MARGIN}{line}".rstrip() for line in safe(text).strip("\n").split("\n"))


def past_header(text: str, title: str) -> str:
    """Return a passage without what an answer says beside it: a leading title, date, and the word that it was accepted.

    Anything else that a header says, such as what it is amended by, stays, and so does a passage of nothing else.
    """
    lines, heading = text.splitlines(), title.casefold()
    told = (_TOLD.fullmatch(line) or _repeats(line.casefold(), heading) for line in lines)
    first = next((n for n, one in enumerate(told) if not one), 0)
    return "\n".join(lines[first:])


def _repeats(line: str, title: str) -> bool:
    """Tell whether a line is the title as a heading, with no word beside it that could turn it round."""
    return title in line and _NUMBERED.fullmatch(line.replace(title, "", 1)) is not None
