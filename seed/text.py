"""Words of a text: stems, CJK bigrams, and exact tokens (identifiers, paths, flags, versions). Pure."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

EXACT = "="
"""Prefix of exact tokens among the index terms: a stem never starts with it."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0002ffff"
_CJK_RUN = re.compile(f"[{_CJK}]+")
_WORD = re.compile(rf"[^\W_{_CJK}]+")
_RAW = re.compile(rf"[^\s,;!?()\[\]{{}}<>\"'`|*“”‘’「」『』，。；：！？（）、{_CJK}]+")
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]|[A-Z]{2,}[a-z]+[A-Z]")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ABBREVIATIONS = frozenset({"e.g", "i.e", "etc", "vs", "and/or", "n/a", "w/o", "w/"})
STOP_WORDS = frozenset(
    [
        "a",
        "an",
        "the",
        "and",
        "or",
        "but",
        "if",
        "then",
        "else",
        "of",
        "in",
        "on",
        "at",
        "to",
        "for",
        "from",
        "by",
        "with",
        "without",
        "into",
        "onto",
        "over",
        "under",
        "about",
        "as",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "am",
        "do",
        "does",
        "did",
        "done",
        "doing",
        "have",
        "has",
        "had",
        "having",
        "will",
        "would",
        "can",
        "could",
        "shall",
        "should",
        "may",
        "might",
        "must",
        "it",
        "its",
        "this",
        "that",
        "these",
        "those",
        "there",
        "here",
        "we",
        "us",
        "our",
        "ours",
        "you",
        "your",
        "yours",
        "they",
        "them",
        "their",
        "he",
        "she",
        "his",
        "her",
        "i",
        "me",
        "my",
        "mine",
        "not",
        "no",
        "nor",
        "so",
        "than",
        "too",
        "very",
        "just",
        "also",
        "which",
        "who",
        "whom",
        "whose",
        "what",
        "when",
        "where",
        "why",
        "how",
        "all",
        "any",
        "each",
        "every",
        "some",
        "such",
        "one",
        "ones",
        "other",
        "others",
        "another",
        "only",
        "own",
        "same",
        "both",
        "more",
        "most",
        "much",
        "many",
        "few",
        "less",
        "get",
        "gets",
        "got",
        "let",
        "lets",
        "s",
        "t",
        "d",
        "ll",
        "re",
        "ve",
        "while",
        "during",
        "before",
        "after",
        "again",
        "once",
        "up",
        "down",
        "out",
        "off",
        "through",
        "between",
        "because",
        "until",
        "against",
        "per",
        "via",
    ]
)


def is_cjk(text: str) -> bool:
    """Tell whether any character of ``text`` is Chinese, Japanese or Korean."""
    return _CJK_RUN.search(text) is not None


@lru_cache(maxsize=1)
def _stemmer() -> object:
    from py_rust_stemmers import SnowballStemmer

    return SnowballStemmer("english")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the English Snowball stem of a folded word; words of other scripts come back unchanged."""
    return _stemmer().stem_word(word) if word.isascii() and len(word) > 2 else word  # type: ignore[attr-defined,no-any-return]


def fold(text: str) -> str:
    """Return the text in NFKC, without case: full-width letters and compatibility forms become plain."""
    return unicodedata.normalize("NFKC", text).casefold()


def words(text: str) -> list[str]:
    """Return the index words of a text in order: stems without stop words, and CJK bigrams."""
    normal = unicodedata.normalize("NFKC", text)
    found = []
    for match in _WORD.finditer(normal):
        for part in _split(match.group()):
            if part not in STOP_WORDS:
                found.append(stem(part))
    for run in _CJK_RUN.findall(normal):
        found.extend(run[n : n + 2] for n in range(len(run) - 1)) if len(run) > 1 else found.append(run)
    return found


def _split(word: str) -> list[str]:
    folded = word.casefold()
    if not _INNER_CAPITAL.search(word):
        return [folded]
    return [folded, *(part.casefold() for part in _PARTS.findall(word))]


def exact_tokens(text: str) -> list[str]:
    """Return the exact tokens of a text, folded, each once in order of appearance.

    A record id, a path, a flag, or a word with a digit, ``_``, ``.``, ``/``, ``::`` or inner capitals.
    """
    return list(dict.fromkeys(fold(token) for token in map(_trim, _RAW.findall(text)) if _is_exact(token)))


def _trim(raw: str) -> str:
    token = raw.rstrip(".:/=-").lstrip(".:=/") if not raw.startswith(("./", "--", "-")) else raw.rstrip(".:/=")
    return token.removeprefix("./")


def _is_exact(token: str) -> bool:
    if len(token) < 2 or fold(token) in _ABBREVIATIONS or not any(c.isalnum() for c in token):
        return False
    if token.startswith("-"):
        return len(token) > 2 and token.lstrip("-")[:1].isalpha()
    return any(c.isdigit() or c in "_./" for c in token) or "::" in token or _INNER_CAPITAL.search(token) is not None


def terms(text: str) -> Counter[str]:
    """Return how often each index term (words and exact tokens, path base names included) stands in a text."""
    counts = Counter(words(text))
    for token in exact_tokens(text):
        counts[EXACT + token] = 1
        if "/" in token and (name := token.rsplit("/", 1)[1]):
            counts[EXACT + name] = 1
    return counts
