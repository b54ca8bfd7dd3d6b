"""Which floor is in force for an embedder over a corpus: the policy's, else one computed from the shipped probes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from seed.embed.base import Embedder
from seed.policy import Policy
from seed.store.store import Store
from sidecar.corpus import Corpus, Plane
from sidecar.floor import Calibration, digest, max_probe
from sidecar.rank import Phrase, evidence

EVIDENCE = {"hybrid": "fused", "cosine": "cosine", "lexical": "lexical"}


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


def probe_vectors(store: Store, embedder: Embedder, probes: Sequence[str]) -> list[NDArray[np.float32]]:
    """Return the vectors of probes, from the store where they are known; new ones are kept if the lock is free."""
    import hashlib

    from seed.errors import StoreError
    from seed.store.lock import exclusive

    store.register(embedder.identity)
    shas = [hashlib.sha256(b"question\0" + p.encode()).digest() for p in probes]
    rows = store.rows(embedder.identity, shas)
    matrix = store.matrix(embedder.identity) if rows else None
    found: dict[bytes, NDArray[np.float32]] = {}
    if matrix is not None:
        found = {sha: np.asarray(matrix[row]) for sha, row in rows.items()}
    new = {sha: embedder.question(p) for sha, p in zip(shas, probes, strict=True) if sha not in found}
    if new:
        try:
            with exclusive(store.lock_path, 0.5):
                store.add_vectors(embedder.identity, new)
        except StoreError:
            pass  # another process seeds: these vectors cost a second again, nothing else
    return [found[sha] if sha in found else new[sha] for sha in shas]


def calibrate(
    corpus: Corpus,
    plane: Plane | None,
    vectors: Sequence[NDArray[np.float32]],
    probes: Sequence[str],
    fusion: str,
) -> Calibration:
    """Return the floor that the probes set over a corpus: the highest evidence that any record has for any of them."""
    tops = []
    for at, probe in enumerate(probes):
        meaning = plane.meaning(vectors[at]) if plane is not None and vectors else None
        found = evidence(corpus, Phrase(probe, meaning, 0.0), fusion, {})
        tops.append(float(found.fused.max(initial=0.0)))
    return max_probe(probes, tops)


def in_force(
    store: Store,
    corpus: Corpus,
    plane: Plane | None,
    embedder: Embedder | None,
    policy: Policy,
    *,
    chinese: bool,
) -> InForce:
    """Return the floor for one kind of evidence and embedder, computing and keeping it when nobody has yet."""
    fusion = policy.fusion if plane is not None else "lexical"
    on = EVIDENCE[fusion]
    identity = embedder.identity.digest if embedder is not None else ""  # "" is the identity of words alone
    if found := policy.floor_for(identity, on):
        return InForce(found.value, "policy", found.probe)
    probes = shipped_probes()["zh" if chinese else "en"]
    slot = f"{on}/{'zh' if chinese else 'en'}/{digest(probes)[:23]}"
    key = corpus.snapshot.key
    if embedder is None or plane is None:
        return InForce(calibrate(corpus, None, (), probes, fusion).value, "probes")
    stored = store.plane(key, embedder.identity)
    if stored and slot in stored[1]:
        return InForce(float(str(stored[1][slot]["value"])), "probes", str(stored[1][slot]["probe"]))
    made = calibrate(corpus, plane, probe_vectors(store, embedder, probes), probes, fusion)
    if stored and bool((stored[0] >= 0).all()):
        store.save_floor(key, embedder.identity, slot, asdict(made))
    return InForce(made.value, "probes", made.probe)
