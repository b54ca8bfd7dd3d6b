"""What a page says it supersedes or amends, or by what it was: as written, and of the record itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal

from seed.importers.refs import SERIES, TOKEN, Index, Ref, tokenise
from seed.importers.words import BY_ABROAD, RETIRED_ABROAD, SUPERSEDED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Context = Literal["field", "status", "prose"]
RELATIONS = ("supersedes", "superseded_by", "amends", "amended_by")
PARTLY = {"supersedes": "amends", "superseded_by": "amended_by"}

_RETIRED = rf"{SUPERSEDED}|{RETIRED_ABROAD}|replaced|obsoleted?|deprecated|supplanted|overridden|succeeded|retired"
_TURNED_DOWN = r"rejected|declined|abandoned|withdrawn|dropped|closed"
_AGREES = r"[^.;\ue000]{0,40}?"
_VERB = re.compile(
    rf"\b(?:(?P<amended_by>amended)\b{_AGREES}\bby\b"
    rf"|(?P<superseded_by>{_RETIRED}|{_TURNED_DOWN})\b"
    rf"(?:{_AGREES}(?:\b(?P<by>by|with|in favou?r of|in|see|{BY_ABROAD})\b|→|->)|(?=[\s:(]*\ue000|:))"
    r"|(?P<amends>amends|amending)\b"
    r"|(?P<supersedes>sup+er[sc]+e+d+e?s|superseding|replaces|obsoletes|deprecates)\b)",
    re.IGNORECASE,
)
_HINT = re.compile(
    r"sup+er[sc]|replac|obsolet|amend|deprecat|overrid|supplant|succee|retire|reject|declin|abandon|withdr|drop|clos"
    rf"|{RETIRED_ABROAD}|被|置き換え|取って代わ|廃止",
    re.IGNORECASE,
)
_BY_EAST = re.compile(
    r"被(?P<who>[^。]{0,80}?)(?:取代|替代|代替|替换|替換)"
    r"|(?P<whom>[^。、]{1,80}?)(?:に|によって|により)(?:よって)?(?:置き換え|取って代わ|廃止)"
)
_CHUNK, _NEAR = 2000, 300  # what belongs together stands together; and no text makes the search quadratic
_SENTENCE = re.compile(r"(?<=[.!?])[*_)]*\s+(?=[A-Z\ue000*_(\[])|;\s")
_OURS = r"(?:this|the present|the current|our)"
_SUBJECT = re.compile(
    r"(?:^\W*(?:(?:also|note|update|notice|warning|edit|important|status|later|partially|partly|now|then"
    r"|mark(?:ed)? as|is|was|has been|and|it|adr)\b\W*)*"
    rf"|\b(?P<own>{_OURS}\W+(?:\w+\W+)?(?:adr|decision|record|document|proposal|rfc|one|design|page|file|kep|pep)\b)"
    r"[^\ue000]{0,60}"
    r"|\b(?:and|it|which)\W+(?:also\W+)?)$",
    re.IGNORECASE,
)
_JOINED = re.compile(r"[\ue001\d]\W*(?:\b(?:and|but|also)\b\W*)*$")  # "amends 5 and supersedes 6"
_MAYBE = re.compile(
    r"\b(?:not|never|may|might|could|can|cannot|would|should|will|if|until|unless|once|eventually|to)\W+"
    r"(?:\w+\W+){0,2}$",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\b(?:in part|part(?:s|ly|ially)?|some|sections?|portions?|aspects?|elements?|clauses?|guidance|only"
    r"|(?<=\d)['’]s \w+|narrowly|(?:decision|step|point|item) \w?\d+|for the (?!same\b))\b|§",
    re.IGNORECASE,
)
_STOP = re.compile(r"\b(?:which|because|but|since|as|that|when|where|who|due|however|see)\b(?! well)", re.IGNORECASE)
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?![-\w])|\(?\b\d{1,2} \w{3,9} \d{4}\b\)?")
_OBJECT = re.compile(rf"^\W*(?:{_OURS}\b|it\b)", re.IGNORECASE)
_NOTHING = re.compile(
    r"\W*(?:none|n/?a|no|nil|null|nothing|tbd|(?:\w+[- ]?)?(?:x{2,}|n{2,}|y{2,})(?: \w+)?)?\W*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Claim:
    """One relation as written. Not ``certain``: said of something in the record, not of the record."""

    relation: str
    refs: tuple[Ref, ...]
    quote: str
    partial: bool = False
    certain: bool = True


def from_field(relation: str, value: str, definitions: Mapping[str, str], index: Index) -> Claim | None:
    """Read a field such as ``Superseded by: [7](0007-x.md), ADR 9``: everything in it is a reference."""
    refs: list[Ref] = []
    for line in value[:_CHUNK].split("\n"):
        if _NOTHING.fullmatch(line):
            continue
        text, links = tokenise(_DATE.sub(" ", line), definitions)
        text = re.sub(r"^\W*(?:by|with)\b", "", text, flags=re.IGNORECASE)
        found = _mentions(text, links, index, loose=True)
        whole = _shown(text, links).strip(" *-\"'")
        refs += found or ([Ref(whole)] if re.search(r"\w", whole) else [])
    quote = " ".join(value.split())[:120]
    return Claim(relation, tuple(refs), quote, bool(_PART.search(value))) if refs else None


def _shown(text: str, links: list[Ref]) -> str:
    """Return a text with its links as they are shown."""
    return TOKEN.sub(lambda match: f"[{links[int(match[1])].text}]", text)


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence with its links as tokens, and what is needed to understand it."""

    text: str
    links: list[Ref]
    index: Index
    context: Context

    def quote(self) -> str:
        return _shown(self.text.strip(), self.links)[:120]

    def mentions(self, text: str, *, loose: bool = False) -> list[Ref]:
        return _mentions(text, self.links, self.index, loose=loose)

    def is_ours(self, before: str, earlier: list[Ref]) -> bool:
        """Whether what stands before a verb makes the record itself its subject."""
        if self.context == "status" and not earlier:
            return True
        subject = _SUBJECT.search(before)
        if not subject or (earlier and not subject["own"]):
            return False
        return not self.mentions(before[subject.start() :])


