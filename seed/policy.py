"""A project's policy as one frozen dataclass, with the shipped defaults. Pure; parsing is in seed.schema."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Literal

Fusion = Literal["hybrid", "cosine", "lexical"]

WEIGHTS: dict[str, float] = {
    "decision": 2.0,
    "adr": 2.0,
    "fact": 1.7,
    "finding": 1.5,
    "unverified_fact": 1.0,
    "history": 1.0,
    "candidate": 0.8,
}


@dataclass(frozen=True, slots=True)
class Floor:
    """The evidence at or below which a hit is no answer, for one embedder identity (its digest)."""

    embedder: str
    value: float
    on: str = "fused"
    method: str = "max_probe"
    probes: str = ""
    probe: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class Policy:
    """What `knowledge/policy.yaml` of one commit decides; every field has a shipped default."""

    model: str = "minilm-l6-v2"
    languages: str = "use-multilingual-v3"
    fusion: Fusion = "hybrid"
    passage_chars: int = 900
    beta: float = 0.0
    floors: tuple[Floor, ...] = ()
    weights: dict[str, float] = field(default_factory=lambda: dict(WEIGHTS))
    workspaces: dict[str, str] = field(default_factory=dict)
    push: Literal["never", "ask", "auto"] = "ask"
    per_session: int = 10
    default_branch: str = ""
    engine: Literal["sqlite", "postgresql"] = "sqlite"

    def floor_for(self, embedder: str, on: str) -> Floor | None:
        """Return the floor of an embedder identity (digest) on one kind of evidence, or None."""
        return next((f for f in self.floors if f.embedder == embedder and f.on == on), None)

    def weight(self, kind: str, status: str) -> float:
        """Return the weight of a kind: candidates their own, a fact that is not verified its own."""
        if status == "candidate":
            return self.weights["candidate"]
        if kind == "fact" and status != "verified":
            return self.weights["unverified_fact"]
        return self.weights[kind]

    def to_json(self) -> str:
        """Return the canonical JSON text, from which `digest` and the stored copy are made."""
        values = asdict(self)
        if not self.beta:  # what is not used changes no digest, so that receipts of before it replay
            del values["beta"]
        return json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"))

    @property
    def digest(self) -> str:
        """Return the sha256 of the canonical JSON: two equal digests answer alike."""
        return "sha256:" + hashlib.sha256(self.to_json().encode()).hexdigest()


def from_json(text: str) -> Policy:
    """Return the policy that `Policy.to_json` wrote."""
    data = json.loads(text)
    data["floors"] = tuple(Floor(**floor) for floor in data["floors"])
    return Policy(**data)
