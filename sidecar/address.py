"""From a question to the exact bytes of a session that speak of it: transcript, turn, byte range, digest."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from seed.errors import EmbedderError, SidecarError
from seed.transcript.turns import digest_of
from sidecar import library, sentence_rows
from sidecar import receipt as receipts
from sidecar.asking import Asking, receipt_of
from sidecar.codes import product
from sidecar.codes_file import CheckedCodes, CodesFile
from sidecar.floor import digest, relevance
from sidecar.floors import probe_vectors, shipped_glossary, shipped_probes
from sidecar.gloss import reverse, translate
from sidecar.history import Document, open_history
from sidecar.library import Library, Progress, Projected
from sidecar.meaning import is_foreign
from sidecar.provider import Provider
from sidecar.segment_codes import CODED_FROM, CodedSegments
from sidecar.segment_floor import SegmentFloor, kept_floor
from sidecar.segment_planes import Auxiliary
from sidecar.segment_rank import RANKED, Floats, SegmentPlane, best, by_words, calibrate, joined, plane

MAX_TEXT = 20_000
"""Bytes of one result's text; a longer segment is cut and says so: `transcript read --raw` goes on."""
NEAREST = 3


@dataclass(frozen=True, slots=True)
class _Ready:
    library: Library
    plane: SegmentPlane | None
    floor: SegmentFloor
    embedder: Projected | None
    degraded: str
    translated: bool = False
    coded: CodedSegments | None = None


