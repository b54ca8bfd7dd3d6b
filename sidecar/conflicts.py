"""Records in force that may contradict each other: which pairs deserve a judge, and what was judged. Pure.

A verdict is a finding whose key `conflict` names the relation and both blobs, so that it lapses when either record
changes. Nothing here decides which record is right: the rules only suggest it, in words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seed.record import TRUSTS, Record, is_verdict
from seed.snapshot import Head
from seed.text import content_words, fold
from sidecar.open_items import tied
from sidecar.plane import Plane
from sidecar.quote import one_line

CLOSE = 0.5
"""Cosine of two records' mean vectors from which they are worth a look, given that they share a subject."""
MOST_PER_RECORD = 5
_SHARED_WORDS = 2
_SETTLING = frozenset({
    "supersedes", "superseded_by", "amends", "amended_by", "refutes", "refuted_by",
})  # fmt: skip
_MAX_REASON = 300
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NEGATION = re.compile(r"\b(?:not?|never|without|neither|nor|none|cannot)\b|n't\b|[不非無无未禁]", re.IGNORECASE)
_UNSAID = "document_extracted"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two records, ordered by folded id, with the blobs they were compared on, their cosine and what they share.

    ``differs`` says in what their titles claim different things, "" where no sign of that was found.
    """

    ids: tuple[str, str]
    blobs: tuple[str, str]
    cosine: float
    why: str
    differs: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Return what the pair is found by: ids compare without case."""
        return self.ids[0].casefold(), self.ids[1].casefold()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a finding says of a pair; ``reviewed`` is False while it waits on a candidate branch."""

    id: str
    relation: str
    ids: tuple[str, str]
    blobs: tuple[str, str]
    reason: str
    closes: str
    reviewed: bool

    @property
    def key(self) -> tuple[str, str]:
        """Return what the pair is found by."""
        return self.ids[0].casefold(), self.ids[1].casefold()


def ordered(one: Head, other: Head) -> tuple[Head, Head]:
    """Return two heads in the order in which every pair names them."""
    return (one, other) if one.record.id.casefold() <= other.record.id.casefold() else (other, one)


def means(plane: Plane) -> NDArray[np.float32]:
    """Return the unit mean vector (m, d) of each record's passages; zeros where none is embedded."""
    have = plane.rows >= 0
    vectors = np.where(have[:, np.newaxis], np.asarray(plane.matrix[plane.rows]), 0).astype(np.float32)
    sums: NDArray[np.float32] = np.add.reduceat(vectors, plane.starts, axis=0)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    unit: NDArray[np.float32] = sums / np.maximum(lengths, np.float32(1e-9))
    return unit


def pairs(
    heads: Sequence[Head], among: Sequence[int], changed: Iterable[int], vectors: NDArray[np.float32], telling: set[str]
) -> list[Pair]:
    """Return the pairs of a ``changed`` record and another one ``among`` the admitted that deserve a judge.

    Both are close in meaning (``vectors`` (m, d)), share a subject (``telling`` tags count), and no relation between
    them settles it. At most five for each changed record, the closest first.
    """
    found: dict[tuple[str, str], Pair] = {}
    others = np.asarray(among, dtype=np.intp)
    for n in changed:
        cosines = np.round(vectors[others] @ vectors[n], 4)
        kept = 0
        near = np.flatnonzero(cosines >= CLOSE)
        for at in near[np.argsort(-cosines[near], kind="stable")]:
            m, cosine = int(others[at]), float(cosines[at])
            if kept == MOST_PER_RECORD:
                break
            one, other = ordered(heads[n], heads[m])
            if m == n or one.record.id.casefold() == other.record.id.casefold() or settled(one, other):
                continue
            if shared := subject(one.record, other.record, telling):
                claims = differing(one.record.title, other.record.title)
                pair = Pair((one.record.id, other.record.id), (one.blob, other.blob), cosine, shared, claims)
                found.setdefault(pair.key, pair)
                kept += 1
    return sorted(found.values(), key=likeliest)


def likeliest(pair: Pair) -> tuple[object, ...]:
    """Return the key that sorts pairs: first those whose titles differ in what they claim, then the closest."""
    return not pair.differs, -pair.cosine, pair.key


@lru_cache(maxsize=16384)
def _words(title: str) -> dict[str, None]:
    """Return the words of a title that carry meaning, in order; a scan asks for them once for each pair."""
    return dict.fromkeys(content_words(title))


def differing(one: str, other: str) -> str:
    """Return in words the sign that two titles claim different things, or "".

    Over at least a third of their words in common: numbers that are not the same, or a negation in one of them; over
    at least half: the words that differ.
    """
    words = [_words(title) for title in (one, other)]
    shared, union = words[0].keys() & words[1].keys(), words[0].keys() | words[1].keys()
    if 3 * len(shared) < len(union):
        return ""
    numbers = [dict.fromkeys(_NUMBER.findall(title)) for title in (one, other)]
    if all(numbers) and not numbers[0].keys() & numbers[1].keys():
        return f"{next(iter(numbers[0]))} against {next(iter(numbers[1]))}"
    if bool(_NEGATION.search(one)) != bool(_NEGATION.search(other)):
        return "one of them negates"
    own = [[word for word in words[at] if word not in shared] for at in (0, 1)]
    return f"{own[0][0]} against {own[1][0]}" if all(own) and 2 * len(shared) >= len(union) else ""


