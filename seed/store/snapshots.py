"""A snapshot as one row: JSON for what is read by name, packed integers for what is computed with. Pure."""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seed.errors import DamagedStoreError
from seed.policy import from_json
from seed.record import Problem
from seed.snapshot import Snapshot, Unreadable, head_from_list, head_to_list

Row = tuple[str, str, str, bytes, bytes, bytes]
"""(key, commit, policy, heads, pids, owners with titles and lengths)"""


def encode(snapshot: Snapshot, lengths: NDArray[np.uint32]) -> Row:
    """Return the row of a snapshot; ``lengths`` holds those of its passages, then of its titles."""
    heads = {
        "tree": snapshot.tree,
        "candidates": snapshot.candidates,
        "policy_fault": snapshot.policy_fault,
        "tips": [list(tip) for tip in snapshot.tips],
        "glossary": {term: list(others) for term, others in snapshot.glossary.items()},
        "unreadable": [[u.path, asdict(u.problem)] for u in snapshot.unreadable],
        "heads": [head_to_list(head) for head in snapshot.heads],
    }
    packed = zlib.compress(json.dumps(heads, ensure_ascii=False, separators=(",", ":")).encode(), 1)
    arrays = np.concatenate([snapshot.owners, snapshot.titles, lengths]).astype("<u4")
    pids = snapshot.pids.astype("<u4").tobytes()
    return snapshot.key, snapshot.commit, snapshot.policy.to_json(), packed, pids, arrays.tobytes()


def decode(row: Row) -> tuple[Snapshot, NDArray[np.uint32]]:
    """Return (snapshot, lengths) of a row.

    Raises `DamagedStoreError` for a row that another version wrote in a shape of its own: it is made again from Git.
    """
    try:
        return _decoded(row)
    except (TypeError, KeyError, IndexError, AttributeError) as exc:
        raise DamagedStoreError(
            f"a snapshot was written by another version: {exc}", "it is made again from Git"
        ) from None


def _decoded(row: Row) -> tuple[Snapshot, NDArray[np.uint32]]:
    key, commit, policy, packed, pid_bytes, owner_bytes = row
    data: dict[str, Any] = json.loads(zlib.decompress(packed))
    heads = tuple(head_from_list(head) for head in data["heads"])
    pids = np.frombuffer(pid_bytes, dtype="<u4")
    arrays = np.frombuffer(owner_bytes, dtype="<u4")
    n, m = len(pids), len(heads)
    snapshot = Snapshot(
        key=key,
        commit=commit,
        tree=data["tree"],
        candidates=data["candidates"],
        policy=from_json(policy),
        heads=heads,
        unreadable=tuple(Unreadable(path, Problem(**problem)) for path, problem in data["unreadable"]),
        pids=pids,
        owners=arrays[:n],
        titles=arrays[n : n + m],
        glossary={term: tuple(others) for term, others in data["glossary"].items()},
        policy_fault=data["policy_fault"],
        tips=tuple((ref, commit) for ref, commit in data["tips"]),
    )
    return snapshot, arrays[n + m :]
