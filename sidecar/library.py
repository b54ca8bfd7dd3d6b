"""The sessions of a repository as one searchable whole: their segments, words, and vectors. Everything is rebuildable.

Index families and words lie in the disposable folder of segments; vectors in the repository's store, under an
identity whose projection names the scheme, so that they never meet the records' vectors.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from seed.embed.base import Embedder
from seed.embed.identity import Identity
from seed.errors import SidecarError, StoreError
from seed.store.engine import Engine
from seed.transcript import files, segment_index
from seed.transcript.reader import Reader
from seed.transcript.segment_index import SegmentIndex
from seed.transcript.segments import VERSION
from sidecar import segment_words
from sidecar.history import History, segmented
from sidecar.segment_words import SegmentWords

BATCH = 64
_LOCK_SECONDS = 0.5
Progress = Callable[[str, int, int], None]


def projection(scheme: str) -> str:
    """Return the projection version of a scheme's segments: part of the identity of their vectors."""
    return f"transcript/{scheme}/v{VERSION}"


class Projected:
    """An embedder of records, used for segments: the same model under an identity of its own."""

    def __init__(self, inner: Embedder, scheme: str) -> None:
        self._inner = inner
        self.identity: Identity = replace(inner.identity, projection=projection(scheme))

    def passages(self, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """Yield the vector of each text."""
        return self._inner.passages(texts)

    def question(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question."""
        return self._inner.question(text)


@dataclass(frozen=True, slots=True)
class Family:
    """One session's segments by a scheme, with their words."""

    reader: Reader
    index: SegmentIndex
    words: SegmentWords


@dataclass(frozen=True, slots=True)
class Library:
    """The families that are asked, joined: segment ``n`` of the whole is ``n - starts[f]`` of family ``f``."""

    families: tuple[Family, ...]
    starts: NDArray[np.int64]
    said: NDArray[np.bool_]
    key: str

    def __len__(self) -> int:
        return int(self.starts[-1])

    def place(self, number: int) -> tuple[Family, int]:
        """Return the family of a segment of the whole, and its number there."""
        at = int(np.searchsorted(self.starts, number, side="right")) - 1
        return self.families[at], number - int(self.starts[at])

    def shas(self) -> list[bytes]:
        """Return what names each segment's text, b"" where nothing is said."""
        return [one.words.sha(number) for one in self.families for number in range(len(one.words))]


def assemble(families: Sequence[Family]) -> Library:
    """Return families as one whole."""
    starts = np.concatenate([[0], np.cumsum([len(one.index) for one in families])]).astype(np.int64)
    said = np.concatenate([one.words.said() for one in families]) if families else np.zeros(0, bool)
    names = sorted(f"{one.index.transcript} {one.index.digest} {one.index.scheme}" for one in families)
    return Library(tuple(families), starts, said, hashlib.sha256("\n".join(names).encode()).hexdigest()[:24])


def family(history: History, name: str, scheme: str) -> Family:
    """Return a session's family with its words; both are built and written where they are missing.

    Families of an earlier state of the session are deleted: they cannot be asked any more.
    """
    reader, index = segmented(history, name, scheme)
    path = history.indexes / segment_index.file_name(index.transcript, index.digest, scheme)
    words_path = path.with_suffix(".words")
    try:
        words = segment_words.parse(words_path.read_bytes())
    except (FileNotFoundError, SidecarError):
        words = None
    if words is None or len(words) != len(index):
        words = segment_words.build(text for _, text in segment_index.views(reader, index))
        files.write_atomically(words_path, [segment_words.dump(words)])
        _forget_older(history, index)
    return Family(reader, index, words)


def _forget_older(history: History, index: SegmentIndex) -> None:
    keep = segment_index.file_name(index.transcript, index.digest, index.scheme).removesuffix(".seg")
    for path in history.indexes.glob(f"{index.transcript}.*.{index.scheme}.v*.*"):
        rest = path.name.removeprefix(f"{index.transcript}.")
        if not path.name.startswith(keep) and len(rest.split(".")) == len("digest.scheme.version.suffix".split(".")):
            path.unlink(missing_ok=True)


def open_library(history: History, scheme: str, names: Sequence[str] = ()) -> Library:
    """Return the sessions named (by default all that can be read) as one whole, the one captured last first."""
    archive = history.archive
    kept = [archive.resolve(name) for name in names] or list(archive.manifests())
    kept.sort(key=lambda one: (one.state.captured, one.id), reverse=True)
    return assemble([family(history, one.id, scheme) for one in kept])


def rows(store: Engine, library: Library, identity: Identity) -> NDArray[np.int32]:
    """Return the row (n,) of each segment's vector, -1 where there is none."""
    shas = library.shas()
    known = store.rows(identity, list({sha for sha in shas if sha}))
    held = store.held(identity)
    found = np.array([known.get(sha, -1) if sha else -1 for sha in shas], np.int32)
    return np.where(found < held, found, -1).astype(np.int32)


def embed(store: Engine, library: Library, embedder: Embedder, budget: float, progress: Progress | None = None) -> str:
    """Embed what has no vector yet, for at most ``budget`` seconds. Returns what was left undone, or ""."""
    end = time.monotonic() + budget
    store.register(embedder.identity)
    shas = list({sha for sha in library.shas() if sha})
    missing = set(shas) - store.rows(embedder.identity, shas).keys()
    total = len(missing)
    for batch in _batches(library, missing):
        if time.monotonic() > end:
            return f"{len(missing) + len(batch)} segments are not embedded yet (stopped after {budget:g} s)"
        vectors = dict(zip(batch, embedder.passages(list(batch.values())), strict=True))
        try:
            with store.exclusive(_LOCK_SECONDS):
                store.add_vectors(embedder.identity, vectors)
        except StoreError as exc:
            return f"{len(missing) + len(batch)} segments are not embedded yet: {exc.message}"
        if progress:
            progress("embedding segments", total - len(missing), total)
    return ""


def _batches(library: Library, missing: set[bytes]) -> Iterator[dict[bytes, str]]:
    """Yield the missing texts by what names them, some at a time; those yielded are taken out of ``missing``."""
    batch: dict[bytes, str] = {}
    for one in library.families:
        for number, text in segment_index.views(one.reader, one.index) if missing else ():
            sha = one.words.sha(number)
            if sha in missing:
                missing.discard(sha)
                batch[sha] = text
                if len(batch) == BATCH:
                    yield batch
                    batch = {}
    if batch:
        yield batch
