"""Open the vectors of a snapshot: all of them as they are, or by their codes first where they are many."""

from __future__ import annotations

from functools import partial

import numpy as np

from seed.embed.base import Embedder
from seed.store.engine import Engine
from sidecar import plane_file
from sidecar.coded import CodedPlane, coded
from sidecar.codes import product
from sidecar.codes_file import CheckedCodes, CodesFile
from sidecar.corpus import Corpus
from sidecar.floors import probe_vectors, shipped_probes
from sidecar.plane import Plane, plane, starts_of

CODED_FROM = 250_000
"""From so many passages on a question reads codes first; below it reading the vectors is quick enough."""
Opened = Plane | CodedPlane


class Planes:
    """The planes of the snapshot that a session answers from, and the codes that it has checked already."""

    def __init__(self) -> None:
        self._planes: dict[tuple[str, str], Opened] = {}
        self._codes = CheckedCodes()

    def __len__(self) -> int:
        return len(self._planes)

    def clear(self) -> None:
        """Drop the planes; codes are of the rows of a store, whatever the snapshot."""
        self._planes.clear()

    def find(self, store: Engine, corpus: Corpus, embedder: Embedder, language: str) -> Opened | None:
        """Return the vectors of an embedder over a corpus, charged by the probes of a language; None without any."""
        mark = (corpus.snapshot.key, embedder.identity.digest)
        if mark not in self._planes:
            with store.one_state():
                stored = store.plane(mark[0], embedder.identity)
                matrix, made = store.matrix(embedder.identity), store.generation()  # in one, rows are only ever added
            if stored is None or matrix is None or not len(stored[0]):
                return None
            probes = probe_vectors(store, embedder, shipped_probes()[language])
            centre = np.asarray(np.mean(probes, axis=0, dtype=np.float64), dtype=np.float32)
            rows = np.where(stored[0] < len(matrix), stored[0], -1).astype(np.int32)
            owners, family = corpus.documents.owners, f"{mark[1]} {made}"
            sums = plane_file.opened(store.folder, family, matrix, rows, starts_of(owners), centre)
            exact = plane(mark[1], matrix, rows, owners, sums)
            self._planes[mark] = self._quicker(exact, CodesFile(store.folder, family))
        return self._planes[mark]

    def _quicker(self, exact: Plane, file: CodesFile) -> Opened:
        """Return a plane that is asked by its codes first, where it has many passages and a library multiplies them."""
        multiply = product() if len(exact.rows) >= CODED_FROM else None
        codes = self._codes.of(file, exact.matrix, exact.span[1]) if multiply else None
        if multiply is None or codes is None:
            return exact
        return coded(exact, codes, multiply, partial(self._broken, file))

    def _broken(self, file: CodesFile) -> None:
        self._codes.drop(file)
        self._planes.clear()
