"""The archive of sessions: content-addressed, append-friendly, safe against a crash at any moment.

One folder a session: ``<base>/<id>.json`` (the manifest, replaced atomically) and ``<base>/frames/``.
Writers hold ``<base>/.lock``; readers never wait: a manifest is old or new, and a tail frame that a
newer capture replaced makes them read the manifest again.
"""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from seed.errors import SidecarError, StoreError
from seed.transcript import files, manifest, turns
from seed.transcript.frames import FrameFolder, cut
from seed.transcript.manifest import Finding, Frame, Identity, Manifest, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

STATES_KEPT = 16
DAMAGED = ".damaged"


@dataclass(frozen=True, slots=True)
class Stored:
    """What one capture did: the manifest in force, and how many bytes of frames it had to write."""

    manifest: Manifest
    written: int
    changed: bool


@dataclass(frozen=True, slots=True)
class _Content:
    frames: tuple[Frame, ...]
    state: State
    prefixes: dict[int, str]  # digest of the first N bytes, for the sizes that were asked for
    written: int


class Archive:
    """The sessions kept in ``folder``; the folder is made at the first capture."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def ids(self) -> list[str]:
        """Return the ids of every session kept here, sorted."""
        return sorted(path.stem for path in self.folder.glob("*/*.json"))

    def manifests(self) -> Iterator[Manifest]:
        """Yield every manifest that can be read; a damaged one is left to a verification, which names it."""
        for identifier in self.ids():
            with contextlib.suppress(SidecarError):
                yield self.load(identifier)

    def home(self, identifier: str) -> Path:
        """Return the folder of a session and its variants."""
        return self.folder / identifier.partition("~")[0]

    def frames(self, identifier: str) -> FrameFolder:
        """Return the frames of a session."""
        return FrameFolder(self.home(identifier) / "frames")

    def load(self, identifier: str) -> Manifest:
        """Return the manifest of a session. Raises SidecarError when there is none, or it is damaged."""
        path = self.home(identifier) / f"{identifier}.json"
        try:
            return manifest.parse(path.read_bytes(), str(path))
        except (FileNotFoundError, NotADirectoryError):
            raise SidecarError(
                f"no transcript {identifier} is archived here", "see `sidecar transcript list`"
            ) from None

    def resolve(self, name: str) -> Manifest:
        """Return the session with this id, or the only one whose id or digest begins with it."""
        found = self.ids()
        if name in found:
            return self.load(name)
        matches = [one for one in found if one.startswith(name)] if name else []
        if not matches and name:
            wanted = name if name.startswith("sha256:") else f"sha256:{name}"
            matches = [one.id for one in self.manifests() if one.digest.startswith(wanted)]
        if len(matches) > 1:
            several = ", ".join(matches[:5])
            raise SidecarError(f"{name} begins {len(matches)} transcripts: {several}", "write more of it")
        if not matches:  # and no file is looked for under a name that an agent made up
            raise SidecarError(f"no transcript {name[:200]} is archived here", "see `sidecar transcript list`")
        return self.load(matches[0])

    def store(  # one capture has this many facts, and a class for them would hide them
        self,
        identity: Identity,
        chunks: Iterable[bytes],
        *,
        source: str,
        captured: str,
        omitted: tuple[tuple[int, int], ...] = (),
        redacted: Callable[[], tuple[Finding, ...]] = tuple,
        secrets: Callable[[], tuple[Finding, ...]] = tuple,
    ) -> Stored:
        """Keep the bytes of ``chunks``; ``redacted`` and ``secrets`` are asked once these are all read.

        The same bytes again, or a file that grew, keep their id and store only what is new. A file
        with the same identity that is neither gets the id ``<base>~<8 hex of its digest>``, so
        nothing that was captured is ever lost. Raises StoreError when what is read back differs.
        """
        home = files.private_folder(self.folder / identity.base)
        folder = FrameFolder(files.private_folder(home / "frames"))
        with files.exclusive(home / ".lock"):
            files.remove_leftovers(home)
            files.remove_leftovers(folder.folder)
            known = list(self._readable(home))
            content = _write(folder, chunks, known, captured)
            earlier = _longest_prefix(known, content)
            new = Manifest(
                id=_identifier(identity.base, known, earlier, content.state.digest),
                identity=identity,
                source=source,
                frames=content.frames,
                states=_states(earlier, content.state),
                omitted=omitted,
                redacted=redacted(),
                secrets=secrets(),
            )
            changed = earlier is None or replace(new, source=earlier.source) != earlier
            if content.written:
                files.sync_folder(folder.folder)
            if changed:
                files.write_atomically(home / f"{new.id}.json", [manifest.dump(new)])
            others = [one for one in known if one.id != new.id]
            if not any(home.glob(f"*{DAMAGED}")):
                folder.keep_only({frame.digest for one in [*others, new] for frame in one.frames})
        return Stored(new, content.written, changed)

    def _readable(self, home: Path) -> Iterator[Manifest]:
        """Yield the manifests in ``home``; put a damaged one aside, so that its frames stay too."""
        for path in sorted(home.glob("*.json")):
            try:
                yield self.load(path.stem)
            except StoreError:
                path.rename(path.with_name(path.name + DAMAGED))


def _write(folder: FrameFolder, chunks: Iterable[bytes], known: list[Manifest], captured: str) -> _Content:
    sizes = sorted({one.size for one in known})
    stored = {frame.digest: frame.stored for one in known for frame in one.frames}
    whole, size, written, last = hashlib.sha256(), 0, 0, b""
    frames: list[Frame] = []
    prefixes: dict[int, str] = {}
    for raw in cut(chunks):
        for mark in [mark for mark in sizes if size <= mark <= size + len(raw)]:
            ahead = whole.copy()
            ahead.update(memoryview(raw)[: mark - size])
            prefixes[mark] = f"sha256:{ahead.hexdigest()}"
        frame, cost = folder.put(raw, stored)
        frames.append(frame)
        whole.update(raw)
        size, written, last = size + len(raw), written + cost, raw[-1:]
    lines = turns.count(sum(frame.newlines for frame in frames), last not in (b"\n", b""))
    state = State(size, lines, f"sha256:{whole.hexdigest()}", captured)
    return _Content(tuple(frames), state, {0: turns.digest_of(b""), **prefixes}, written)


def _longest_prefix(known: list[Manifest], content: _Content) -> Manifest | None:
    fits = [one for one in known if content.prefixes.get(one.size) == one.digest]
    return max(fits, key=lambda one: one.size, default=None)


def _identifier(base: str, known: list[Manifest], earlier: Manifest | None, digest: str) -> str:
    if earlier is not None:
        return earlier.id
    if not known:
        return base
    return f"{base}~{digest.removeprefix('sha256:')[:8]}"


def _states(earlier: Manifest | None, state: State) -> tuple[State, ...]:
    if earlier is None:
        return (state,)
    if earlier.digest == state.digest:
        return earlier.states
    return (*earlier.states, state)[-STATES_KEPT:]
