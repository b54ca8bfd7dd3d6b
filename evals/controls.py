"""Controls that must fail: recall with one rule removed, through arguments that Provider and Query have anyway."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from seed.embed.base import Embedder
from seed.embed.choose import choose
from seed.errors import SidecarError
from seed.policy import Floor, Policy
from seed.seeder import Choose
from sidecar.floors import EVIDENCE
from sidecar.session import Adjust, as_committed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RULES = ("floor", "weights", "instruction", "status", "lexical", "dense")


@dataclass(frozen=True, slots=True)
class Setup:
    """How a run answers: which policy counts, which embedders, and the statuses that override every question's."""

    adjust: Adjust = as_committed
    embedders: Choose = choose
    statuses: tuple[str, ...] = ()


def without(rule: str, setup: Setup) -> Setup:
    """Return a setup with one rule removed. Raises `SidecarError` for a rule that no one knows.

    ``floor``: any evidence above 0 answers. ``weights``: every kind weighs 1. ``instruction``: questions are embedded
    like passages. ``status``: every status answers. ``lexical``: meaning alone. ``dense``: words alone.
    """
    if rule == "status":
        return replace(setup, statuses=("all",))
    if rule == "instruction":
        return replace(setup, embedders=lambda policy: [WithoutInstruction(e) for e in setup.embedders(policy)])
    changes: dict[str, Adjust] = {
        "floor": lambda policy: _floorless(policy, setup.embedders(policy)),
        "weights": lambda policy: replace(policy, weights=dict.fromkeys(policy.weights, 1.0)),
        "lexical": lambda policy: replace(policy, fusion="cosine"),
        "dense": lambda policy: replace(policy, fusion="lexical"),
    }
    if rule not in changes:
        raise SidecarError(f"there is no rule {rule!r} to leave out", f"use one of {', '.join(RULES)}")
    return replace(setup, adjust=lambda policy: changes[rule](setup.adjust(policy)))


def _floorless(policy: Policy, embedders: Sequence[Embedder]) -> Policy:
    identities = ["", *(embedder.identity.digest for embedder in embedders)]
    floors = tuple(Floor(identity, 0.0, on) for identity in identities for on in EVIDENCE.values())
    return replace(policy, floors=floors)


def remembering(setup: Setup) -> Setup:
    """Return a setup whose embedders remember the vector of every question, for all runs made with it."""
    memory: dict[tuple[str, str], NDArray[np.float32]] = {}
    return replace(setup, embedders=lambda policy: [Remembering(e, memory) for e in setup.embedders(policy)])


class Remembering:
    """An embedder that embeds each question once; the memory is shared and keyed by identity and text."""

    def __init__(self, inner: Embedder, memory: dict[tuple[str, str], NDArray[np.float32]]) -> None:
        self.inner, self.memory = inner, memory
        self.identity = inner.identity

    def passages(self, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """Yield the vector of each text."""
        return self.inner.passages(texts)

    def question(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question."""
        key = (self.identity.digest, text)
        if key not in self.memory:
            self.memory[key] = self.inner.question(text)
        return self.memory[key]


class WithoutInstruction:
    """An embedder whose questions are embedded like passages, with an identity that says so."""

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner
        self.identity = replace(inner.identity, question_instruction="")

    def passages(self, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """Yield the vector of each text."""
        return self.inner.passages(texts)

    def question(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text without any instruction."""
        return next(iter(self.inner.passages([text])))
