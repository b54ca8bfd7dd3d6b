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
from sidecar.sentences import sentences

BATCH = 64
_LOCK_SECONDS = 0.5
Names = NDArray[np.uint8]
"""What names each of some texts: (s, 32), the sha256 of each."""
Progress = Callable[[str, int, int], None]


def projection(scheme: str) -> str:
    """Return the projection version of a scheme's segments: part of the identity of vectors made elsewhere."""
    return f"transcript/{scheme}/v{VERSION}"


def sentence_projection(scheme: str) -> str:
    """Return the projection version of the sentences of a scheme's segments: part of the identity of own vectors."""
    return f"{projection(scheme)}/sentences/v1"


class Projected:
    """An embedder of records, used for sentences: the same model under an identity of its own."""

    def __init__(self, inner: Embedder, scheme: str) -> None:
        self._inner = inner
        self.identity: Identity = replace(inner.identity, projection=sentence_projection(scheme))

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
    """The families that are asked, joined: segment ``n`` of the whole is ``n - starts[f]`` of family ``f``.

    ``counts`` (n,) are the sentences of each segment, ``breaks`` where a family's first sentence stands among all.
    """

    families: tuple[Family, ...]
    starts: NDArray[np.int64]
    counts: NDArray[np.int64]
    breaks: NDArray[np.int64]
    key: str

    def __len__(self) -> int:
        return int(self.starts[-1])

    def place(self, number: int) -> tuple[Family, int]:
        """Return the family of a segment of the whole, and its number there."""
        at = int(np.searchsorted(self.starts, number, side="right")) - 1
        return self.families[at], number - int(self.starts[at])

    @property
    def said(self) -> NDArray[np.bool_]:
        """Return which segments (n,) say anything."""
        return self.counts > 0

    @property
    def names(self) -> Names:
        """Return what names the text of each sentence, (s, 32)."""
        joined = b"".join(one.words.shas for one in self.families)
        return np.frombuffer(joined, np.uint8).reshape(-1, segment_words.SHA_BYTES)


def listed(names: Names) -> list[bytes]:
    """Return what names each of some texts (s, 32) as bytes."""
    joined, size = names.tobytes(), segment_words.SHA_BYTES
    return [joined[at : at + size] for at in range(0, len(joined), size)]


def assemble(families: Sequence[Family]) -> Library:
    """Return families as one whole."""
    starts = np.concatenate([[0], np.cumsum([len(one.index) for one in families])]).astype(np.int64)
    counts = np.concatenate([np.zeros(0, np.int64), *(one.words.counts for one in families)]).astype(np.int64)
    spoken = [int(one.words.counts.sum()) for one in families]
    breaks = np.cumsum([0, *spoken[:-1]]).astype(np.int64)
    names = sorted(f"{one.index.transcript} {one.index.digest} {one.index.scheme}" for one in families)
    key = hashlib.sha256("\n".join(names).encode()).hexdigest()[:24]
    return Library(tuple(families), starts, counts, breaks, key)


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
        words = segment_words.build((title, text) for _, title, text in segment_index.utterances(reader, index))
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


def embed(
    store: Engine,
    library: Library,
    missing: NDArray[np.bool_],
    embedder: Embedder,
    budget: float,
    progress: Progress | None = None,
) -> str:
    """Embed the sentences that are ``missing`` (s,), for at most ``budget`` seconds.

    Returns what was left undone, or "".
    """
    end = time.monotonic() + budget
    wanted = set(listed(library.names[missing]))
    total = len(wanted)
    for batch in _batches(library, missing, wanted):
        if time.monotonic() > end:
            return f"{len(wanted) + len(batch)} sentences are not embedded yet (stopped after {budget:g} s)"
        vectors = dict(zip(batch, embedder.passages(list(batch.values())), strict=True))
        try:
            with store.exclusive(_LOCK_SECONDS):
                store.register(embedder.identity)  # here, since a collection may drop one that has no vector
                store.heal(embedder.identity)
                store.add_vectors(embedder.identity, vectors)
        except StoreError as exc:
            return f"{len(wanted) + len(batch)} sentences are not embedded yet: {exc.message}"
        if progress:
            progress("embedding sentences", total - len(wanted), total)
    return ""


def _batches(library: Library, missing: NDArray[np.bool_], wanted: set[bytes]) -> Iterator[dict[bytes, str]]:
    """Yield the wanted texts by what names them, some at a time; those yielded are taken out of ``wanted``."""
    batch: dict[bytes, str] = {}
    for text in _texts(library, missing):
        if (sha := segment_words.sha_of(text)) in wanted:
            wanted.discard(sha)
            batch[sha] = text
            if len(batch) == BATCH:
                yield batch
                batch = {}
    if batch:
        yield batch


def _texts(library: Library, missing: NDArray[np.bool_]) -> Iterator[str]:
    """Yield the sentences of each session from the first segment on that misses one; what stands before is not read."""
    for family, part in zip(library.families, np.split(missing, library.breaks[1:]), strict=True):
        if not part.any():
            continue
        first = int(np.searchsorted(np.cumsum(family.words.counts), part.argmax(), side="right"))
        for _, _, text in segment_index.utterances(family.reader, family.index, first):
            yield from sentences(text)
