"""From a question's text to phrasings with their vectors and floors: which model serves it, and at what floor."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from seed.embed.base import Embedder
from seed.errors import EmbedderError
from seed.text import is_cjk
from sidecar.corpus import Corpus, Plane
from sidecar.floors import InForce, in_force
from sidecar.query import Query
from sidecar.rank import Phrase
from sidecar.session import Session

_REMEMBERED = 512
NO_FLOOR = InForce(1.0, "probes")


@dataclass(frozen=True, slots=True)
class Asked:
    """The phrasings with vectors and floors; plane, identity and floor of the first one, which the receipt names."""

    phrases: tuple[Phrase, ...]
    plane: Plane | None = None
    embedder: str = ""
    floor: InForce = NO_FLOOR
    degraded: str = ""


class Meaning:
    """Turns questions into phrases for one session and remembers the vectors of recent ones."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._vectors: dict[tuple[str, str], NDArray[np.float32]] = {}

    def needs_second(self, query: Query) -> bool:
        """Tell whether the second model's vectors are needed for any phrasing of a query."""
        return any(is_cjk(text) for text in query.phrasings)

    def ask(self, query: Query, corpus: Corpus) -> Asked:
        """Return the phrasings of a query, by words alone where a model does not load."""
        if not corpus.heads or not query.phrasings:
            return Asked(tuple(Phrase(text, None, 1.0) for text in query.phrasings))
        parts = [self._by_meaning_or_words(text, corpus) for text in query.phrasings]
        phrases = tuple(phrase for part in parts for phrase in part.phrases)
        return replace(parts[0], phrases=phrases, degraded=next((p.degraded for p in parts if p.degraded), ""))

    def warm(self, corpus: Corpus) -> None:
        """Work out the floors that policy does not name, so that no question has to wait for them."""
        for text in ("en", "中文") if corpus.heads else ():
            self._by_meaning_or_words(text, corpus)

    def _by_meaning_or_words(self, text: str, corpus: Corpus) -> Asked:
        try:
            return self._by_meaning(text, corpus)
        except EmbedderError as exc:
            floor = self._floor(text, corpus, None, None)
            return Asked((Phrase(text, None, floor.value),), floor=floor, degraded=str(exc))

    def _by_meaning(self, text: str, corpus: Corpus) -> Asked:
        embedder = self._embedder(text, corpus)
        plane = self.session.plane(corpus, embedder) if embedder is not None else None
        floor = self._floor(text, corpus, plane, embedder)
        if embedder is None or plane is None:
            return Asked((Phrase(text, None, floor.value),), floor=floor)
        found = plane.meaning(self._vector(embedder, text))
        return Asked((Phrase(text, found, floor.value),), plane, embedder.identity.digest, floor)

    def _floor(self, text: str, corpus: Corpus, plane: Plane | None, embedder: Embedder | None) -> InForce:
        policy = corpus.snapshot.policy
        return in_force(self.session.store, corpus, plane, embedder, policy, chinese=is_cjk(text))

    def _embedder(self, text: str, corpus: Corpus) -> Embedder | None:
        """Return the second model for questions written in CJK, the main one for every other (decision-0008)."""
        policy = corpus.snapshot.policy
        if policy.fusion == "lexical":
            return None
        embedders = self.session.embedders(policy)
        return embedders[-1] if is_cjk(text) else embedders[0]

    def _vector(self, embedder: Embedder, text: str) -> NDArray[np.float32]:
        key = (embedder.identity.digest, text)
        if key not in self._vectors:
            if len(self._vectors) >= _REMEMBERED:
                self._vectors.clear()
            self._vectors[key] = embedder.question(text)
        return self._vectors[key]
