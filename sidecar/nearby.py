"""Choose how a corpus is searched by meaning: all its vectors in memory, or the store's index where they are many."""

from __future__ import annotations

from functools import partial

import numpy as np

from seed.embed.base import Embedder
from sidecar.corpus import Corpus
from sidecar.distant import Distant, Nearby
from sidecar.floors import probe_vectors, shipped_probes
from sidecar.session import Session


class Nearbys:
    """Finds the plane of an embedder over a corpus; one that lies in the store's index is remembered."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._distant: dict[str, Distant] = {}

    def find(self, corpus: Corpus, embedder: Embedder, language: str) -> Nearby | None:
        """Return the plane, charged by the probes of a language; None without any vector. Raises `EmbedderError`."""
        digest = embedder.identity.digest
        known = self._distant.get(digest)
        if known is not None and known.documents is corpus.documents and bool((known.rows >= 0).all()):
            return known
        found = self._far(corpus, embedder, language)
        if found is None:
            self._distant.pop(digest, None)
            return self.session.plane(corpus, embedder, language)
        self._distant[digest] = found
        return found

    def _far(self, corpus: Corpus, embedder: Embedder, language: str) -> Distant | None:
        store, key, identity = self.session.store, corpus.snapshot.key, embedder.identity
        index = store.index(key, identity, len(corpus.documents.pids))
        stored = store.plane(key, identity) if index is not None else None
        if index is None or stored is None:
            return None
        probes = probe_vectors(store, embedder, shipped_probes()[language])
        centre = np.asarray(np.mean(probes, axis=0, dtype=np.float64), dtype=np.float32)
        return Distant(
            identity.digest, index, partial(store.read_vectors, identity), stored[0], corpus.documents, centre
        )
