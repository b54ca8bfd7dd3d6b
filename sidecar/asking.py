"""What is asked of the sessions kept, and the receipt of its answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any

from seed.errors import SidecarError
from seed.transcript.segments import DEFAULT
from sidecar.history import Document, History
from sidecar.query import MAX_LIMIT, MAX_QUESTION
from sidecar.version import VERSION

if TYPE_CHECKING:
    from sidecar.provider import Provider


@dataclass(frozen=True, slots=True)
class Asking:
    """What to look for, and where: by which scheme, in which sessions (none named: all), for how long to embed."""

    question: str
    limit: int = 5
    scheme: str = DEFAULT
    transcripts: tuple[str, ...] = ()
    budget: float = 2.0

    def check(self) -> None:
        """Raise `SidecarError` for what cannot be meant."""
        if not self.question.strip():
            raise SidecarError("the question is empty", "ask in one sentence")
        if len(self.question) > MAX_QUESTION:
            raise SidecarError(f"the question has {len(self.question)} characters", f"ask in at most {MAX_QUESTION}")
        if not 1 <= self.limit <= MAX_LIMIT:
            raise SidecarError(f"limit {self.limit} is out of range", f"use 1 to {MAX_LIMIT}")


def receipt_of(provider: Provider, history: History, asked: Asking, told: Document, *, outside: bool) -> dict[str, Any]:
    """Return the receipt of an answer, not sealed yet: what was asked, of which sessions, and what came back."""
    archive = history.archive
    kept = [archive.resolve(name) for name in asked.transcripts] or list(archive.manifests())
    return {
        "format": 1,
        "kind": "address",
        "question": asked.question,
        "also": [],
        "arguments": {"limit": asked.limit, "scheme": asked.scheme, "transcripts": list(asked.transcripts)},
        "commit": provider.session.wanted().commit,
        "knowledge_tree": "",
        "candidates": [],
        "embedder": told["embedder"],
        "policy": f"floor {told['floor']}",
        "sessions": {one.id: one.digest for one in kept},
        "outside": outside,
        "provider": VERSION,
        "coverage": told["coverage"],
        "time": provider.clock().astimezone(UTC).isoformat(timespec="milliseconds"),
        "verdict": told["verdict"],
        "returned": returned(told),
    }


def returned(told: Document) -> list[list[str]]:
    """Return (transcript, turn with byte range, turn's digest) of every place an answer named, in order."""
    return [
        [one["transcript"], f"{one['turn']}:{one['start_byte']}-{one['end_byte']}", one["digest"]]
        for one in told["results"]
    ]
