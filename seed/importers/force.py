"""Whether a status text that says "accepted" says nothing besides: an allow-list, for nothing overturned is current."""

from __future__ import annotations

import re

from seed.importers.words import ANY, BY_ABROAD, RETIRED, SUPERSEDED, meaning

FINAL = ("rejected", "deprecated", "superseded")
_MONTH = r"(?!(?:but|not|and|now|was|then)\b)[^\W\d_]{3,10}\.?"
_DATE = (
    r"(?:\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?\.?(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?)?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\.? (?:of )?{_MONTH},? \d{{4}}|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}"
    r"|(?:(?:early|mid|late) )?(?:(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w{0,7}\.? |q[1-4][ /-]?)?\d{4}"
    r"|\d{4}[ -]?q[1-4]|\d{4}年(?:\d{1,2}月(?:\d{1,2}日)?)?)"
)
_BODY = (
    r"(?:team|board|committee|council|group|guild|meeting|members?|maintainers?|architects?|crew|owners?|leads?|cto|"
    r"community|consensus|majority|vote|stakeholders|authors?|developers|engineers|everyone|all|review|forum|chapter)"
)
_CAPITAL = r"(?-i:[A-Z\u00c0-\u00de][\w'’.-]*|[A-Z]\.)"
_REF = (
    r"(?:\ue000|https?://\S+|(?:(?:adrs?|rfcs?|pr|mr|issue|ticket|decision|record|kep|pep|sprint|release|version|no\.?)"
    r"[-_ #.]{0,2})?[#!]?\d{1,6}|[a-z][\w.-]{0,80}[-_]\d+[\w-]*|\d+[-_][\w.-]+)"
)
_NAME = (
    rf"(?:{_DATE}|{_REF}|v\d+(?:\.\w+)*|@[\w./-]+|[\w.+-]+@[\w.-]+|(?:the |our "
    rf"|an? )?(?:[\w-]+ ){{0,3}}?{_BODY}\b(?: {_CAPITAL})?"
    rf"|{_CAPITAL}(?: (?:{_CAPITAL}|of|the|van|von|de|der))*)"
)
_RELATION = (
    r"(?:sup+er[sc]+e+d+e?s|superseding|replaces|replacing|obsoletes|deprecates|amends|amending|amended(?: by)?|"
    r"extends|extended by|extending|clarifies|clarified by|refines|refined by|complements|complemented by|supplements|"
    r"supplemented by|implements|implemented by|updates|updated by|updated|linked to|links? to"
    r"|relates to|related(?: to)?|"
    r"depends on|depended on by|required by|requires|enables|enabled by|builds on|based on|based off|influenced by|"
    r"see(?: also)?|cf\.?|partially supersedes|changed by|changes|revises|revised by|"
    r"ersetzt|remplace|reemplaza|substitui|sostituisce)"
)
_WORK = (
    r"(?:(?:pending|awaiting|needs|requires|under) )?(?:implementation|rollout|roll-out"
    r"|migration|release|deployment|development)"
    r"(?: (?:is |was |has )?(?:pending|in progress|ongoing|started|planned|under ?way"
    r"|complete(?:d)?|done|to follow|required|needed))?"
    r"|(?:not|un|non|partially|partly|fully|to be|being)[- ]?(?:yet )?implemented|(?:but )?not (?:yet )?implemented"
    r"|(?:and |but )?implementation \w+"
)
_HARMLESS = re.compile(
    rf"(?:(?P<quiet>(?:^|\n)\W*(?:proposed|draft(?:ed)?)\W*(?:on |in )?{_DATE}\W*?(?=\s*(?:\n|$|→|->|=>|[➜➡⇒⟶]))"
    rf"|\bwith (?:minor |some )?(?:revisions|changes|amendments|modifications|edits)\b"
    rf"|\((?:documenting|describing|recording|documents|records) [^()\n]{{1,80}}\)"
    rf"|\({_CAPITAL}(?: {_CAPITAL}){{0,2}} v?\d+(?:\.\d+)*\+?\)"
    rf"|@[\w./-]+(?=\W|$)|\b(?:{_WORK})\b"
    rf"|\b(?:was|were|previously|formerly|originally|initially|first)\W+(?:proposed|draft(?:ed)?|rfc|pending|on hold|"
    rf"in review|under review)\b(?:\W+(?:on |in )?{_DATE})?"
    rf"|(?:{ANY.pattern})(?=\W*(?:→|->|=>|[➜➡⇒⟶»])))"
    rf"|[^\w?@❌👎🚫⛔🛑🗑⚠✖✗✘❎🔴→⇒⟶➜➡»]"
    rf"|(?:[→⇒⟶➜➡»]|->|=>)(?=\W*(?:{ANY.pattern}))"
    rf"|(?P<said>{ANY.pattern})"
    rf"|\b(?:created|raised|started|written|updated|reviewed|last updated|ratified|amended|revised)"
    rf"\W*(?:(?:on|in|at|by|since|am)\b\W*)?{_DATE}"
    rf"|\b{_RELATION}\b\W*(?:(?:by|(?:together |along )?with|and|also|{_NAME}(?!\w))(?:\W|\band\b)*)*"
    rf"|\b(?:this|the|our)(?: current)?(?: \w+)? (?:adr|decision|record|proposal|document|rfc|one)\b"
    r"|\b(?:adr|decision|record|proposal|document|rfc|status|we|it|this|is|was|has|have|been|are|currently|now|already|"
    r"mostly|unanimously|officially|formally|marked as|considered|and|also|then|later|yes|true"
    r"|ok|okay|partially|partly|"
    r"as of|effective|approval|final|version|rev(?:ision)?|date|decided|current)\b"
    rf"|\b(?:{_BODY}|owners?|authors?|deciders?|decision[- ]makers?|approvers?|reviewers?|champion|sponsor|date|tags?)"
    rf"\s*:\s*{_NAME}(?:\s*(?:,|&|and)\s*{_NAME})*"
    rf"|\b(?:by|on|in|at|since|as of|from|per|via|with|am|le|el|em|il|im|vom|seit|{BY_ABROAD})\b\W*{_NAME}(?!\w)"
    rf"(?:(?:\s*(?:,|&|/|;)\s*|\s+and\s+|\s+)(?!{ANY.pattern}){_NAME}(?!\w))*(?:\s+\d+:\d+(?::\d+)?)?"
    rf"|\b{_DATE}(?!\w)|\bv?\d+(?:\.\d+)*\b|{_REF}(?!\w)|[年月日]"
    r")",
    re.IGNORECASE,
)
_NEVER = re.compile(
    r"\b(?:not|never|nor?|none|without|cannot|false|but|except|unless|until|till|if|principle"
    r"|part|theory|reservations?|"
    r"(?:un)?condition\w*|nothing|nobody|void|provisional\w*|tentativ\w*|review|discussion|consideration|"
    r"revo\w+|rescin\w+|over(?:turn|rul|rid|thr)\w+|revers\w+|repeal\w*|annul\w*|cancel\w*|invalid\w*|nullif\w*|"
    r"withdr\w+|remov\w+|undo\w*|abandon\w*|drop(?:ped|s)\b|veto\w*|reject\w*|declin\w*|den(?:y|ied)|refus\w+|"
    r"obsole\w+|deprecat\w*|replaced|sup+er[sc]\w+d|retire\w*|expire\w*|outdated|postpon\w*|defer\w*|discard\w*|"
    r"draft|wip|pending|tbd|paus\w+|suspend\w*|stale|dead|closed|end(?:s|ed)|ceas\w+|stopp?\w*"
    r"|longer|old|former\w*|others?)\b|n[’']t\b",
    re.IGNORECASE,
)
"""Words that no name is made of; a text with one of them says more than "accepted"."""
_SENTENCE = 8  # words, at least, of a line that is a sentence and no remark on the status
_OVERTURNS = re.compile(
    rf"\b(?:{SUPERSEDED}|replaced|obsolete\w*|deprecated|rejected|declined|vetoed|withdr\w+|abandoned|revo\w+|rescin\w+"
    r"|over(?:turn|rul)\w+|revers\w+|reverted|repeal\w*|annul\w*|cancel\w*|invalid\w*|nullif\w*|void|undone|removed"
    r"|(?:no|any) (?:longer|more)|anymore|instead|moved|switched|changed|stopped|discarded|retired|expire[sd]|outdated"
    r"|historical|ratified|proposed|draft|only if|unless|until \d+|pending|provided that|on condition"
    r"|not (?:\w+ )?(?:valid|appl\w+|hold|true|in (?:force|effect|use)|final|accepted|approved"
    r"|agreed|decided|followed|use))\b"
    r"|n[’']t (?:\w+ )?(?:valid|apply|hold|true|use|follow)\b|[❌👎🚫⛔🛑]",
    re.IGNORECASE,
)
_PARTLY = re.compile(
    rf"[(,;]?\s*\b(?:part(?:s|ly|ially)?|in part|some|sections?|portions?|aspects?)\b[^.;\n]{{0,60}}?"
    rf"\b(?:{RETIRED}|{SUPERSEDED}|deprecated|obsolete)\b(?P<rest>[^.;)\n]{{0,200}})",
    re.IGNORECASE,
)
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\](?:\([^)]{0,2000}\)|\[[^\]]{0,300}\])|<(https?://[^\s>]{1,2000})>")
_CODE = re.compile(
    r":(?:x|no_\w+|negative\w*|thumbsdown|-1|octagonal\w*|stop\w*|wastebasket|warning|cross\w*|red_\w+):"
)
_SPAN = re.compile(r"\d{4}(?:-\d\d-\d\d)?\s*(?:[-–—]+|\bto\b)\s*\d{4}(?!\d)")
_CLAUSE = re.compile(r"[.;,:()\n\[\]]|\s[-–—]+\s|\bbut\b|\bthen\b|\band\b", re.IGNORECASE)
_ENDED = re.compile(rf"^\W*(?:$|(?:by|on|in|at|see|since|due)\b|{_DATE})", re.IGNORECASE)
_NOTICE = re.compile(
    r"^(?:\W|\b(?:update|edit|notice|note|warning|important|later|now)\b|\d[\d./-]*\b)+", re.IGNORECASE
)


def without_links(text: str) -> str:
    """Return a text with each link that is no word of a status as a mark."""
    return _LINK.sub(lambda m: m[1] if m[1] and ANY.search(m[1]) else " \ue000 ", text)


def rest(text: str) -> str:
    """Return what a text says besides "accepted" and what goes with it: "" where that is nothing.

    ``text``: the status, decoration stripped, links as marks.
    """
    if _CODE.search(text) or _SPAN.search(text):
        return text
    left = _PARTLY.sub(lambda m: " " if not _NEVER.search(m["rest"]) else m[0], text)
    first, *later = re.split(r"\n", left)
    left = "\n".join([first, *(line for line in later if not _is_prose(line))])
    at = 0
    while at < len(left):
        match = _HARMLESS.match(left, at)
        if not match or match.end() == at or (match["said"] and meaning(match["said"]) not in {"accepted", ""}):
            return left[at:].strip()
        if not match["said"] and not match["quiet"] and _NEVER.search(match[0]):
            return left[at:].strip()
        at = match.end()
    return ""


def _is_prose(line: str) -> bool:
    """Whether a line below the status tells about the decision without a word of its end."""
    return len(re.findall(r"\w+", line)) >= _SENTENCE and not _OVERTURNS.search(line)


def ended(text: str, lead: re.Pattern[str]) -> str:
    """Return the status out of force that a clause of the text leads with, or ""."""
    for clause in _CLAUSE.split(text):
        said = _NOTICE.sub("", clause)
        found = lead.match(said)
        said = said[found.end() :] if found else said
        word = ANY.match(said)
        if word and meaning(word[0]) in FINAL and _ENDED.match(said[word.end() :]):
            return meaning(word[0])
    return ""


def warns(text: str) -> bool:
    """Whether a text has a word that goes against being in force."""
    return bool(_NEVER.search(text))
