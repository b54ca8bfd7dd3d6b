"""The shipped probes, and which floor is in force: the policy's, else one computed from the probes over a snapshot."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from seed.embed.base import Embedder
from seed.errors import StoreError
from seed.store.engine import Engine
from sidecar.corpus import Corpus
from sidecar.floor import Calibration, conformal, max_probe
from sidecar.rank import Phrase, evidence
from sidecar.settle import strongest

EVIDENCE = {"hybrid": "fused", "cosine": "cosine", "lexical": "lexical"}
_METHODS = {"max_probe": max_probe, "conformal": conformal}


@dataclass(frozen=True, slots=True)
class InForce:
    """The floor that counts, and where it came from: "policy" or "probes"."""

    value: float
    source: str
    probe: str = ""


@lru_cache(maxsize=1)
def shipped_probes() -> dict[str, tuple[str, ...]]:
    """Return the shipped probes: language -> questions that no project's records answer."""
    from seed.yamltext import parse

    data = parse(files("sidecar").joinpath("data/probes.yaml").read_bytes()).data
    found: dict[str, tuple[str, ...]] = {}
    for language in ("en", "zh"):
        groups = data.get(language, {})
        lists = groups.values() if isinstance(groups, Mapping) else []
        found[language] = tuple(str(q) for group in lists if isinstance(group, list) for q in group)
    return found


@lru_cache(maxsize=1)
def shipped_glossary() -> dict[str, tuple[str, ...]]:
    """Return the shipped glossary: English word -> what it is called in Chinese."""
    from seed.yamltext import parse

    data = parse(files("sidecar").joinpath("data/glossary_zh.yaml").read_bytes()).data
    return {word: tuple(str(form) for form in forms) for word, forms in data.items() if isinstance(forms, list)}


def question_sha(text: str) -> bytes:
    """Return under what the store keeps the vector of a question, which no passage's text can equal."""
    return hashlib.sha256(b"question\0" + text.encode()).digest()


def probe_vectors(store: Engine, embedder: Embedder, probes: Sequence[str]) -> list[NDArray[np.float32]]:
    """Return the vectors of probes, from the store where they are known; new ones are kept if the lock is free."""
    store.register(embedder.identity)
    shas = [question_sha(text) for text in probes]
    rows = store.rows(embedder.identity, shas)
    kept = store.read_vectors(embedder.identity, np.array(list(rows.values()), np.int32)) if rows else ()
    found: dict[bytes, NDArray[np.float32]] = dict(zip(rows, kept, strict=bool(len(kept))))
    new = {sha: embedder.question(p) for sha, p in zip(shas, probes, strict=True) if sha not in found}
    if new:
        try:
            with store.exclusive(0.5):
                store.add_vectors(embedder.identity, new)
        except StoreError:
            pass  # another process seeds: these vectors cost a second again, nothing else
    return [found[sha] if sha in found else new[sha] for sha in shas]


def calibrate(corpus: Corpus, phrases: Sequence[Phrase], fusion: str, method: str = "max_probe") -> Calibration:
    """Return the floor that probes set over a corpus, from the highest evidence of any record for each of them."""
    tops = [strongest(evidence(corpus, phrase, fusion, {})) for phrase in phrases]
    return _METHODS[method]([phrase.text for phrase in phrases], tops)
