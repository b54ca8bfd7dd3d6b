"""Scan for contradictions, record what was judged, close it, list it: the edge of `sidecar.conflicts`.

What was scanned is kept in the disposable store: losing it costs one full scan. What was judged is in Git.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date
from typing import TYPE_CHECKING, Any

from seed.errors import SidecarError
from seed.record import VERDICTS, Record
from seed.snapshot import Head
from sidecar import conflicts, scans
from sidecar.conflicts import Pair, Verdict
from sidecar.corpus import Corpus
from sidecar.draft import Proposer
from sidecar.open_items import telling_tags
from sidecar.query import IN_FORCE, Query
from sidecar.quote import one_line
from sidecar.scans import Scanned

if TYPE_CHECKING:
    from sidecar.provider import Provider
    from sidecar.session import Session

_SHOWN = 20
_JUDGED = Query(listing=True, kinds=("finding",), statuses=(*IN_FORCE, "candidate"))


@dataclass(frozen=True, slots=True)
class Standing:
    """The records in force by folded id, their ordinals, and the verdicts on them that hold."""

    heads: Mapping[str, Head]
    ordinals: tuple[int, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def blobs(self) -> dict[str, str]:
        """Return folded id -> blob."""
        return {key: head.blob for key, head in self.heads.items()}

    @property
    def records(self) -> dict[str, Record]:
        """Return folded id -> record."""
        return {key: head.record for key, head in self.heads.items()}


def standing(corpus: Corpus, today: date) -> Standing:
    """Return what contradictions are told between, taken through the one door."""
    admitted = {n: head for n in corpus.admit(Query(listing=True), today).results.tolist()
                if conflicts.verdict_of(head := corpus.heads[n]) is None}  # fmt: skip
    heads = {head.record.id.casefold(): head for head in admitted.values()}
    judged = [conflicts.verdict_of(corpus.heads[n]) for n in corpus.admit(_JUDGED, today).results.tolist()]
    blobs = {key: head.blob for key, head in heads.items()}
    return Standing(heads, tuple(admitted), tuple(conflicts.holding([v for v in judged if v], blobs)))


def by_record(session: Session, corpus: Corpus, today: date, asked: Collection[str]) -> dict[str, list[dict[str, Any]]]:
    """Return folded id -> the contradictions that a result shows (see `sidecar.conflicts.by_record`).

    ``asked`` are the ids that may be shown: where no verdict and no hint names one of them, nothing is worked out.
    """
    wanted = {ident.casefold() for ident in asked}
    hints = [pair for pair in scans.pairs(session.store) if pair.differs and wanted & set(pair.key)]
    if not hints and wanted.isdisjoint(corpus.facets["judged"].values):
        return {}
    now = standing(corpus, today)
    return conflicts.by_record(now.verdicts, _current(hints, now), now.records)


def _current(found: Sequence[Pair], now: Standing) -> list[Pair]:
    """Return the pairs whose records are still in force, unchanged, and unsettled."""
    blobs = now.blobs
    return [p for p in found if (blobs.get(p.key[0]), blobs.get(p.key[1])) == p.blobs
            and not conflicts.settled(now.heads[p.key[0]], now.heads[p.key[1]])]  # fmt: skip


def scan(provider: Provider, *, everything: bool = False, limit: int = _SHOWN, budget: float = 2.0) -> dict[str, Any]:
    """Compare what is new or changed since the last scan with every record in force, and return the pairs to judge.

    Another embedder, or ``everything``, compares all anew. Raises `SidecarError` where there are no vectors.
    """
    session = provider.session
    view = session.view(budget=budget)
    corpus, now = view.corpus, standing(view.corpus, provider.clock().astimezone(UTC).date())
    embedders = session.needed(corpus.snapshot.policy, second=False)
    plane = session.plane(corpus, embedders[0], "en") if embedders and now.ordinals else None
    if plane is None and now.ordinals:
        raise SidecarError(
            "there are no vectors to compare records by", "run 'sidecar seed', with a fusion that embeds"
        )
    last = scans.load(session.store)
    identity = plane.identity if plane is not None else last.identity
    anew = everything or last.identity != identity
    seen = {} if anew else last.seen
    embedded = [n for n in now.ordinals if plane is not None and plane.embedded[n]]
    changed = [n for n in embedded if seen.get(corpus.heads[n].record.id.casefold()) != corpus.heads[n].blob]
    kept = [] if anew else _current(last.pairs, now)
    if plane is not None:
        vectors, telling = conflicts.means(plane.exact), telling_tags(corpus)
        kept += conflicts.pairs(corpus.heads, embedded, changed, vectors, telling)
    pairs = sorted({p.key: p for p in kept}.values(), key=conflicts.likeliest)
    # What has no vector yet was not compared, so that the next scan takes it up.
    compared = {corpus.heads[n].record.id.casefold(): corpus.heads[n].blob for n in embedded}
    scans.save(session.store, Scanned(identity, compared, tuple(pairs)))
    waiting = _waiting(pairs, now)
    return {"format": 1, "repository": session.repo.name, "commit": view.commit} | {
        "records": len(now.ordinals),
        "compared": len(changed),
        "anew": anew,
        "pairs": [_shown(pair, now) for pair in waiting[:limit]],
        "total": len(waiting),
    }


def _waiting(pairs: Sequence[Pair], now: Standing) -> list[Pair]:
    judged = {verdict.key for verdict in now.verdicts}
    return [pair for pair in pairs if pair.key not in judged]


def _shown(pair: Pair, now: Standing) -> dict[str, Any]:
    sides = [now.heads[key] for key in pair.key]
    winner, rule = conflicts.arbitrate(sides[0].record, sides[1].record)
    return {
        "ids": list(pair.ids),
        "titles": [one_line(head.record.title, 160) for head in sides],
        "blobs": list(pair.blobs),
        "cosine": pair.cosine,
        "why": pair.why,
        "differs": pair.differs,
        "suggestion": {"winner": winner, "reason": rule},
    }


def record(
    provider: Provider, one: str, other: str, relation: str, reason: str, who: Proposer, *, budget: float = 2.0
) -> dict[str, Any]:
    """Store a verdict on two records as a candidate finding that names both blobs.

    Idempotent: the same verdict again is said to be there. Raises `SidecarError` for an unknown relation, records
    that are not in force, or a pair that was judged otherwise.
    """
    if relation not in VERDICTS[:3]:
        raise SidecarError(f"verdict {relation!r} is not known", f"use {', '.join(VERDICTS[:3])}")
    now = _now(provider, budget)
    sides = conflicts.ordered(_in_force(now, one), _in_force(now, other))
    if sides[0] is sides[1]:
        raise SidecarError(f"{one} cannot contradict itself", "name two records")
    key = tuple(head.record.id.casefold() for head in sides)
    held = next((v for v in now.verdicts if v.key == key), None)
    if held is not None and held.relation == relation:
        return {"format": 1, "id": held.id, "ids": list(held.ids), "verdict": relation, "already": True}
    if held is not None:
        fix = (
            f"'sidecar conflicts resolve {held.id}' closes a contradiction; a record that changes lapses every verdict"
        )
        raise SidecarError(f"{held.id} judged this pair already: {held.relation}", fix)
    return _propose(provider, sides, relation, reason, who)


def resolve(provider: Provider, ident: str, reason: str, who: Proposer, *, budget: float = 2.0) -> dict[str, Any]:
    """Close a recorded contradiction with a candidate finding that says how; idempotent.

    One that a reviewer merged stays open until its closing is merged too. Raises `SidecarError` for any other id.
    """
    now = _now(provider, budget)
    closing = next((v for v in now.verdicts if v.closes.casefold() == ident.casefold()), None)
    if closing is not None:
        return {"format": 1, "id": closing.id, "ids": list(closing.ids), "verdict": "resolved", "already": True}
    held = next((v for v in now.verdicts if v.id.casefold() == ident.casefold() and v.relation == "contradicts"), None)
    if held is None:
        raise SidecarError(f"{ident!r} is no contradiction that holds", "see 'sidecar conflicts list'")
    return _propose(provider, (now.heads[held.key[0]], now.heads[held.key[1]]), "resolved", reason, who, held)


def _now(provider: Provider, budget: float) -> Standing:
    corpus = provider.session.view(vectors=False, budget=budget).corpus
    return standing(corpus, provider.clock().astimezone(UTC).date())


def _in_force(now: Standing, ident: str) -> Head:
    head = now.heads.get(ident.strip().casefold())
    if head is None:
        raise SidecarError(f"{ident!r} is no record in force", "only what is in force contradicts; see 'sidecar list'")
    return head


_SAID = {
    "contradicts": "contradict each other",
    "duplicates": "say the same",
    "compatible": "do not contradict each other",
    "resolved": "no longer contradict each other",
}


def _propose(
    provider: Provider,
    sides: tuple[Head, Head],
    relation: str,
    reason: str,
    who: Proposer,
    closed: Verdict | None = None,
) -> dict[str, Any]:
    ids = [head.record.id for head in sides]
    why = " ".join(reason.split())
    said: dict[str, Any] = {"relation": relation, "reason": why} | ({"closes": closed.id} if closed else {})
    said["between"] = [{"id": head.record.id, "blob": head.blob} for head in sides]
    judged = " and ".join(f"{head.record.id} (blob {head.blob[:12]})" for head in sides)
    values: dict[str, Any] = {
        "kind": "finding",
        "title": f"{ids[0]} and {ids[1]} {_SAID[relation]}",
        "body": f"{why or 'No reason was given.'}\n\nJudged on {judged}.\n",
        "relates_to": ids,
        "conflict": said,
    }
    if closed is not None and closed.reviewed:
        values["supersedes"] = [closed.id]
    from sidecar.propose import propose

    done = propose(provider, values, who)
    kept: dict[str, Any] = {
        k: done[k] for k in ("id", "branch", "commit", "path", "pushed", "command", "repository") if k in done
    }
    return {"format": 1, **kept, "ids": ids, "verdict": relation, "already": False}


def listing(provider: Provider, *, budget: float = 2.0) -> dict[str, Any]:
    """Return the contradictions that were recorded, how each stands, and the hints of the last scan."""
    now = _now(provider, budget)
    open_now = {verdict.id for verdict in conflicts.unresolved(now.verdicts)}
    found = [
        {
            "id": v.id,
            "ids": list(v.ids),
            "verdict": v.relation,
            "state": "open" if v.id in open_now else "closed" if v.relation == "contradicts" else "settled",
            "reviewed": v.reviewed,
            "reason": v.reason,
            "suggestion": dict(zip(("winner", "reason"), conflicts.arbitrate(*(now.records[k] for k in v.key)),
                                   strict=True)),
        }
        for v in now.verdicts
    ]  # fmt: skip
    hints = [_shown(pair, now) for pair in _waiting(_current(scans.pairs(provider.session.store), now), now)]
    return {"format": 1, "repository": provider.session.repo.name, "recorded": found, "hints": hints}
