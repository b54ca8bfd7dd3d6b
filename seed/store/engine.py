"""What a store has to offer: one module that satisfies this is one more engine, and nobody else knows which it is.

Every method raises `StoreError` where the store cannot be used, and nothing else of the engine's own. A store belongs
to one thread. Readers never wait for writers; whoever adds, publishes or collects holds `Engine.exclusive`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from seed.embed.identity import Identity
from seed.snapshot import Cut, Snapshot
from seed.store.parsed import Stored, Unseen

Vectors = NDArray[np.float32]
Plane = tuple[NDArray[np.int32], dict[str, dict[str, object]]]
"""The row of each passage of a snapshot, -1 where its vector is missing, and the floors computed while seeding."""
Receipt = dict[str, Any]
Spare = tuple[Collection[bytes], Collection[str]]
"""What stays in a collection though no snapshot names it: texts (sha256), embedders (digests) with all they have."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What was dropped, or would be; ``before`` and ``after`` are the store's bytes (equal for a dry run)."""

    snapshots: int
    files: int
    passages: int
    vectors: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Seen:
    """What a server says of itself: ``text``, the step that mends what is wrong ("" for nothing), replicas away."""

    text: str
    mends: str = ""
    away: tuple[str, ...] = ()


class Index(Protocol):
    """Searches one snapshot where its vectors are too many to be read by every process that answers."""

    def candidates(
        self, vector: Vectors, terms: Sequence[str], documents: int, mean: float
    ) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
        """Return (rows nearest to a vector (d,) by inner product, numbers of the documents that say most of the terms).

        ``documents`` is how many the snapshot has, ``mean`` their mean length: what BM25 weighs by.
        """
        ...