class Addresser:
    """Answers from the sessions of one repository; what a question had to load serves the next one."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.history = open_history(provider.session.folder)
        self._kept: object = None
        self._ready: dict[object, _Ready] = {}
        self._codes = CheckedCodes()
        self.waiting = ""
        """The scheme by which the last answer lacked vectors that `embed` would make; "" where it lacked none."""

    def address(self, asked: Asking, *, outside: Auxiliary | None = None, progress: Progress | None = None) -> Document:
        """Return the places that speak of a question, above the floor, with coverage and a receipt; see `answer`."""
        told = self.answer(asked, outside=outside, progress=progress)
        body = receipt_of(self.provider, self.history, asked, told, outside=outside is not None)
        sealed, stored = self.provider.receipts.append(lambda last: receipts.seal(body, last))
        return {**told, "receipt": {"id": sealed["id"], "stored": stored}}

    def answer(self, asked: Asking, *, outside: Auxiliary | None = None, progress: Progress | None = None) -> Document:
        """Return what `address` does, without a receipt. A "weak" verdict means: read before you rely on it.

        What has no segments or vectors yet gets them first, as far as the budget goes. ``outside`` asks by vectors
        that were made elsewhere, one of the question included. Raises `SidecarError`, and `StoreError` when a
        turn is not what was indexed.
        """
        asked.check()
        ready = self._outside(asked, outside) if outside else self._own(asked, progress)
        found = self._evidence(ready, asked, outside)
        order = best(found, ready.library.said, asked.limit)
        above = [n for n in order if found[n] > ready.floor.weak]
        told = self._document(asked, ready, found, above)
        if not above:
            told["nearest"] = [self._place(ready.library, n) for n in order[:NEAREST]]
        return told

    def embed(self, scheme: str, names: Sequence[str], budget: float, progress: Progress | None = None) -> str:
        """Cut and embed sessions (none named: all), so that questions need not wait. Returns what was left, or ""."""
        opened = library.open_library(self.history, scheme, names)
        session, folder = self.provider.session, self.history.indexes
        embedder = Projected(session.embedders(session.policy(session.wanted()))[0], scheme)
        return sentence_rows.seeded(folder, session.store, opened, embedder, budget, progress)[1]

    # --- what is asked ----------------------------------------------------------------------------------------

    def _own(self, asked: Asking, progress: Progress | None) -> _Ready:
        kept = [(one.id, one.digest) for one in self.history.archive.manifests()]
        if kept != self._kept:
            self._kept, self._ready = kept, {}
        mark, self.waiting = (asked.scheme, asked.transcripts, is_foreign(asked.question)), ""
        before = self._ready.get(mark)
        if before is None or before.degraded:
            opened = before.library if before else library.open_library(self.history, asked.scheme, asked.transcripts)
            self._ready = {**dict(list(self._ready.items())[-1:]), mark: self._load(asked, opened, progress)}
        return self._ready[mark]

    def _load(self, asked: Asking, opened: Library, progress: Progress | None) -> _Ready:
        if not opened.families:
            self.history.reader()  # says that nothing is kept
        session, foreign = self.provider.session, is_foreign(asked.question)
        policy = session.policy(session.wanted())
        if policy.fusion == "lexical":
            return self._by_words(opened, "", foreign=foreign)
        # A question in another script is asked by the second model alone: the first knows no word of it.
        embedder = Projected(session.embedders(policy)[-1 if foreign else 0], asked.scheme)
        probes = shipped_probes()["zh" if foreign else "en"]
        try:
            folder, made = self.history.indexes, session.store.generation()
            held, left = sentence_rows.seeded(folder, session.store, opened, embedder, asked.budget, progress)
            self.waiting = asked.scheme if left and not foreign else ""
            vectors = np.stack(probe_vectors(session.store, embedder, probes))
        except EmbedderError as exc:
            return self._by_words(opened, str(exc), foreign=foreign)
        matrix = session.store.matrix(embedder.identity)
        if session.store.generation() != made:  # a collection numbered the rows anew, and dropped some
            return self._load(asked, opened, progress)
        if matrix is None or not (held >= 0).any():
            return self._by_words(opened, left, foreign=foreign)
        ready = plane(matrix, held, opened.counts, opened.breaks)
        named = policy.floor_for(embedder.identity.digest, "fused")
        floor = (
            SegmentFloor(named.value, named.value, "policy", named.probe)
            if named
            else self._floor(
                opened,
                lambda: ready.nearness(vectors),
                embedder.identity.digest,
                int((held >= 0).sum()),
                foreign=foreign,
            )
        )
        coded = None if left else self._coded(ready, embedder)
        return _Ready(opened, ready, floor, embedder, left, foreign, coded)

    def _coded(self, exact: SegmentPlane, embedder: Projected) -> CodedSegments | None:
        """Return a plane that is asked by its codes first, where it has many sentences and a library for codes."""
        multiply = product() if len(exact.rows) >= CODED_FROM else None
        store = self.provider.session.store
        file = CodesFile(store.folder, f"{embedder.identity.digest} {store.generation()}")
        codes = self._codes.of(file, exact.matrix, int(exact.rows.max()) + 1) if multiply else None
        if multiply is None or codes is None:
            return None
        return CodedSegments(exact, codes, multiply, partial(self._broken, file))

    def _broken(self, file: CodesFile) -> None:
        self._codes.drop(file)
        self._ready.clear()

    def _by_words(self, opened: Library, degraded: str, *, foreign: bool) -> _Ready:
        floor = self._floor(opened, None, "words", 0, foreign=foreign)
        return _Ready(opened, None, floor, None, degraded, foreign)

    def _outside(self, asked: Asking, outside: Auxiliary) -> _Ready:
        opened = library.open_library(self.history, asked.scheme, asked.transcripts or (outside.transcript,))
        if [one.index.transcript for one in opened.families] != [outside.transcript]:
            raise SidecarError(f"the plane covers {outside.transcript} alone", "ask that transcript only")
        counts = np.ones(len(opened), np.int64)
        held = plane(outside.matrix, outside.rows, counts, reach=0.0)
        return _Ready(opened, held, SegmentFloor(-1.0, -1.0, "none"), None, "")

    def _evidence(self, ready: _Ready, asked: Asking, outside: Auxiliary | None) -> Floats:
        """Return the evidence (n,) of each segment; by codes it is exact for the best ones (`CodedSegments`)."""
        text = asked.question
        words = (translate(text, reverse(shipped_glossary())) or text) if ready.translated else text
        share = by_words([one.words for one in ready.library.families], words)
        if ready.plane is None:
            return joined(share, None)
        given = outside.question if outside else ready.embedder.question(text) if ready.embedder else None
        vector = np.asarray(given, np.float32)
        if ready.coded:
            return ready.coded.evidence(vector, share, ready.floor.weak, max(asked.limit, NEAREST))
        return joined(share, ready.plane.nearness(vector[np.newaxis])[:, 0])

    def _floor(
        self, opened: Library, near: Callable[[], Floats] | None, identity: str, held: int, *, foreign: bool
    ) -> SegmentFloor:
        """Return the floor that the shipped probes set over these sessions; worked out once and kept."""
        probes, words = shipped_probes()["zh" if foreign else "en"], [one.words for one in opened.families]
        slot = f"{opened.key}/{RANKED}/{identity}/{held}/{digest(probes)[:23]}"
        return kept_floor(
            self.history.indexes / "floors.json",
            slot,
            lambda: SegmentFloor.of(*calibrate(words, probes, near() if near else None, opened.said)),
        )

    # --- what is told -----------------------------------------------------------------------------------------

    def _document(self, asked: Asking, ready: _Ready, found: Floats, above: list[int]) -> Document:
        opened, held = ready.library, ready.plane
        said = int(opened.said.sum())
        embedded = int((held.embedded & opened.said).sum()) if held else 0
        partly = [one.index.transcript for one in opened.families if not one.reader.manifest.complete]
        told: Document = {
            "format": 1,
            "verdict": ready.floor.verdict(found[above[0]] if above else -np.inf),
            "retrieval": "hybrid" if held else "lexical",
            "results": [self._result(ready, n, found[n]) for n in above],
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

    def _result(self, ready: _Ready, number: int, found: float) -> Document:
        family, local = ready.library.place(number)
        raw = family.index.bytes_of(family.reader, local)
        shown = raw[:MAX_TEXT]
        told = {**self._place(ready.library, number), "segment_digest": digest_of(raw)}
        ceiling = ready.plane.ceiling if ready.plane else 1.0
        told["relevance"] = round(relevance(float(found), ready.floor.weak, ceiling), 4)
        try:
            told["text"] = shown.decode()
        except UnicodeDecodeError:  # cut inside a character, or bytes that are no text at all
            told["text"], told["base64"] = shown.decode("utf-8", "backslashreplace"), base64.b64encode(shown).decode()
        return {**told, "truncated": True} if len(raw) > MAX_TEXT else told
