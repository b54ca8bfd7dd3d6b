"""Vectors made elsewhere: the texts go out with an identity, vectors come back with it, or are INCOMPARABLE.

Such a plane lies beside the archive, since nothing here can make it again; it never changes the archive.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seed.embed.identity import Identity, require_equal
from seed.errors import IncomparableError, SidecarError
from seed.transcript import files, segment_index
from sidecar.history import Document, History, completeness, segmented
from sidecar.library import projection
from sidecar.segment_words import sha_of

FORMAT = 1
MAIN = "main"
_DEFAULTS: dict[str, Any] = {
    "weights": "name-only",
    "tokenizer": "name-only",
    "max_tokens": 0,
    "pooling": "",
    "normalized": True,
    "question_instruction": "",
    "passage_instruction": "",
}


@dataclass(frozen=True, slots=True)
class Auxiliary:
    """A plane of one session: ``matrix`` (k, d) of unit vectors, ``rows`` (n,) of its segments or -1.

    ``question`` (d,) is the unit vector of what is asked.
    """

    transcript: str
    identity: Identity
    matrix: NDArray[np.float32]
    rows: NDArray[np.int32]
    question: NDArray[np.float32]


def view_document(
    history: History, name: str, scheme: str, sample: int = 0, start: int = 0, limit: int = 0
) -> Document:
    """Return the texts of a session's segments to embed elsewhere, and the identity that must come back with them.

    ``sample`` takes so many at even distances, ``start`` and ``limit`` a page; what of the whole this covers is
    said. Raises `SidecarError`.
    """
    reader, index = segmented(history, name, scheme)
    texts = [(number, text) for number, text in segment_index.views(reader, index) if text]
    every = max(1, -(-len(texts) // sample)) if sample else 1
    chosen = texts[start::every][: limit or None]
    following = start + every * len(chosen)
    return {
        "format": FORMAT,
        "identity": _identity(index, _digest(sha_of(text) for _, text in texts)),
        "covers": {
            "segments": len(chosen),
            "said": len(texts),
            "of": len(index),
            "every": every,
            "turns": [index.turns[chosen[0][0]], index.turns[chosen[-1][0]]] if chosen else [],
        },
        **completeness(reader.manifest),
        "texts": [{"segment": number, "text": text} for number, text in chosen],
        "next": following if following < len(texts) else None,
    }


def attach(history: History, lines: Iterable[str], plane: str = MAIN) -> Document:
    """Keep vectors made elsewhere as a plane of their session; more of the same plane is added to it.

    The first line holds ``identity`` (of `view_document`) and ``embedder`` (at least model and dimension), each other
    one ``segment`` and ``vector``. Raises `IncomparableError` naming the first part that differs, `SidecarError`.
    """
    rows = _rows(lines)
    head = next(rows, (0, {}))[1]
    told, embedder = head.get("identity"), head.get("embedder")
    if not isinstance(told, dict) or not isinstance(embedder, dict):
        raise SidecarError("line 1 has no identity and embedder", "begin with those that 'transcript view' printed")
    held_identity, index = _current(history, told)
    identity = _embedder(embedder, held_identity["projection"])
    path = _path(history, index, plane)
    old = _load(path)
    if old is not None:
        _same(old[0], held_identity)
        require_equal(old[1], identity)
    vectors = {} if old is None else dict(zip(old[2].tolist(), old[3], strict=True))
    before = len(vectors)
    for number, row in rows:
        vectors |= [_vector(row, number, len(index), identity.dimension)]
    _save(path, held_identity, identity, vectors)
    covers = {"segments": len(vectors), "added": len(vectors) - before, "of": len(index)}
    return {"format": FORMAT, "plane": plane, "identity": held_identity, "embedder": identity.model, "covers": covers}


def open_plane(history: History, name: str, scheme: str, plane: str, question: Mapping[str, Any]) -> Auxiliary:
    """Return an attached plane, ready for a question given as ``embedder`` and ``vector``.

    Raises `IncomparableError` when the question's embedder, or the session as it is now, is not the plane's.
    """
    reader, index = segmented(history, name, scheme)
    held = _load(_path(history, index, plane))
    if held is None:
        raise SidecarError(f"{reader.manifest.id} has no plane {plane!r} by {scheme}", "attach it first")
    told, identity, numbers, matrix = held
    texts = _digest(sha_of(text) for _, text in segment_index.views(reader, index) if text)
    _same(told, _identity(index, texts))
    if not isinstance(question.get("embedder"), dict):
        raise SidecarError("the question has no embedder", "give its embedder and its vector")
    require_equal(identity, _embedder(question["embedder"], told["projection"]))
    vector = _vector({"segment": 0, **question}, 1, 1, identity.dimension)[1]
    rows = np.full(len(index), -1, np.int32)
    rows[numbers] = np.arange(len(numbers), dtype=np.int32)
    return Auxiliary(reader.manifest.id, identity, matrix, rows, vector)


def _identity(index: segment_index.SegmentIndex, texts: str) -> Document:
    return {
        "transcript": index.transcript,
        "digest": index.digest,
        "scheme": index.scheme,
        "version": index.version,
        "projection": projection(index.scheme),
        "segments": len(index),
        "texts": texts,
    }


def _current(history: History, told: Mapping[str, Any]) -> tuple[Document, segment_index.SegmentIndex]:
    """Return the identity that a session's segments have now. Raises `IncomparableError` when another one came back."""
    try:
        reader, index = segmented(history, str(told.get("transcript", "")), str(told.get("scheme", "")))
    except SidecarError as exc:
        raise IncomparableError(f"INCOMPARABLE: {exc.message}", exc.fix) from None
    now = _identity(index, _digest(sha_of(text) for _, text in segment_index.views(reader, index) if text))
    _same(now, told)
    return now, index


