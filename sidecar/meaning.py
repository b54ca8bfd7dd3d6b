"""From a question's text to phrasings with vectors and floors: which models serve it, and at what floor."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from seed.embed.base import Embedder
from seed.errors import EmbedderError, StoreError
from seed.policy import Policy
from seed.text import cjk_share, is_cjk, terms
from sidecar.corpus import Corpus
from sidecar.distant import Distant, Nearby
from sidecar.floor import digest
from sidecar.floors import EVIDENCE, InForce, calibrate, shipped_glossary, shipped_probes
from sidecar.gloss import reverse, translate
from sidecar.nearby import Nearbys
from sidecar.nearness import Nearness
from sidecar.query import Query
from sidecar.rank import Phrase
from sidecar.session import Session

_REMEMBERED = 512
_FOREIGN = 0.3
"""From this share of CJK letters on, a question counts as written in Chinese, Japanese or Korean."""
_WEIGHED = 2
"""Raised when a route weighs a question otherwise: a floor that was worked out before does not hold any more."""
NO_FLOOR = InForce(1.0, "probes")


@dataclass(frozen=True, slots=True)
class Route:
    """How a question is asked: which planes, whether its words are translated, and the language of its probes."""

    name: str
    first: bool
    second: bool
    translated: bool = False
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Asked:
    """The phrasings with vectors and floors; plane, identity and floor of the first one, which the receipt names."""

    phrases: tuple[Phrase, ...]
    plane: Nearby | None = None
    embedder: str = ""
    floor: InForce = NO_FLOOR
    degraded: str = ""

    @property
    def stand(self) -> str:
        """Return a digest of what meaning says of every record: it changes with each vector that arrives."""
        whole = hashlib.sha256()
        for phrase in self.phrases:
            whole.update(f"{phrase.floor}".encode())
            for said in (phrase.first, phrase.second):
                whole.update(said.source if said is not None else b"-")
        return whole.hexdigest()


def is_foreign(text: str) -> bool:
    """Tell whether a question counts as written in Chinese, Japanese or Korean."""
    return cjk_share(text) >= _FOREIGN


def route(text: str, policy: Policy, *, cjk_records: bool) -> Route:
    """Return how a text is asked over records that are mostly CJK or not (decision-0008)."""
    foreign = is_foreign(text)
    language, second = "zh" if foreign else "en", policy.languages != "off"
    if policy.fusion == "lexical":
        return Route("words", first=False, second=False, language=language)
    if second and (cjk_records or (foreign and policy.fusion == "cosine")):
        return Route("second", first=False, second=True, language=language)
    if foreign and not cjk_records:
        return Route("across", first=True, second=second, translated=True, language=language)
    return Route("first", first=True, second=False, language=language)


class Meaning:
    """Turns questions into phrases for one session and remembers the vectors of recent ones."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._nearbys = Nearbys(session)
        self._vectors: dict[tuple[str, str], NDArray[np.float32]] = {}
        self._by_words: dict[tuple[str, str], InForce] = {}

    def needs_second(self, query: Query, *, cjk_records: bool = False) -> bool:
        """Tell whether the second model's vectors are needed for any phrasing of a query."""
        return bool(query.phrasings) and (cjk_records or any(is_cjk(text) for text in query.phrasings))

    def ask(self, query: Query, corpus: Corpus) -> Asked:
        """Return the phrasings of a query, by words alone where a model does not load."""
        if not corpus.heads or not query.phrasings:
            return Asked(tuple(Phrase(text, text, None, None, 1.0) for text in query.phrasings))
        self.session.store.expect(term for text in query.phrasings for term in terms(text))
        parts = [self._by_meaning_or_words(text, corpus) for text in query.phrasings]
        phrases = tuple(phrase for part in parts for phrase in part.phrases)
        return replace(parts[0], phrases=phrases, degraded=next((p.degraded for p in parts if p.degraded), ""))

    def warm(self, corpus: Corpus) -> None:
        """Work out the floors that policy does not name, so that no question has to wait for them."""
        for text in ("en", "中文") if corpus.heads else ():
            way = route(text, corpus.snapshot.policy, cjk_records=corpus.cjk)
            try:
                self._planes(corpus, way)  # what is worked out of the vectors is kept for the questions of any process
                self.floor(corpus, way)
            except EmbedderError:
                self.floor(corpus, Route("words", first=False, second=False, language=way.language))

    def _by_meaning_or_words(self, text: str, corpus: Corpus) -> Asked:
        policy = corpus.snapshot.policy
        way = route(text, policy, cjk_records=corpus.cjk)
        try:
            return self._asked(text, corpus, way)
        except EmbedderError as exc:
            words = Route("words", first=False, second=False, language=way.language)
            return replace(self._asked(text, corpus, words), degraded=str(exc))

    def _asked(self, text: str, corpus: Corpus, way: Route) -> Asked:
        floor = self.floor(corpus, way)
        phrase = self.phrase(text, corpus, way, floor.value)
        main, other = self._planes(corpus, way)
        plane = other or main
        return Asked((phrase,), plane, plane.identity if plane is not None else "", floor)

    def phrase(self, text: str, corpus: Corpus, way: Route, floor: float = 0.0) -> Phrase:
        """Return one text ready to be weighed along a route. Raises `EmbedderError`."""
        words = self._words(text, corpus) if way.translated else text
        main, other = self._planes(corpus, way)
        embedders = self.session.embedders(corpus.snapshot.policy) if main is not None or other is not None else ()
        first = _near(main, self._vector(embedders[0], words), words) if main is not None else None
        second = _near(other, self._vector(embedders[-1], text), words) if other is not None else None
        return Phrase(text, words, first, second, floor)

    def _words(self, text: str, corpus: Corpus) -> str:
        """Return a question's words in the records' language, and as they stand where a record has any of them."""
        translated = translate(text, self._glossary(corpus))
        spoken = any(is_cjk(term) and corpus.words.holders(term).size for term in terms(text))
        return f"{translated} {text}".strip() if spoken or not translated else translated

    def floor(self, corpus: Corpus, way: Route) -> InForce:
        """Return the floor of a route: the policy's, else what the shipped probes give, worked out once."""
        policy, session = corpus.snapshot.policy, self.session
        main, other = self._planes(corpus, way)
        plane = other or main
        on = EVIDENCE[policy.fusion] if plane is not None else "lexical"
        identity = plane.identity if plane is not None else ""  # "" is the identity of words alone
        if named := policy.floor_for(identity, on):
            return InForce(named.value, "policy", named.probe)
        probes = shipped_probes()[way.language]
        embedders = session.embedders(policy) if plane is not None else ()  # words need no model, not even a known one
        embedder = next((e for e in embedders if plane and e.identity.digest == plane.identity), None)
        stored = session.store.plane(corpus.snapshot.key, embedder.identity) if embedder else None
        slot = f"{on}/{way.name}{_WEIGHED}/{digest(probes)[:23]}"
        if stored and slot in stored[1]:
            return InForce(float(str(stored[1][slot]["value"])), "probes", str(stored[1][slot]["probe"]))
        fusion = policy.fusion if plane is not None else "lexical"
        if plane is None and (mark := (corpus.snapshot.key, slot)) in self._by_words:
            return self._by_words[mark]
        session.store.expect(term for probe in probes for term in terms(probe))
        made = calibrate(corpus, [self.phrase(probe, corpus, way) for probe in probes], fusion)
        if embedder is not None and stored and bool((stored[0] >= 0).all()):
            with suppress(StoreError):  # on a disk that takes no writing it is worked out again
                session.store.save_floor(corpus.snapshot.key, embedder.identity, slot, asdict(made))
        floor = InForce(made.value, "probes", made.probe)
        if plane is None:  # words alone keep no plane in the store that the floor could stand beside
            self._by_words = {(corpus.snapshot.key, slot): floor}
        return floor

    def _planes(self, corpus: Corpus, way: Route) -> tuple[Nearby | None, Nearby | None]:
        embedders = self.session.embedders(corpus.snapshot.policy) if way.first or way.second else ()
        main = self._nearbys.find(corpus, embedders[0], "en") if way.first else None
        other = self._nearbys.find(corpus, embedders[-1], "zh") if way.second and len(embedders) > 1 else None
        return main, other

    def _glossary(self, corpus: Corpus) -> dict[str, list[str]]:
        return reverse(shipped_glossary(), corpus.snapshot.glossary)

    def _vector(self, embedder: Embedder, text: str) -> NDArray[np.float32]:
        key = (embedder.identity.digest, text)
        if key not in self._vectors:
            if len(self._vectors) >= _REMEMBERED:
                self._vectors.clear()
            self._vectors[key] = embedder.question(text)
        return self._vectors[key]


def _near(plane: Nearby, vector: NDArray[np.float32], words: str) -> Nearness:
    return plane.nearness(vector, words) if isinstance(plane, Distant) else plane.nearness(vector)
