"""The words and sentences of a family of segments, and BM25 over several families at once. Pure.

Formula: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
non-negative idf ln(1 + (N - n + 0.5) / (n + 0.5)); the statistics are those of all families that are asked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import zstandard
from numpy.typing import NDArray

from seed.errors import SidecarError
from seed.text import terms, word_count
from seed.transcript.said import titled
from sidecar.lexical import K1, B
from sidecar.sentences import sentences

FORMAT = 2
SHA_BYTES = 32
_MANY = 255
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SegmentWords:
    """Postings of n segments: term k stands in ``numbers[offsets[k]:offsets[k + 1]]``, ``times`` as often.

    ``lengths`` (n,) are in words; ``counts`` (n,) are how many sentences each segment says, 0 where nothing is said,
    and ``shas`` the 32 bytes that name the text of each sentence, joined.
    """

    terms: dict[str, int]
    offsets: NDArray[np.uint32]
    numbers: NDArray[np.uint32]
    times: NDArray[np.uint8]
    lengths: NDArray[np.uint32]
    counts: NDArray[np.uint32]
    shas: bytes

    def __len__(self) -> int:
        return len(self.lengths)

    def said(self) -> NDArray[np.bool_]:
        """Return which segments (n,) say anything."""
        return self.counts > 0

    def postings(self, term: str) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Return (segments, counts) of a term."""
        at = self.terms.get(term)
        here = slice(0, 0) if at is None else slice(int(self.offsets[at]), int(self.offsets[at + 1]))
        return self.numbers[here], self.times[here]


def sha_of(text: str) -> bytes:
    """Return what names a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def build(said: Iterable[tuple[str, str]]) -> SegmentWords:
    """Return the words and sentences of segments given by (title, text), in order; a title is words alone."""
    ids: dict[str, int] = {}
    term_ids, numbers, times, lengths, spoken, shas = [], [], [], [], [], bytearray()
    for number, (title, text) in enumerate(said):
        counted = terms(titled(title, text))
        parts = sentences(text)
        shas += b"".join(map(sha_of, parts))
        spoken.append(len(parts))
        lengths.append(word_count(counted))
        for term, count in counted.items():
            term_ids.append(ids.setdefault(term, len(ids)))
            numbers.append(number)
            times.append(min(count, _MANY))
    by_term = np.asarray(term_ids, np.int64)
    order = np.argsort(by_term, kind="stable")
    offsets = np.zeros(len(ids) + 1, np.uint32)
    offsets[1:] = np.cumsum(np.bincount(by_term, minlength=len(ids)))
    return SegmentWords(
        ids,
        offsets,
        np.asarray(numbers, np.uint32)[order],
        np.asarray(times, np.uint8)[order],
        np.asarray(lengths, np.uint32),
        np.asarray(spoken, np.uint32),
        bytes(shas),
    )


def score(families: Sequence[SegmentWords], question: Sequence[str]) -> Floats:
    """Return the BM25 (n,) of all segments of all families, joined in order, for a question's words."""
    sizes = [len(one) for one in families]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    found = np.zeros(int(starts[-1]))
    if not len(found):
        return found
    lengths = np.concatenate([one.lengths for one in families]).astype(np.float64)
    usual = lengths[lengths > 0].mean() if (lengths > 0).any() else 1.0
    said = int((lengths > 0).sum())
    for term in dict.fromkeys(question):
        held = [one.postings(term) for one in families]
        at = np.concatenate([numbers + start for (numbers, _), start in zip(held, starts, strict=False)])
        count = np.concatenate([times for _, times in held]).astype(np.float64)
        idf = np.log(1 + (said - len(at) + 0.5) / (len(at) + 0.5))
        found[at] += idf * count * (K1 + 1) / (count + K1 * (1 - B + B * lengths[at] / usual))
    return found


def dump(words: SegmentWords) -> bytes:
    """Write words: a line of JSON, then terms and columns, compressed."""
    names = "\0".join(words.terms).encode("utf-8", "surrogatepass")
    head = {"format": FORMAT, "segments": len(words), "terms": len(words.terms)}
    head |= {"names": len(names), "postings": len(words.numbers), "sentences": len(words.shas) // SHA_BYTES}
    columns = (words.offsets, words.numbers, words.times, words.lengths, words.counts)
    body = names + b"".join(column.tobytes() for column in columns) + words.shas
    return json.dumps(head).encode() + b"\n" + zstandard.ZstdCompressor(level=3).compress(body)


def parse(data: bytes) -> SegmentWords:
    """Read what `dump` wrote. Raises SidecarError when it is damaged or of another format: it is built again."""
    line, _, packed = data.partition(b"\n")
    try:
        head = json.loads(line)
        n, t, p, names, said = (int(head[key]) for key in ("segments", "terms", "postings", "names", "sentences"))
        size = names + 4 * (t + 1) + 5 * p + 8 * n + SHA_BYTES * said
        raw = zstandard.ZstdDecompressor().decompress(packed, max_output_size=size)
        known = raw[:names].decode("utf-8", "surrogatepass").split("\0") if t else []
        whole = head["format"] == FORMAT and len(raw) == size and len(known) == t
    except (ValueError, KeyError, TypeError, zstandard.ZstdError):
        whole = False
    if not whole:
        raise SidecarError("the words of a segment index are damaged", "delete the file: it is built again")
    at = names
    offsets = np.frombuffer(raw, np.uint32, t + 1, at)
    numbers = np.frombuffer(raw, np.uint32, p, at := at + offsets.nbytes)
    times = np.frombuffer(raw, np.uint8, p, at := at + numbers.nbytes)
    lengths = np.frombuffer(raw, np.uint32, n, at := at + times.nbytes)
    counts = np.frombuffer(raw, np.uint32, n, at := at + lengths.nbytes)
    terms_at = {name: number for number, name in enumerate(known)}
    return SegmentWords(terms_at, offsets, numbers, times, lengths, counts, raw[at + counts.nbytes :])
