"""Records in force that may contradict each other: which pairs deserve a judge, and what was judged. Pure.

A verdict is a finding whose key `conflict` names the relation and both blobs, so that it lapses when either record
changes. Nothing here decides which record is right: the rules only suggest it, in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seed.record import TRUSTS, Record
from seed.snapshot import Head
from seed.text import content_words, fold
from sidecar.open_items import tied
from sidecar.plane import Plane
from sidecar.quote import one_line

CLOSE = 0.5
"""Cosine of two records' mean vectors from which they are worth a look, given that they share a subject."""
RELATIONS = ("contradicts", "duplicates", "compatible", "resolved")
MOST_PER_RECORD = 5
_SHARED_WORDS = 2
_SETTLING = frozenset({
    "supersedes", "superseded_by", "amends", "amended_by", "refutes", "refuted_by",
})  # fmt: skip
_MAX_REASON = 300
_UNSAID = "document_extracted"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two records, ordered by folded id, with the blobs they were compared on, their cosine and what they share."""

    ids: tuple[str, str]
    blobs: tuple[str, str]
    cosine: float
    why: str

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
        for at in np.argsort(-cosines, kind="stable"):
            m, cosine = int(others[at]), float(cosines[at])
            if cosine < CLOSE or kept == MOST_PER_RECORD:
                break
            one, other = ordered(heads[n], heads[m])
            if m == n or one.record.id.casefold() == other.record.id.casefold() or settled(one, other):
                continue
            if shared := subject(one.record, other.record, telling):
                pair = Pair((one.record.id, other.record.id), (one.blob, other.blob), cosine, shared)
                found.setdefault(pair.key, pair)
                kept += 1
    return sorted(found.values(), key=lambda pair: (-pair.cosine, pair.key))


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
    held = set(content_words(other.title))
    words = [word for word in content_words(one.title) if word in held]
    return one_line("both speak of " + ", ".join(words[:4]), 120) if len(words) >= _SHARED_WORDS else ""


def verdict_of(head: Head) -> Verdict | None:
    """Return the verdict that a finding holds, or None for any other record and for one that is malformed."""
    said = head.record.extra.get("conflict")
    if head.record.kind != "finding" or not isinstance(said, Mapping) or said.get("relation") not in RELATIONS:
        return None
    between = said.get("between")
    sides = [s for s in between if isinstance(s, Mapping) and s.get("id")] if isinstance(between, list) else []
    if len(sides) != 2:  # noqa: PLR2004 - a pair
        return None
    one, other = sorted(sides, key=lambda side: str(side["id"]).casefold())
    return Verdict(
        head.record.id,
        str(said["relation"]),
        (str(one["id"]), str(other["id"])),
        (str(one.get("blob", "")), str(other.get("blob", ""))),
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

    ``verdicts`` are those that hold, ``records`` (folded id ->) those in force.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    judged = {v.key for v in verdicts}
    told = [(v.ids, v.key, "recorded", _recorded(v)) for v in unresolved(verdicts)]
    told += [(p.ids, p.key, "hint", f"not judged: {p.why}, close in meaning") for p in hints if p.key not in judged]
    for ids, key, state, reason in told:
        rule = arbitrate(records[key[0]], records[key[1]])[1]
        for at in (0, 1):
            entry = {"id": ids[1 - at], "state": state, "reason": one_line(f"{reason}; {rule}", _MAX_REASON)}
            found.setdefault(key[at], []).append(entry)
    return {key: entries[:MOST_PER_RECORD] for key, entries in found.items()}


def _recorded(verdict: Verdict) -> str:
    waits = "" if verdict.reviewed else ", not reviewed"
    return f"{verdict.reason or 'they contradict each other'} ({verdict.id}{waits})"
