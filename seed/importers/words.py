"""The words in which people state a status, by the status they mean; other languages by the side."""

from __future__ import annotations

import re

SUPERSEDED = r"sup+er[sc]+e+d+e?d"
RETIRED_ABROAD = (
    r"ersetzt|abgelöst|remplacée?|reemplazad[oa]|sustituid[oa]|substituíd[oa]|sostituit[oa]|vervangen|ersatt"
    r"|zastąpion[ey]"
)
BY_ABROAD = r"durch|von|par|por|pela|da|door|av|przez"
_ENGLISH = {
    # What is said of the work, not of the decision, comes first; refusals before the words they refuse.
    "": r"(?:not|un|non)[- ]?(?:yet )?implemented|implementation \w+",
    "not": r"not (?:accepted|approved|adopted|agreed|going ahead)|decided against",
    "proposed": r"not yet \w+|proposed|proposal|draft(?:ed|ing)?|pending|incomplete|w\.?i\.?p\.?|rfc|open|tbd"
    r"|(?:in|under|needs?|for|awaiting)[- ](?:\w+ )?(?:review|discussion|consideration|approval|decision|feedback)"
    r"|awaiting|reviewing|discussion|on[- ]hold|deferred|postponed|(?:work )?in[- ]progress|last call|todo"
    r"|request for comments?|exploring|undecided|provisional|to be decided|planned|planning|idea"
    r"|returned for revision|scheduled for \w+|active (?:review|discussion|proposal)|tbc|to be confirmed|not decided"
    r"|final (?:draft|comment period|review)|ready for (?:\w+ )?review|tentative",
    "accepted": r"accepted|approved|adopted|agreed|ratified|decided|active|enacted|finali[sz]ed|final|done"
    r"|living|signed off|in (?:force|use|effect)|effective|confirmed|recommended|amended|implementable|completed?"
    r"|(?:partially |fully )?implemented|released|ready[- ]for[- ]release",
    "rejected": r"rejected|declined|denied|refused|abandoned|withdrawn|cancell?ed|dropped|discarded|dismissed"
    r"|vetoed|killed|won'?t (?:do|fix)|wontfix|turned down",
    "deprecated": r"deprecated|obsolete|retired|reverted|rolled back|discontinued|outdated|expired|archived"
    r"|no longer (?:relevant|valid|applicable|applies|in use|used|in force|needed)"
    r"|revoked|rescinded|repealed|overturned|overruled|annulled|invalidated|nullified|removed|undone|void(?:ed)?"
    r"|no longer \w+|inactive|phased out|sunset(?:ted)?|end[- ]of[- ]life",
    "superseded": rf"{SUPERSEDED}|replaced|obsoleted|supplanted|overridden|succeeded",
    "historical": r"historical",
}
_ABROAD = {
    "proposed": r"vorgeschlagen|entwurf|proposée?|brouillon|propuest[oa]|borrador|propost[oa]|rascunho"
    r"|提案中?|草案|提议",
    "accepted": r"akzeptiert|angenommen|acceptée?|aceptad[oa]|aceit[oa]|accettat[oa]"
    r"|承認(?:済み)?|採用(?:済み)?|已接受|已采纳|已採用",
    "rejected": r"abgelehnt|verworfen|rejetée?|rechazad[oa]|rejeitad[oa]|却下|不採用|已拒绝|已拒絕",
    "deprecated": r"veraltet|obsolète|obsolet[oa]|廃止|非推奨|已弃用|已廢棄|已废弃",
    "superseded": rf"{RETIRED_ABROAD}|置き換え|已取代|已被取代|已替代",
}
_BY_STATUS = {status: f"{form}|{_ABROAD.get(status, form)}" for status, form in _ENGLISH.items()}
_FORMS = {status: re.compile(rf"(?:{form})(?!\w)", re.IGNORECASE) for status, form in _BY_STATUS.items()}
ANY = re.compile(r"(?<![\w'-])(?:" + "|".join(_BY_STATUS.values()) + r")(?!\w)", re.IGNORECASE)
RETIRED = _BY_STATUS["superseded"]
_SIGNS = {"accepted": "✅✔☑👍", "rejected": "❌👎"}


def meaning(word: str) -> str:
    """Return the status that a match of ``ANY`` stands for; "" where it is about the work."""
    kind = next(status for status, form in _FORMS.items() if form.fullmatch(word))
    return "rejected" if kind == "not" else kind


def meanings(text: str) -> set[str]:
    """Return every status that is mentioned."""
    return {meaning(match[0]) for match in ANY.finditer(text)} - {""}


def sign(line: str) -> str:
    """Return the status that a line of nothing but a sign stands for, or ""."""
    found = (status for status, signs in _SIGNS.items() if set(signs) & set(line))
    return "" if re.search(r"\w", line) else next(found, "")
