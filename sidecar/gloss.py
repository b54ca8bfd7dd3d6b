"""A question in Chinese as the English words of a glossary: longest match, left to right. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from seed.text import is_cjk

_LATIN = re.compile(r"[A-Za-z0-9_./:@#+-]+")


def reverse(*glossaries: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return CJK word -> English words, from English word -> its CJK forms; other synonyms are left out."""
    back: dict[str, list[str]] = {}
    for glossary in glossaries:
        for english, forms in glossary.items():
            for form in forms:
                if is_cjk(form) and english not in back.setdefault(form, []):
                    back[form].append(english)
    return back


def translate(question: str, back: Mapping[str, Sequence[str]]) -> str:
    """Return the English words that the glossary knows for a question, in order, with its Latin tokens as they stand.

    "" where nothing is known. Single characters are skipped: far more often they are parts of words than words.
    """
    longest = max(map(len, back), default=0)
    found: list[str] = []
    at = 0
    while at < len(question):
        if latin := _LATIN.match(question, at):
            found.append(latin[0])
            at = latin.end()
            continue
        known = (n for n in range(min(longest, len(question) - at), 1, -1) if question[at : at + n] in back)
        length = next(known, 0)
        found.extend(back.get(question[at : at + length], ()))
        at += length or 1
    return " ".join(dict.fromkeys(found))
