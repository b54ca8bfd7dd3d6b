"""Secrets in a text, by the public formats of well-known tokens: the rule and the place, never the value.

A listing, not a proof: what has no known format and no telling name is not found.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Bits a character below which an assigned value is a word or a placeholder, not a secret.
ENTROPY = 3.0


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret was seen: by which rule, and where (byte offsets)."""

    rule: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Rule:
    """``keys`` are looked for first, since that is fast; the secret is the pattern's last group.

    A pattern is compiled when one of its keys is first seen: a check of sound records compiles none.
    """

    name: str
    keys: tuple[bytes, ...]
    text: bytes

    @property
    def pattern(self) -> re.Pattern[bytes]:
        return re.compile(self.text)  # which keeps what it compiled


def _rule(name: str, keys: str, pattern: str) -> _Rule:
    return _Rule(name, tuple(key.encode() for key in keys.split()), pattern.encode())


_ASSIGNED = "assigned-secret"
_VALUE = r"[\"'\\]{0,4}\s{0,3}[:=]\s{0,3}[\"'\\]{0,4}([\w./+=!@#%^&*~-]{12,200})"
_RULES = (
    _rule("aws-access-key", "AKIA ASIA", r"A[KS]IA[A-Z2-7]{16}(?![A-Z0-9])"),
    _rule("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    _rule("github-fine-grained-token", "github_pat_", r"github_pat_\w{50,255}"),
    _rule("gitlab-token", "glpat-", r"glpat-[\w-]{20,100}"),
    _rule("slack-token", "xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,250}"),
    _rule("slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/services/[A-Za-z0-9/]{20,100}"),
    _rule("anthropic-key", "sk-ant-", r"sk-ant-[\w-]{20,200}"),
    _rule("openai-key", "sk-", r"sk-(?!ant-)(?:proj-|svcacct-|admin-)?[\w-]{20,250}"),
    _rule("google-api-key", "AIza", r"AIza[\w-]{35}"),
    _rule("stripe-key", "k_live_ k_test_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,200}"),
    _rule("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _rule("pypi-token", "pypi-", r"pypi-[\w-]{60,250}"),
    _rule("hugging-face-token", "hf_", r"hf_[A-Za-z0-9]{30,100}"),
    _rule("sendgrid-key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{16,64}"),
    _rule(
        "private-key",
        "PRIVATE",
        r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----[^-]{16,20000}"
        r"(?:-----END [A-Z0-9 ]{1,40}-----)?",
    ),
    _rule("json-web-token", "eyJ", r"(?<![\w-])eyJ[\w-]{10,2000}\.eyJ[\w-]{10,4000}\.[\w-]{10,2000}"),
    _rule("password-in-url", "://", r"://[^\s:/@\"'\\<>]{1,64}:([^\s:/@\"'\\<>{}$]{4,128})@"),
    # Parts of a name, so that each pattern begins with a literal and the search runs at full speed.
    *(
        _rule(_ASSIGNED, key, name + _VALUE)
        for key, name in (
            ("assw", "assw(?:or)?d"),
            ("ASSW", "ASSW(?:OR)?D"),
            ("ecret", "ecret(?:[_-]?[Kk]ey)?"),
            ("ECRET", "ECRET(?:_?KEY)?"),
            ("oken", "oken"),
            ("OKEN", "OKEN"),
            ("pi", "pi[_-]?[Kk]ey"),
            ("PI_KEY", "PI_KEY"),
        )
    ),
)
_PLACEHOLDER = re.compile(
    rb"(?i)example|placeholder|changeme|your[_-]|xxxx|\*\*\*\*|redacted|process\.env|environ|getenv"
)


def find(data: bytes) -> list[Secret]:
    """Return the secrets in ``data`` in order of their place; of two that overlap, the first."""
    found = sorted(_candidates(data), key=lambda one: (one.start, -one.end))
    kept: list[Secret] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _candidates(data: bytes) -> Iterator[Secret]:
    for rule in _RULES:
        if not any(key in data for key in rule.keys):
            continue
        pattern = rule.pattern
        for match in pattern.finditer(data):
            start, end = match.span(pattern.groups)
            glued = start == match.start() and data[start - 1 : start].isalnum() and start > 0
            if not glued and (rule.name != _ASSIGNED or _is_secret(data[start:end])):
                yield Secret(rule.name, start, end)


def _is_secret(value: bytes) -> bool:
    """Tell a random value from a word, a path or a placeholder."""
    if _PLACEHOLDER.search(value) or b"/" in value[:2] or value.count(b"/") > 1 or b"(" in value:
        return False
    digits = sum(byte in b"0123456789" for byte in value)
    letters = sum(chr(byte).isalpha() for byte in value)
    return digits > 1 and letters > 1 and entropy(value) >= ENTROPY


def entropy(value: bytes) -> float:
    """Return the Shannon entropy of the bytes' distribution, in bits a byte."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def blank(data: bytes, secrets: Iterable[Secret]) -> bytes:
    """Return ``data`` with every secret overwritten by stars: same length, so that offsets stay true."""
    changed = bytearray(data)
    for one in secrets:
        changed[one.start : one.end] = b"*" * (one.end - one.start)
    return bytes(changed)