def _same(held: Mapping[str, Any], told: Mapping[str, Any]) -> None:
    for part, mine in held.items():
        if told.get(part) != mine:
            raise IncomparableError(
                f"INCOMPARABLE: {part} differs - {mine} against {told.get(part)}",
                "export the texts again with 'sidecar transcript view' and embed those",
            )


def _embedder(told: Mapping[str, Any], asked: str) -> Identity:
    values = {**_DEFAULTS, "projection": asked, **told}
    unknown = values.keys() - {part.name for part in fields(Identity)}
    dimension = values.get("dimension")
    named = isinstance(values.get("model"), str) and values["model"]
    if unknown or not named or type(dimension) is not int or dimension < 1:
        raise SidecarError("the embedder needs a model and a dimension", "and may name the other parts of an identity")
    made = Identity(**values)
    if made.projection != asked:
        _same({"projection": asked}, {"projection": made.projection})
    return made


def _vector(row: Mapping[str, Any], line: int, segments: int, dimension: int) -> tuple[int, NDArray[np.float32]]:
    number = row.get("segment")
    if type(number) is not int or not 0 <= number < segments:  # true is an int too, and no segment
        raise SidecarError(f"line {line}: there is no segment {number!r}", f"they are 0 to {segments - 1}")
    try:
        given = np.asarray(row.get("vector"))
    except (ValueError, TypeError):
        given = np.asarray(None)
    if given.dtype.kind not in "iuf" and given.size:  # texts and truths are no numbers, even where NumPy takes them
        raise SidecarError(f"line {line}: the vector is no list of numbers", "write it as [0.1, -0.2]")
    vector = given.astype(np.float64)
    if vector.shape != (dimension,):
        raise IncomparableError(
            f"INCOMPARABLE: dimension differs - {dimension} against {vector.shape[-1] if vector.shape else 0}",
            f"see line {line}: all vectors have the dimension of their embedder",
        )
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length) or not length:
        raise SidecarError(f"line {line}: the vector has no direction", "give finite numbers that are not all zero")
    return number, (vector / length).astype(np.float32)


def _rows(lines: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                raise SidecarError(f"line {number} is no JSON object", "write one object a line")
            yield number, row


def _digest(shas: Iterable[bytes]) -> str:
    whole = hashlib.sha256()
    for sha in shas:
        whole.update(sha)
    return f"sha256:{whole.hexdigest()}"


def _path(history: History, index: segment_index.SegmentIndex, plane: str) -> Path:
    if not plane.replace("-", "").replace("_", "").isalnum():
        raise SidecarError(f"{plane!r} is no name of a plane", "use letters, digits, - and _")
    name = f"{index.transcript}.{index.scheme}.v{index.version}.{plane}.vec"
    return history.archive.home(index.transcript) / "planes" / name


def _save(path: Path, told: Document, identity: Identity, vectors: Mapping[int, NDArray[np.float32]]) -> None:
    numbers = np.array(sorted(vectors), "<u4")
    matrix = np.stack([vectors[int(n)] for n in numbers]) if vectors else np.zeros((0, identity.dimension))
    head = {"format": FORMAT, "identity": told, "embedder": json.loads(identity.to_json()), "vectors": len(numbers)}
    files.private_folder(path.parent)
    line = json.dumps(head).encode() + b"\n"
    files.write_atomically(path, [line, numbers.tobytes(), matrix.astype("<f4").tobytes()])


def _load(path: Path) -> tuple[Document, Identity, NDArray[np.uint32], NDArray[np.float32]] | None:
    try:
        line, _, body = path.read_bytes().partition(b"\n")
    except FileNotFoundError:
        return None
    try:
        head = json.loads(line)
        identity, count = Identity(**head["embedder"]), head["vectors"]
        numbers = np.frombuffer(body, "<u4", count)
        matrix = np.frombuffer(body, "<f4", count * identity.dimension, 4 * count).reshape(count, identity.dimension)
    except (ValueError, KeyError, TypeError):
        raise SidecarError(f"{path} is damaged", "delete it and attach the vectors again") from None
    return head["identity"], identity, numbers, matrix
