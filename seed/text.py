"""Words of a text: stems, CJK bigrams, and exact tokens (identifiers, paths, flags, versions). Pure."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

EXACT = "="
"""Prefix of exact tokens among the index terms: a stem never starts with it."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0002ffff"
_CJK_RUN = re.compile(f"[{_CJK}]+")
_WORD = re.compile(rf"[^\W_{_CJK}]+")
_RAW = re.compile(rf"[^\s=,;!?()\[\]{{}}<>\"'`|*“”‘’「」『』，。；：！？（）、{_CJK}]+")
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]|[A-Z]{2,}[a-z]+[A-Z]")
_PLURAL = re.compile(r"[A-Z]{2,}s")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SHORT = 2
_USUAL, _KNOWN = 48, 32_768
"""Words up to this length come again and again, so that what was found for so many of them is remembered."""
_ABBREVIATIONS = frozenset({"e.g", "i.e", "etc", "vs", "and/or", "n/a", "w/o", "w/"})
STOP_WORDS = frozenset(
    "a about all also am an and any are as at be because been being between both but by can cannot could d did do "
    "does doing done each else ever few for from further get gets got had has have having he her here hers him his "
    "how i if in into is it its itself just less let lets like ll many may me might mine more most much must my no "
    "nor not now of off on once one ones only onto or other others our ours out over own per put re s same shall she "
    "should so some such t than that the their theirs them then there these they this those through to too until up "
    "upon us use used uses using ve very via want was we were what when where whether which while who whom whose why "
    "will with within without would yes yet you your yours".split()
)


def is_cjk(text: str) -> bool:
    """Tell whether any character of ``text`` is Chinese, Japanese or Korean."""
    return _CJK_RUN.search(text) is not None


def cjk_share(text: str) -> float:
    """Return the share of CJK characters among the letters of a text, 0 to 1."""
    letters = sum(c.isalpha() for c in text)
    return sum(map(len, _CJK_RUN.findall(text))) / letters if letters else 0.0


@lru_cache(maxsize=1)
def _stemmer() -> Any:  # noqa: ANN401 - the package ships no types
    from py_rust_stemmers import SnowballStemmer

    return SnowballStemmer("english")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the English Snowball stem of a folded word; words of other scripts come back unchanged."""
    return str(_stemmer().stem_word(word)) if word.isascii() and len(word) > _SHORT else word


@lru_cache(maxsize=1)
def stop_stems() -> frozenset[str]:
    """Return the stop words as the index has them."""
    return frozenset(map(stem, STOP_WORDS))


def fold(text: str) -> str:
    """Return the text in NFKC, without case: full-width letters and compatibility forms become plain."""
    return unicodedata.normalize("NFKC", text).casefold()


def words(text: str) -> list[str]:
    """Return the index words of a text in order: stems, stop words too, and CJK bigrams.

    Stop words stay in the index: their weight is small, and they help to tell a question that is answered from one
    that is not (finding-0001).
    """
    return [term for term, _ in _spelled(text)]


def content_words(text: str) -> list[str]:
    """Return the index words of a text that carry meaning of their own, each once: no stop words."""
    return list(dict.fromkeys(term for term, spelled in _spelled(text) if spelled not in STOP_WORDS))


def spellings(text: str) -> dict[str, str]:
    """Return index word -> the word as the text has it, without stop words, to show what matched."""
    return dict(reversed([pair for pair in _spelled(text) if pair[1] not in STOP_WORDS]))


def _spelled(text: str) -> Iterator[tuple[str, str]]:
    normal = unicodedata.normalize("NFKC", text)
    for match in _WORD.finditer(normal):
        word = match.group()
        yield from _stems(word) if len(word) <= _USUAL else _stems.__wrapped__(word)
    for run in _CJK_RUN.findall(normal):
        yield from ((run[n : n + 2], run[n : n + 2]) for n in range(max(1, len(run) - 1)))


@lru_cache(maxsize=_KNOWN)
def _stems(word: str) -> tuple[tuple[str, str], ...]:
    """Return (stem, part) of a word as it is written and of the parts that its capitals divide it into."""
    return tuple((stem(part), part) for part in _split(word))


def _split(word: str) -> list[str]:
    folded = word.casefold()
    if not _INNER_CAPITAL.search(word):
        return [folded]
    return [folded, *(part.casefold() for part in _PARTS.findall(word))]


def exact_tokens(text: str) -> list[str]:
    """Return the exact tokens of a text, folded, each once in order of appearance.

    A record id, a path, a flag, or a word with a digit, ``_``, ``.``, ``/``, ``::`` or inner capitals.
    """
    found = (_exact(raw) if len(raw) <= _USUAL else _exact.__wrapped__(raw) for raw in _RAW.findall(text))
    return list(dict.fromkeys(token for token in found if token))


@lru_cache(maxsize=_KNOWN)
def _exact(raw: str) -> str:
    """Return the exact token that stands between two blanks, folded, or ""."""
    token = _trim(raw)
    return fold(token) if _is_exact(token) else ""


def _trim(raw: str) -> str:
    """Strip punctuation from a token's ends; a leading dot stays where it begins a name, as in .git."""
    token = raw.rstrip(".:/=-").removeprefix("./")
    return token if token.startswith("-") else token.lstrip(":=/") if token[:1] != "." else "." + token.lstrip(".")


def _is_exact(token: str) -> bool:
    if len(token) < _SHORT or fold(token) in _ABBREVIATIONS or not any(c.isalnum() for c in token):
        return False
    if _PLURAL.fullmatch(token):  # RPMs is a word
        return False
    if token.startswith("-"):
        return len(token) > _SHORT and token.lstrip("-")[:1].isalpha()
    return any(c.isdigit() or c in "_./" for c in token) or "::" in token or _INNER_CAPITAL.search(token) is not None


def terms(text: str) -> Counter[str]:
    """Return how often each index term (words and exact tokens, path base names included) stands in a text."""
    counts = Counter(words(text))
    for token in exact_tokens(text):
        counts[EXACT + token] = 1
        if "/" in token and (name := token.rsplit("/", 1)[1]):
            counts[EXACT + name] = 1
    return counts


def word_count(counts: Counter[str]) -> int:
    """Return the length of a document in words; exact tokens stand in its words already."""
    # Most terms are words: what is no word is taken off, which asks each term for its first character alone.
    return sum(counts.values()) - sum([counts[term] for term in counts if term[:1] == EXACT])
