"""What the last scan for contradictions left, in the disposable store, where every process that answers finds it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache

from seed.store.engine import Engine
from sidecar.conflicts import Pair

PAIRS, SEEN = "conflicts", "conflicts-seen"
"""The notes that hold them: every answer asks for the pairs, only the next scan for what was compared."""
_FORMAT = 2


@dataclass(frozen=True, slots=True)
class Scanned:
    """What the last scan left: the embedder it compared with, the blob of each record (by folded id), its pairs.

    ``when`` is in seconds since the epoch, 0 for never.
    """

    identity: str = ""
    seen: Mapping[str, str] = field(default_factory=dict)
    pairs: tuple[Pair, ...] = ()
    when: float = 0.0


def pairs(store: Engine) -> tuple[Pair, ...]:
    """Return the pairs that the last scan left; none when there was no scan or its note cannot be read."""
    return _pairs(store.noted(PAIRS))


@lru_cache(maxsize=8)
def _pairs(text: str) -> tuple[Pair, ...]:
    """Read each note once: every answer asks for it."""
    try:
        data = json.loads(text)
        found = tuple(
            Pair(tuple(p["ids"]), tuple(p["blobs"]), p["cosine"], p["why"], p["differs"]) for p in data["pairs"]
        )
        return found if data["format"] == _FORMAT else ()
    except (ValueError, KeyError, TypeError):
        return ()


def load(store: Engine) -> Scanned:
    """Return all that the last scan left; nothing when there was none or it cannot be read."""
    try:
        data = json.loads(store.noted(SEEN))
        known = Scanned(data["identity"], data["seen"], pairs(store), data["when"])
        return known if data["format"] == _FORMAT else Scanned()
    except (ValueError, KeyError, TypeError):
        return Scanned()


def save(store: Engine, scanned: Scanned) -> None:
    """Keep what a scan found. Raises `StoreError` when the store takes no writing."""
    # The pairs first: a scan that is cut off between the two compares again what it had compared.
    left = {"format": _FORMAT, "pairs": [asdict(pair) for pair in scanned.pairs]}
    store.note(PAIRS, json.dumps(left))
    seen = {"format": _FORMAT, "identity": scanned.identity, "seen": dict(scanned.seen), "when": time.time()}
    store.note(SEEN, json.dumps(seen))
