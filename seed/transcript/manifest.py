"""What is known of one stored session: its identity, its frames, and what was left out of it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from seed.errors import SidecarError, StoreError

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a session says it is, by its content. ``base`` names it: format and session id, or a digest."""

    base: str
    format: str
    session: str = ""
    agent: str = ""
    cwd: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """One independently readable zstd frame: bytes raw and stored, newlines, sha256 of the raw bytes."""

    size: int
    stored: int
    newlines: int
    digest: str


@dataclass(frozen=True, slots=True)
class State:
    """The file as one capture saw it: each earlier state is a prefix of the stored bytes."""

    size: int
    turns: int
    digest: str
    captured: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret that was seen: the rule, and where (turn; bytes within it). Never the value."""

    rule: str
    turn: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """One stored session. ``omitted`` are byte ranges of the source that were not stored."""

    id: str
    identity: Identity
    source: str
    frames: tuple[Frame, ...]
    states: tuple[State, ...]
    omitted: tuple[tuple[int, int], ...] = ()
    redacted: tuple[Finding, ...] = ()
    secrets: tuple[Finding, ...] = ()
    format: int = field(default=FORMAT)

    @property
    def state(self) -> State:
        """The file as the last capture that changed something saw it."""
        return self.states[-1]

    @property
    def size(self) -> int:
        """Bytes of the stored session."""
        return self.state.size

    @property
    def turns(self) -> int:
        """Turns of the stored session."""
        return self.state.turns

    @property
    def digest(self) -> str:
        """The sha256 of the stored session."""
        return self.state.digest

    @property
    def stored(self) -> int:
        """Bytes its frames take on disk."""
        return sum(frame.stored for frame in self.frames)

    @property
    def complete(self) -> bool:
        """Whether every byte of the source is here as it was."""
        return not self.omitted and not self.redacted


def dump(manifest: Manifest) -> bytes:
    """Write the manifest as compact JSON; frames as rows, since a long session has hundreds."""
    document = asdict(manifest)
    document["frames"] = [[frame.size, frame.stored, frame.newlines, frame.digest] for frame in manifest.frames]
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def parse(data: bytes, where: str) -> Manifest:
    """Read what `dump` wrote. Raises StoreError when it is damaged, SidecarError for a newer format."""
    try:
        document: dict[str, Any] = json.loads(data.decode("utf-8", "surrogatepass"))
        if document["format"] != FORMAT:
            raise SidecarError(f"{where} has format {document['format']}", "update the sidecar to read it")
        return Manifest(
            id=document["id"],
            identity=Identity(**document["identity"]),
            source=document["source"],
            frames=tuple(Frame(*row) for row in document["frames"]),
            states=tuple(State(**state) for state in document["states"]),
            omitted=tuple((start, end) for start, end in document["omitted"]),
            redacted=tuple(Finding(**finding) for finding in document["redacted"]),
            secrets=tuple(Finding(**finding) for finding in document["secrets"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{where} is damaged ({error})", "capture the session again, or restore a backup") from error
