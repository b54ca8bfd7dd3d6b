"""The embedder identity: two vectors compare only if every part of it is equal. Pure."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields

from seed.errors import IncomparableError


@dataclass(frozen=True, slots=True)
class Identity:
    """Everything that decides what a vector means. ``weights`` and ``tokenizer`` are sha256 or "name-only"."""

    model: str
    weights: str
    tokenizer: str
    dimension: int
    max_tokens: int
    pooling: str
    normalized: bool
    question_instruction: str
    passage_instruction: str
    projection: str

    def to_json(self) -> str:
        """Return the canonical JSON of all parts."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=False, separators=(",", ":"))

    @property
    def digest(self) -> str:
        """Return the sha256 of the canonical JSON."""
        return "sha256:" + hashlib.sha256(self.to_json().encode()).hexdigest()

    @property
    def pinned(self) -> bool:
        """Tell whether weights and tokenizer are known by digest and not by name only."""
        return "name-only" not in (self.weights, self.tokenizer)


def from_json(text: str) -> Identity:
    """Return the identity that `Identity.to_json` wrote."""
    return Identity(**json.loads(text))


def require_equal(held: Identity, asked: Identity) -> None:
    """Raise `IncomparableError` naming the first part that differs."""
    for part in fields(Identity):
        mine, theirs = getattr(held, part.name), getattr(asked, part.name)
        if mine != theirs:
            raise IncomparableError(
                f"INCOMPARABLE: {part.name} differs - {mine} against {theirs}",
                "embed again with one embedder, or name the one that made the vectors",
            )