def from_text(text: str, context: Context, definitions: Mapping[str, str], index: Index) -> Iterator[Claim]:
    """Find relations in a status text or in the body (``prose``: the subject must be the record)."""
    tokens, links = tokenise(" ".join(text.split()), definitions) if _HINT.search(text) else ("", [])
    chunks = (tokens[n : n + _CHUNK] for n in range(0, len(tokens), _CHUNK))
    for match in _BY_EAST.finditer(tokens[:_CHUNK]) if context == "status" else ():
        if refs := _mentions(match["who"] or match["whom"], links, index, loose=True):
            yield Claim("superseded_by", tuple(refs), _shown(match[0], links)[:120])
    for piece in (piece for chunk in chunks for piece in _SENTENCE.split(_DATE.sub(" ", chunk))):
        sentence = _Sentence(piece, links, index, context)
        verbs = list(_VERB.finditer(piece))
        claim = None
        for verb, following in zip_longest(verbs, verbs[1:]):
            end = following.start() if following else len(piece)
            claim = _claim(sentence, verb, end, goes_on=claim is not None and claim.certain)
            if claim:
                yield claim


def _claim(sentence: _Sentence, verb: re.Match[str], end: int, *, goes_on: bool) -> Claim | None:
    near = max(0, verb.start() - _NEAR)
    before = ("x" if near else "") + sentence.text[near : verb.start()]  # "x": no sentence begins here
    rest = sentence.text[verb.end() : min(end, verb.end() + _NEAR)]
    relation = next(name for name in RELATIONS if verb[name])
    if _MAYBE.search(before) or (sentence.context == "prose" and not _plain_enough(verb, before)):
        return None
    earlier = sentence.mentions(before)
    if relation == "supersedes" and earlier and _OBJECT.match(rest):  # "ADR 9 supersedes this one"
        part = bool(_PART.search(before + rest))
        return Claim("superseded_by", tuple(earlier[-1:]), sentence.quote(), part)
    in_status = sentence.context == "status"
    cut = _STOP.search(rest)
    refs = sentence.mentions(rest[: cut.start()] if cut else rest, loose=in_status)
    title = rest.strip(" .:*\"'()")
    if not refs and in_status and sentence.index.is_title(title):
        refs = [Ref(title)]
    certain = sentence.is_ours(before, earlier) or (goes_on and bool(_JOINED.search(before)))
    if not refs or (not certain and (earlier or relation != "superseded_by")):
        return None
    partial = bool(_PART.search(f"{before[-80:]}{verb[0]}{rest[: cut.start() if cut else 120]}"))
    return Claim(relation, tuple(refs), sentence.quote(), partial, certain)


