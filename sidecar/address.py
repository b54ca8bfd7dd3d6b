"""From a question to the exact bytes of a session that speak of it: transcript, turn, byte range, digest."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from datetime import UTC
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seed.errors import EmbedderError, SidecarError
from seed.transcript.segments import DEFAULT
from seed.transcript.turns import digest_of
from sidecar import library
from sidecar import receipt as receipts
from sidecar.floor import digest, relevance
from sidecar.floors import probe_vectors, shipped_probes
from sidecar.history import Document, open_history
from sidecar.library import Library, Progress, Projected
from sidecar.provider import Provider
from sidecar.query import MAX_LIMIT, MAX_QUESTION
from sidecar.segment_floor import SegmentFloor, kept_floor
from sidecar.segment_planes import Auxiliary
from sidecar.segment_rank import CEILING, Floats, SegmentPlane, best, calibrate, evidence, plane
from sidecar.version import VERSION

MAX_TEXT = 20_000
"""Bytes of one result's text; a longer segment is cut and says so: `transcript read --raw` goes on."""
NEAREST = 3


@dataclass(frozen=True, slots=True)
class Asking:
    """What to look for, and where: by which scheme, in which sessions (none named: all), for how long to embed."""

    question: str
    limit: int = 5
    scheme: str = DEFAULT
    transcripts: tuple[str, ...] = ()
    budget: float = 2.0


@dataclass(frozen=True, slots=True)
class _Ready:
    library: Library
    plane: SegmentPlane | None
    floor: SegmentFloor
    embedder: Projected | None
    degraded: str