class Engine(Protocol):
    """The store of one repository: parsed records, passages, words, vectors and published snapshots."""

    name: str
    """What policy calls this engine."""
    folder: Path
    """A folder of this machine for what is no part of the store: logs of hooks, locks between local processes."""

    def close(self) -> None:
        """Give everything back that the store holds open."""

    def start_anew(self) -> None:
        """Make a damaged store usable again, empty where it has to be: Git has it all."""

    def exclusive(self, timeout: float) -> AbstractContextManager[None]:
        """Hold the seeding lock of the repository, waiting at most ``timeout`` seconds; it ends with its holder."""
        ...

    # --- parsed records and words ---------------------------------------------------------------------------

    def stored(self, oids: Sequence[str], version: str) -> dict[str, Stored]:
        """Return what is known of each blob under this parser and projection ``version``."""
        ...

    def add(self, unseen: Iterable[Unseen], version: str) -> None:
        """Store parsed blobs with their passages and words, in one transaction; twice is as good as once."""

    def cuts(self, oid: str, version: str) -> tuple[Cut, ...]:
        """Return the passages of one blob."""
        ...

    def texts(self, pids: Iterable[int]) -> dict[int, tuple[bytes, str, int]]:
        """Return (sha256, embedded text, characters of title and section in front) of each passage."""
        ...

    def postings(self, term: str) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Return (document numbers, counts up to 255) of an index term.

        Of all documents that were there when this process loaded a snapshot or added files last, and maybe later ones.
        """
        ...

    def expect(self, terms: Iterable[str]) -> None:
        """Prepare for `postings` of these terms: where each call is a journey, all are fetched in one."""

    # --- snapshots and notes --------------------------------------------------------------------------------

    def publish(self, snapshot: Snapshot, lengths: NDArray[np.uint32]) -> None:
        """Make a snapshot readable, whole or not at all. ``lengths``: passages, then titles, (n + heads,)."""

    def has(self, key: str) -> bool:
        """Tell whether a snapshot is published."""
        ...

    def load(self, key: str = "") -> tuple[Snapshot, NDArray[np.uint32]] | None:
        """Return a published snapshot with its document lengths; without a key, the newest one."""
        ...

    def snapshots(self) -> list[tuple[str, str, float]]:
        """Return (key, commit, seconds since the epoch) of every snapshot, newest first."""
        ...

    def note(self, name: str, value: str = "") -> None:
        """Keep a short text under a name; an empty one is forgotten."""

    def noted(self, name: str) -> str:
        """Return the text kept under a name, or ""."""
        ...

    # --- vectors and floors ---------------------------------------------------------------------------------

    def register(self, identity: Identity) -> None:
        """Remember every part of an embedder identity, so that a mismatch can be named later."""

    def heal(self, identity: Identity) -> None:
        """Forget the vectors that are named and not there any more."""

    def rows(self, identity: Identity, shas: Sequence[bytes]) -> dict[bytes, int]:
        """Return the row of each text (sha256) that has a vector."""
        ...

    def held(self, identity: Identity) -> int:
        """Return below which row number vectors can be read."""
        ...

    def add_vectors(self, identity: Identity, found: Mapping[bytes, Vectors]) -> None:
        """Store unit vectors durably by their texts' sha256; one that is there already stays."""

    def generation(self) -> int:
        """Return a number that changes when rows do: what was loaded under another one is of no use any more."""
        ...

    def one_state(self) -> AbstractContextManager[None]:
        """Let all that is read in the block come from one state of the store, whoever writes meanwhile."""
        ...

    def matrix(self, identity: Identity) -> Vectors | None:
        """Return all vectors of an identity by row, shape (rows, dimension); None without any."""
        ...

    def read_vectors(self, identity: Identity, rows: NDArray[np.int32]) -> Vectors:
        """Return the vectors (n, dimension) of a few rows (n,), each below `held`, without reading the others."""
        ...

    def sound(self, identity: Identity) -> dict[bytes, Vectors]:
        """Return text's sha256 -> vector of every vector that is as it was written."""
        ...

    def save_plane(self, key: str, identity: Identity, rows: NDArray[np.int32]) -> None:
        """Publish which row holds each passage of a snapshot; -1 where the vector is still missing."""

    def plane(self, key: str, identity: Identity) -> Plane | None:
        """Return the plane of a snapshot under an identity, or None."""
        ...

    def save_floor(self, key: str, identity: Identity, on: str, floor: Mapping[str, object]) -> None:
        """Keep the floor that the shipped probes gave over a snapshot."""

    # --- searching a large repository -----------------------------------------------------------------------

    def prepare(self, identity: Identity) -> None:
        """Build what `index` needs, after vectors were added; may take minutes for a large repository."""

    def index(self, key: str, identity: Identity, count: int) -> Index | None:
        """Return what searches a snapshot of ``count`` passages; None where all vectors are to be read and compared."""
        ...

    # --- housekeeping ---------------------------------------------------------------------------------------

    def collect(
        self, keep: Sequence[str], spare: Iterable[bytes] = (), beside: Collection[str] = (), *, dry_run: bool = False
    ) -> Collected:
        """Keep the snapshots ``keep`` (keys), what they refer to, and vectors of the texts ``spare`` (sha256).

        All vectors of the embedders ``beside`` (digests of identities) stay: their texts are in no snapshot.
        """
        ...


class Chain(Protocol):
    """The receipts of one repository, in the order in which they were given."""

    def close(self) -> None:
        """Give everything back that is held open."""

    def append(self, seal: Callable[[str], Receipt]) -> tuple[Receipt, bool]:
        """Append the receipt that ``seal`` makes from its predecessor's id. Returns it, and whether it was stored."""
        ...

    def get(self, ident: str) -> list[Receipt]:
        """Return the receipts whose id starts with ``ident`` ("sha256:" may be left out), at most two."""
        ...

    def newest(self, limit: int, skip: int = 0) -> list[Receipt]:
        """Return the newest receipts first, after those to skip."""
        ...

    def count(self) -> int:
        """Return how many receipts there are."""
        ...

    def chain(self) -> list[Receipt]:
        """Return all receipts, oldest first."""
        ...

    def restore(self, chain: Iterable[Receipt]) -> int:
        """Add the receipts that are not here yet, in their order, all or none. Returns how many that were."""
        ...
