"""What a text says beyond its words, by rules: a failure, a decision, a correction. No model is asked."""

from __future__ import annotations

import re

Span = tuple[int, int]

LINE_CHARS = 160
WALL_CHARS = 600

_FAILURES = (
    r"^E {3}\S",
    r"^(?:FAILED|ERROR)\b",
    r"^(?:fatal|panic|error(?:\[\w+\])?): |^npm ERR!",
    r"^(?:\w+\.)*\w*(?:Error|Exception)\b: ",
    r"^\S?[^\n]{0,80}: (?:command not found|No such file or directory|Permission denied)",
    r"^[^\n]{1,160}: error\b",
)
# Only that something failed, not what: asked for when nothing says more.
_FAILURES_AT_ALL = (
    r"^Traceback \(most recent call last\)",
    r"^(?:Exit|exit) (?:code|status):? [1-9]",
    r"^[1-9]\d* (?:failed|errors?)\b",
)
_DECISIONS = (
    r"\b(?:we|I)(?:'ve| have)? (?:decided|agreed|settled|chose|opted)\b",
    r"\b(?:we|I)(?:'ll| will| should) (?:use|go with|keep|switch to|drop|adopt|stick with)\b",
    r"\blet'?s (?:use|go with|keep|switch to|drop|adopt|stick with)\b",
    r"\bdecision:|\bgoing forward\b|\bfrom now on\b",
    r"\b(?:chose|chosen|prefer(?:red)?|picked) \S+ (?:over|instead of)\b",
    r"決定|改用|採用|決議|就用|统一用|决定|采用|以後都|以后都",
)
_CORRECTIONS = (
    r"^\W*(?:no|nope|wrong|stop|wait|actually)\b",
    r"^\W*(?:that'?s|that is|it'?s|this is) (?:not|wrong)\b|^\W*not (?:like that|what I)\b",
    r"\bI (?:said|meant|asked|told you)\b",
    r"\byou (?:should(?:n'?t| not)|must not|forgot|missed|misunderstood|broke)\b",
    r"\b(?:don'?t|do not|never) (?:use|do|add|touch|change|edit|create|commit|push|run|write|remove)\b",
    r"\bshould (?:have been|be) \S+,? not\b|\buse \S+,? not\b|\b(?:instead|rather),? (?:use|do)\b",
    r"\b(?:revert|undo) (?:that|this|it)\b",
    r"不對|不对|不是這|不是这|錯了|错了|不要|別用|别用|應該是|应该是|我說的是|我说的是|改回",
)
# What an agent's host puts into the user's mouth.
_HOSTS = (
    r"^\s*<(?:[a-z]+-)?(?:command|local|system|environment|user_instructions|ide|task|bash)[\w-]*>",
    r"^Caveat: |^\[Request interrupted",
)

_FAILURE = re.compile("|".join(_FAILURES), re.MULTILINE)
_FAILURE_AT_ALL = re.compile("|".join(_FAILURES_AT_ALL), re.MULTILINE)
_DECISION = re.compile("|".join(_DECISIONS), re.IGNORECASE)
_CORRECTION = re.compile("|".join(_CORRECTIONS), re.IGNORECASE)
_INJECTED = re.compile("|".join(_HOSTS))


def failure(text: str) -> str:
    """Return the line in which ``text`` reports a failure, or nothing."""
    return quoted(text, failed(text))


def decision(text: str) -> str:
    """Return the line in which ``text`` states a decision, or nothing."""
    return quoted(text, decided(text))


def decided(text: str) -> Span | None:
    """Return where ``text`` states a decision."""
    return line(text, _DECISION)


def corrected(text: str) -> Span | None:
    """Return where a user's ``text`` corrects the agent; what the host put in corrects nothing."""
    return None if injected(text) else line(text, _CORRECTION)


def failed(text: str) -> Span | None:
    """Return where ``text`` reports a failure."""
    return line(text, _FAILURE) or line(text, _FAILURE_AT_ALL)


def injected(text: str) -> bool:
    """Whether a user's ``text`` was written by the agent's host, not by the user."""
    return bool(_INJECTED.match(text))


def first_line(text: str) -> str:
    """Return the first line that says something, shortened."""
    return next((_shortened(line) for line in text.split("\n") if line.strip()), "")


def line(text: str, pattern: re.Pattern[str]) -> Span | None:
    """Return the span of the line in which ``pattern`` matches; of a wall of text, from the match on."""
    match = pattern.search(text)
    if match is None:
        return None
    start = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    end = end if end >= 0 else len(text)
    return (start, end) if end - start <= WALL_CHARS else (match.start(), min(end, match.start() + WALL_CHARS))


def quoted(text: str, span: Span | None) -> str:
    """Return what stands at ``span`` in one line, shortened; nothing for None."""
    return _shortened(text[slice(*span)]) if span else ""


def _shortened(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= LINE_CHARS else line[: LINE_CHARS - 1] + "…"