class Addresser:
    """Answers from the sessions of one repository; what a question had to load serves the next one."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.history = open_history(provider.session.folder)
        self._ready: tuple[object, _Ready] | None = None

    def address(self, asked: Asking, *, outside: Auxiliary | None = None, progress: Progress | None = None) -> Document:
        """Return the places that speak of a question, above the floor, with coverage and a receipt; see `answer`."""
        told = self.answer(asked, outside=outside, progress=progress)
        body = self._receipt(asked, told, outside=outside is not None)
        sealed, stored = self.provider.receipts.append(lambda last: receipts.seal(body, last))
        return {**told, "receipt": {"id": sealed["id"], "stored": stored}}

    def answer(self, asked: Asking, *, outside: Auxiliary | None = None, progress: Progress | None = None) -> Document:
        """Return what `address` does, without a receipt. A "weak" verdict means: read before you rely on it.

        What has no segments or vectors yet gets them first, as far as the budget goes. ``outside`` asks by vectors
        that were made elsewhere, one of the question included. Raises `SidecarError`, and `StoreError` when a
        turn is not what was indexed.
        """
        _check(asked)
        ready = self._outside(asked, outside) if outside else self._own(asked, progress)
        found = self._evidence(ready, asked.question, outside)
        order = best(found, ready.library.said, asked.limit)
        above = [n for n in order if found[n] > ready.floor.weak]
        told = self._document(asked, ready, found, above)
        if not above:
            told["nearest"] = [self._place(ready.library, n) for n in order[:NEAREST]]
        return told

    # --- what is asked ----------------------------------------------------------------------------------------

    def _own(self, asked: Asking, progress: Progress | None) -> _Ready:
        kept = [(one.id, one.digest) for one in self.history.archive.manifests()]
        mark = (asked.scheme, asked.transcripts, tuple(kept))
        if self._ready is None or self._ready[0] != mark or self._ready[1].degraded:
            self._ready = (mark, self._load(asked, progress))
        return self._ready[1]

    def _load(self, asked: Asking, progress: Progress | None) -> _Ready:
        opened = library.open_library(self.history, asked.scheme, asked.transcripts)
        if not opened.families:
            self.history.reader()  # says that nothing is kept
        session = self.provider.session
        policy = session.policy(session.wanted())
        if policy.fusion == "lexical":
            return self._by_words(opened, "")
        embedder = Projected(session.embedders(policy)[0], asked.scheme)
        probes = shipped_probes()["en"]
        try:
            left = library.embed(session.store, opened, embedder, asked.budget, progress)
            vectors = np.stack(probe_vectors(session.store, embedder, probes))
        except EmbedderError as exc:
            return self._by_words(opened, str(exc))
        matrix, held = session.store.matrix(embedder.identity), library.rows(session.store, opened, embedder.identity)
        if matrix is None or not (held >= 0).any():
            return self._by_words(opened, left)
        centre = np.asarray(vectors.mean(axis=0, dtype=np.float64), np.float32)
        ready = plane(matrix, held, centre)
        named = policy.floor_for(embedder.identity.digest, "fused")
        floor = (
            SegmentFloor(named.value, named.value, "policy", named.probe)
            if named
            else self._floor(opened, ready, vectors, embedder.identity.digest)
        )
        return _Ready(opened, ready, floor, embedder, left)

    def _by_words(self, opened: Library, degraded: str) -> _Ready:
        return _Ready(opened, None, self._floor(opened, None, None, "words"), None, degraded)

    def _outside(self, asked: Asking, outside: Auxiliary) -> _Ready:
        opened = library.open_library(self.history, asked.scheme, asked.transcripts or (outside.transcript,))
        if [one.index.transcript for one in opened.families] != [outside.transcript]:
            raise SidecarError(f"the plane covers {outside.transcript} alone", "ask that transcript only")
        return _Ready(opened, plane(outside.matrix, outside.rows), SegmentFloor(-1.0, -1.0, "none"), None, "")

    def _evidence(self, ready: _Ready, question: str, outside: Auxiliary | None) -> Floats:
        near = None
        if ready.plane is not None:
            vector = outside.question if outside else ready.embedder.question(question) if ready.embedder else None
            near = ready.plane.nearness(np.asarray(vector, np.float32)[np.newaxis])[:, 0]
        return evidence([one.words for one in ready.library.families], question, near)

    def _floor(
        self, opened: Library, ready: SegmentPlane | None, vectors: NDArray[np.float32] | None, identity: str
    ) -> SegmentFloor:
        """Return the floor that the shipped probes set over these sessions; worked out once and kept."""
        probes = shipped_probes()["en"]
        embedded = int((ready.rows >= 0).sum()) if ready else 0
        near = ready.nearness(vectors) if ready and vectors is not None else None

        def make() -> SegmentFloor:
            strong, weak = calibrate([one.words for one in opened.families], probes, near, opened.said)
            return SegmentFloor(strong.value, weak.value, "probes", strong.probe)

        slot = f"{opened.key}/{identity}/{embedded}/{digest(probes)[:23]}"
        return kept_floor(self.history.indexes / "floors.json", slot, make)

    # --- what is told -----------------------------------------------------------------------------------------

    def _document(self, asked: Asking, ready: _Ready, found: Floats, above: list[int]) -> Document:
        opened, held = ready.library, ready.plane
        said = int(opened.said.sum())
        embedded = int(((held.rows >= 0) & opened.said).sum()) if held else 0
        partly = [one.index.transcript for one in opened.families if not one.reader.manifest.complete]
        told: Document = {
            "format": 1,
            "verdict": _verdict(ready.floor, found, above),
            "retrieval": "hybrid" if held else "lexical",
            "results": [self._result(opened, n, found[n], ready.floor.weak) for n in above],
            "below_floor": int((found[opened.said] <= ready.floor.weak).sum()),
            "coverage": {
                "transcripts": len(opened.families),
                "turns": sum(one.reader.manifest.turns for one in opened.families),
                "segments": len(opened),
                "said": said,
                "embedded": embedded,
                "searched": embedded if held else said,
            },
            "incomplete": partly,
            "scheme": asked.scheme,
            "embedder": ready.embedder.identity.digest if ready.embedder else "",
            "floor": None if ready.floor.source == "none" else ready.floor.value,
            "weak_floor": None if ready.floor.source == "none" else ready.floor.weak,
            "floor_source": ready.floor.source,
        }
        if ready.degraded:
            told["degraded"] = ready.degraded
        return told

    def _place(self, opened: Library, number: int) -> Document:
        family, local = opened.place(number)
        one = family.index.segment(local)
        place = {"transcript": family.index.transcript, "turn": one.turn, "start_byte": one.start, "end_byte": one.end}
        return {**place, "digest": family.index.turn_digest(one.turn)}

    def _result(self, opened: Library, number: int, found: float, floor: float) -> Document:
        family, local = opened.place(number)
        raw = family.index.bytes_of(family.reader, local)
        shown = raw[:MAX_TEXT]
        told = {**self._place(opened, number), "segment_digest": digest_of(raw)}
        told["relevance"] = round(relevance(float(found), floor, CEILING), 4)
        try:
            told["text"] = shown.decode()
        except UnicodeDecodeError:  # cut inside a character, or bytes that are no text at all
            told["text"], told["base64"] = shown.decode("utf-8", "backslashreplace"), base64.b64encode(shown).decode()
        return {**told, "truncated": True} if len(raw) > MAX_TEXT else told

    def _receipt(self, asked: Asking, told: Document, *, outside: bool) -> dict[str, Any]:
        session = self.provider.session
        want, archive = session.wanted(), self.history.archive
        kept = [archive.resolve(name) for name in asked.transcripts] or list(archive.manifests())
        return {
            "format": 1,
            "kind": "address",
            "question": asked.question,
            "also": [],
            "arguments": {"limit": asked.limit, "scheme": asked.scheme, "transcripts": list(asked.transcripts)},
            "commit": want.commit,
            "knowledge_tree": "",
            "candidates": [],
            "embedder": told["embedder"],
            "policy": f"floor {told['floor']}",
            "sessions": {one.id: one.digest for one in kept},
            "outside": outside,
            "provider": VERSION,
            "coverage": told["coverage"],
            "time": self.provider.clock().astimezone(UTC).isoformat(timespec="milliseconds"),
            "verdict": told["verdict"],
            "returned": returned(told),
        }


def _verdict(floor: SegmentFloor, found: Floats, above: list[int]) -> str:
    if not above:
        return "none"
    return "match" if found[above[0]] > floor.value else "weak"


def returned(told: Document) -> list[list[str]]:
    """Return (transcript, turn with byte range, turn's digest) of every place an answer named, in order."""
    return [
        [one["transcript"], f"{one['turn']}:{one['start_byte']}-{one['end_byte']}", one["digest"]]
        for one in told["results"]
    ]


def _check(asked: Asking) -> None:
    if not asked.question.strip():
        raise SidecarError("the question is empty", "ask in one sentence")
    if len(asked.question) > MAX_QUESTION:
        raise SidecarError(f"the question has {len(asked.question)} characters", f"ask in at most {MAX_QUESTION}")
    if not 1 <= asked.limit <= MAX_LIMIT:
        raise SidecarError(f"limit {asked.limit} is out of range", f"use 1 to {MAX_LIMIT}")