def _plain_enough(verb: re.Match[str], before: str) -> bool:
    """In prose only "superseded by" and its like count, "rejected in favour of" at the start of a line."""
    if not verb["superseded_by"]:
        return True
    link = (verb["by"] or "").lower()
    if re.fullmatch(_TURNED_DOWN, verb["superseded_by"], re.IGNORECASE):
        leads = re.fullmatch(r"\W*(?:mark(?:ed)? as\W*)?", before, re.IGNORECASE)
        return leads is not None and "fav" in link
    return link == "by" or "fav" in link


def _mentions(text: str, links: list[Ref], index: Index, *, loose: bool) -> list[Ref]:
    """Return the references that follow one another from the start of the text (within 60 characters).

    ``loose``: a number without a label counts as well, when nothing but a mark stands before it.
    """
    own = sorted(re.escape(label) for label in set(index.labels.values()) if label)
    labels = "|".join([SERIES, "rfc", "kep", "pep", *own])
    mention = re.compile(
        rf"\ue000(?P<link>\d+)\ue001|(?P<stem>(?<![\w-])[A-Za-z0-9.]+(?:[-_][A-Za-z0-9.]+)+)"
        rf"|(?<!\w)(?P<labelled>(?:{labels})[-_ #.]{{0,2}}\d{{1,6}})(?!\w)"
        r"|(?<![\w.-])(?P<bare>#?\d{1,6})(?![\w.%]*\w)",
        re.IGNORECASE,
    )
    found: list[Ref] = []
    end = 0
    for match in mention.finditer(text):
        gap = text[end : match.start()]
        listed = re.fullmatch(rf"(?:\W|and|or|by|also|{SERIES}|\bas well as\b)*", gap, re.IGNORECASE)
        if found and not listed and (not loose or len(gap) > 30 or not re.search(r"[,;、；]|\band\b|&", gap)):  # noqa: PLR2004
            break
        if not found and len(gap) > 60:  # noqa: PLR2004 - stated above
            break
        ref = _ref(match, links, index, bare=bool(listed) and (loose or bool(found) or _ends_in_series(gap)))
        if ref:
            found.append(ref)
            end = match.end()
    return found


def _ends_in_series(gap: str) -> bool:
    return bool(re.search(rf"\b{SERIES}\W*$", gap, re.IGNORECASE))


def _ref(match: re.Match[str], links: list[Ref], index: Index, *, bare: bool) -> Ref | None:
    if match["link"]:
        return links[int(match["link"])]
    if match["stem"]:
        known = match["stem"].lower() in index.stems
        number = re.fullmatch(rf"(?:{SERIES})[-_]\d+", match["stem"], re.IGNORECASE)
        return Ref(match["stem"]) if known or number or index.is_label(match["stem"]) else None
    if match["labelled"]:
        return Ref(match["labelled"])
    padded = match["bare"].startswith("0") and len(match["bare"]) > 2  # noqa: PLR2004 - "003" is written as in a file name
    return Ref(match["bare"]) if bare or padded else None
