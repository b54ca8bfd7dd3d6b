"""Negative controls: each rule that keeps an answer honest is removed, and what proves it has to fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seed.embed.base import ToyEmbedder
from seed.embed.identity import Identity
from seed.policy import Policy
from sidecar.corpus import NOTHING_HELD, Admitted, Corpus
from sidecar.floors import InForce
from sidecar.meaning import Meaning
from sidecar.provider import Provider
from sidecar.query import Query

Remove = Callable[[pytest.MonkeyPatch], None]
Prove = Callable[[Path], None]
RECORDS = {
    "d-far": {
        "title": "alpha beta gamma delta sigma kappa theta lambda",
        "body": "Zeta epsilon rho tau chi nu xi eta.",
    },
    "a-fact": {"title": "zebra quilt", "kind": "fact", "status": "unverified", "body": "Zebra quilt."},
    "b-decision": {"title": "zebra quilt", "body": "Zebra quilt."},
    "c-old": {"title": "zebra quilt", "body": "Zebra quilt.", "status": "superseded", "superseded_by": ["b-decision"]},
}


def provider(folder: Path, projection: str = "toy") -> Provider:
    return Provider(folder, embedders=lambda _policy: [ToyEmbedder(projection=projection)])


def ask(folder: Path, question: str) -> list[str]:
    opened = provider(folder)
    answer = opened.recall(Query(question))
    opened.close()
    return [result["id"] for result in answer["results"]]


def floor_holds(folder: Path) -> None:
    """A question that shares one word of sixteen with a record is not answered by it."""
    assert ask(folder, "alpha wheelbarrow tractor harvest") == []


def weights_hold(folder: Path) -> None:
    """Of two records that say the same, the decision stands before the unverified fact."""
    assert ask(folder, "zebra quilt")[:2] == ["b-decision", "a-fact"]


def status_holds(folder: Path) -> None:
    """A superseded record is not among the results."""
    assert "c-old" not in ask(folder, "zebra quilt")


def identity_holds(folder: Path) -> None:
    """Vectors of one embedder are never taken for another's: both embed every passage."""
    first, second = provider(folder), provider(folder, "another cut")
    assert first.seed()["embedded"] > 0
    assert second.seed()["embedded"] > 0
    first.close()
    second.close()


def no_floor(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Meaning, "floor", lambda *_: InForce(0.0, "probes"))


def no_weights(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Policy, "weight", lambda *_: 1.0)


def no_status(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("sidecar.corpus.status_admits", lambda *_: True)


def no_identity(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Identity, "digest", "sha256:" + "0" * 64)


def no_door(patch: pytest.MonkeyPatch) -> None:
    def everything(corpus: Corpus, *_: Any, **__: Any) -> Admitted:
        every = np.arange(len(corpus.heads), dtype=np.intp)
        return Admitted(every, np.empty(0, np.intp), NOTHING_HELD, every)

    patch.setattr(Corpus, "admit", everything)


@pytest.fixture
def folder(repository: Path, commit: Callable[..., str], record_text: Callable[..., str]) -> Path:
    commit({f"knowledge/{ident}.yaml": record_text(ident, **keys) for ident, keys in RECORDS.items()})
    return repository


@pytest.mark.parametrize(
    ("prove", "remove"),
    [
        (floor_holds, no_floor),
        (weights_hold, no_weights),
        (status_holds, no_status),
        (identity_holds, no_identity),
        (status_holds, no_door),
    ],
    ids=["floor", "weights", "status", "identity", "door"],
)
def test_a_removed_rule_is_noticed(folder: Path, prove: Prove, remove: Remove, monkeypatch: pytest.MonkeyPatch) -> None:
    """What proves a rule passes with it, and fails without it on the same records."""
    prove(folder)
    remove(monkeypatch)
    with pytest.raises(AssertionError):
        prove_anew(folder, prove, monkeypatch)


def prove_anew(folder: Path, prove: Prove, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prove with a store that nothing was seeded into while the rule was in force."""
    monkeypatch.setenv("SIDECAR_HOME", str(folder.parent / "anew"))
    prove(folder)