def settled(one: Head, other: Head) -> bool:
    """Tell whether one of two records supersedes, amends or refutes the other."""
    return any(x.relation in _SETTLING and x.id.casefold() == other.record.id.casefold() for x in one.lineage)


def subject(one: Record, other: Record, telling: set[str]) -> str:
    """Return in words what two records share: a path, a tag that tells, or words of their titles; "" if nothing."""
    for path in one.paths:
        if any(tied(path, held) for held in other.paths):
            return one_line(f"same path {path}", 120)
    tags = {fold(tag) for tag in other.tags}
    for tag in one.tags:
        if fold(tag) in telling & tags:
            return one_line(f"same tag {tag}", 120)
    words = [word for word in _words(one.title) if word in _words(other.title)]
    return one_line("both speak of " + ", ".join(words[:4]), 120) if len(words) >= _SHARED_WORDS else ""


def verdict_of(head: Head) -> Verdict | None:
    """Return the verdict that a finding holds, or None for any other record and for one that is malformed."""
    if head.record.kind != "finding" or not is_verdict(head.record.extra.get("conflict")):
        return None
    said: Any = head.record.extra["conflict"]
    one, other = sorted(said["between"], key=lambda side: str(side["id"]).casefold())
    return Verdict(
        head.record.id,
        str(said["relation"]),
        (str(one["id"]), str(other["id"])),
        (str(one["blob"]), str(other["blob"])),
        one_line(str(said.get("reason", "")), _MAX_REASON),
        str(said.get("closes", "")),
        not head.origin,
    )


def holding(verdicts: Iterable[Verdict], blobs: Mapping[str, str]) -> list[Verdict]:
    """Return the verdicts that have not lapsed. ``blobs``: folded id -> blob of each record in force."""
    return [v for v in verdicts if all(blobs.get(k) == blob for k, blob in zip(v.key, v.blobs, strict=True))]


def unresolved(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the contradictions that are not closed; a closing that no one reviewed closes only its like."""
    closed = {(v.closes.casefold(), v.reviewed) for v in verdicts if v.relation == "resolved" and v.closes}
    return [
        v for v in verdicts
        if v.relation == "contradicts" and (v.id.casefold(), True) not in closed
        and (v.reviewed or (v.id.casefold(), False) not in closed)
    ]  # fmt: skip


def arbitrate(one: Record, other: Record) -> tuple[str, str]:
    """Return (id of the record that should win or "", the rule in words): trust first, then event time.

    Never similarity: that two texts are close says nothing of which is right.
    """
    ranks = [-TRUSTS.index(record.trust or _UNSAID) for record in (one, other)]
    if ranks[0] != ranks[1]:
        first, second = (one, other) if ranks[0] > ranks[1] else (other, one)
        named = [record.trust or _UNSAID for record in (first, second)]
        return first.id, f"{first.id} should win: {named[0]} over {named[1]}"
    if one.date and other.date and one.date[:10] != other.date[:10]:
        first, second = (one, other) if one.date > other.date else (other, one)
        return first.id, f"{first.id} should win: newer ({first.date[:10]} over {second.date[:10]})"
    return "", "no rule decides: same trust and no order in time, so a person has to"


def by_record(
    verdicts: Sequence[Verdict], hints: Sequence[Pair], records: Mapping[str, Record]
) -> dict[str, list[dict[str, Any]]]:
    """Return folded id -> its entries in `conflicts`: ``{id, state: recorded|hint, reason}``.

    ``verdicts`` are those that hold, ``records`` (folded id ->) those in force. A hint whose titles claim nothing
    different is left to whoever looks at the scan: on an answer it would only distract.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    judged = {v.key for v in verdicts}
    told = [(v.ids, v.key, "recorded", _recorded(v)) for v in unresolved(verdicts)]
    likely = [pair for pair in hints if pair.differs and pair.key not in judged]
    told += [(p.ids, p.key, "hint", f"not judged: {p.why}, {p.differs}") for p in likely]
    for ids, key, state, reason in told:
        rule = arbitrate(records[key[0]], records[key[1]])[1]
        for at in (0, 1):
            entry = {"id": ids[1 - at], "state": state, "reason": one_line(f"{reason}; {rule}", _MAX_REASON)}
            found.setdefault(key[at], []).append(entry)
    return {key: entries[:MOST_PER_RECORD] for key, entries in found.items()}


def _recorded(verdict: Verdict) -> str:
    waits = "" if verdict.reviewed else ", not reviewed"
    return f"{verdict.reason or 'they contradict each other'} ({verdict.id}{waits})"
