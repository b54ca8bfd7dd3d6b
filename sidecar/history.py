"""Agents' own history: what the command line and MCP say of archived sessions, as plain JSON documents.

Neither NumPy nor ONNX Runtime is imported here: keeping and reading sessions needs no model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from seed.errors import SidecarError
from seed.git.repository import open_repository
from seed.store.paths import kept_folder, store_folder
from seed.transcript import candidates, discover, handed, segment_index
from seed.transcript.anchors import anchors
from seed.transcript.archive import Archive, Stored
from seed.transcript.capture import Options
from seed.transcript.capture import capture as keep
from seed.transcript.manifest import Finding, Manifest
from seed.transcript.marks import marks
from seed.transcript.read import MAX_BYTES, Query, numbered, read
from seed.transcript.reader import Reader
from seed.transcript.surface import Ledger, ledger

Document = dict[str, Any]
FINDINGS_SHOWN = 50
NUMBERS = 100_000  # turns that one reading may name


@dataclass(frozen=True, slots=True)
class History:
    """The sessions of one repository: their archive, its root, and the disposable folder of their indexes."""

    archive: Archive
    root: Path
    indexes: Path

    def reader(self, name: str = "") -> Reader:
        """Open a session by id, unique beginning or digest; without a name the one that was captured last."""
        return Reader(self.archive, self.archive.resolve(name) if name else self._last())

    def _last(self) -> Manifest:
        found = list(self.archive.manifests())
        if not found:
            raise SidecarError("no transcript is archived here", "capture one with 'sidecar transcript capture FILE'")
        return max(found, key=lambda one: (one.state.captured, one.id))

    def root_of(self, manifest: Manifest) -> str:
        """Return the folder that a session's paths are told relative to: the repository's, if it ran in it."""
        cwd, root = manifest.identity.cwd, str(self.root)
        return root if cwd == root or cwd.startswith(f"{root}/") else cwd


def open_history(folder: Path) -> History:
    """Open the history of the repository that holds ``folder``. Raises `SidecarError`."""
    repo = open_repository(folder)
    kept = kept_folder(repo.name, repo.common) / "transcripts"
    return History(Archive(kept), repo.root, store_folder(repo.name, repo.common) / "segments")


def described(manifest: Manifest) -> Document:
    """Say what one archived session is, and what is missing from it if something is."""
    identity = manifest.identity
    return {
        "id": manifest.id,
        "digest": manifest.digest,
        "bytes": manifest.size,
        "turns": manifest.turns,
        "format": identity.format,
        **completeness(manifest),
        "session": identity.session,
        "agent": identity.agent,
        "cwd": identity.cwd,
        "stored_bytes": manifest.stored,
        "captured": manifest.state.captured,
        "source": manifest.source,
    }


def completeness(manifest: Manifest) -> Document:
    """Say whether a session is whole; every answer from one that is not carries this."""
    if manifest.complete:
        return {"complete": True}
    omitted = [list(pair) for pair in manifest.omitted]
    return {"complete": False, "omitted": omitted, "redacted": _findings(manifest.redacted)}


def captured(stored: Stored) -> Document:
    """Say what a capture did; secrets are told by rule and place, never by value."""
    secrets = {"secrets": _findings(stored.manifest.secrets)} if stored.manifest.secrets else {}
    return {**described(stored.manifest), "written_bytes": stored.written, "changed": stored.changed, **secrets}


def _findings(found: tuple[Finding, ...]) -> Document:
    shown = [{"rule": one.rule, "turn": one.turn, "start_byte": one.start, "end_byte": one.end} for one in found]
    return {"count": len(found), "places": shown[:FINDINGS_SHOWN]}


def verified(history: History, names: Iterable[str]) -> list[Document]:
    """Read sessions (all when none is named) from end to end, and say of each whether its bytes are all there."""
    outcomes = []
    for name in list(names) or history.archive.ids():
        try:
            manifest = history.archive.resolve(name)
            Reader(history.archive, manifest).verify()
            outcomes.append({"id": manifest.id, "ok": True, "digest": manifest.digest, **completeness(manifest)})
        except SidecarError as error:
            outcomes.append({"id": name, "ok": False, "problem": str(error)})
    return outcomes


def capture(history: History, path: Path, captured: str, options: Options) -> Stored:
    """Keep a session file in the repository's archive. Raises `SidecarError`."""
    return keep(history.archive, path, captured, options)


def with_subagents(path: Path) -> list[Path]:
    """Return a session's file and those of its sub-agents; of a folder, all sessions below it."""
    if path.is_dir():
        return discover.newest_first([path])
    return [path, *discover.subagents(path)]


def newest(history: History, home: Path, environment: Mapping[str, str]) -> Path:
    """Return the session that changed last among those that ran in this repository. Raises `SidecarError`."""
    folders = discover.session_folders(home, environment)
    found = next(discover.of_folder(discover.newest_first(folders), [str(history.root)]), None)
    if found is None:
        places = ", ".join(str(folder) for folder in folders if folder.is_dir()) or "no agent's folder"
        raise SidecarError(f"no session that ran in {history.root} was found in {places}", "name its file")
    return found


def read_document(
    history: History,
    name: str,
    turns: tuple[int, ...] = (),
    seqs: tuple[int, ...] = (),
    *,
    numbers: tuple[int, ...] = (),
    match: str = "",
    offset: int = 0,
    max_bytes: int = MAX_BYTES,
    raw: bool = False,
) -> Document:
    """Read turns of a session by ordinal, by the host's own numbers, or by ``numbers``: its own, if it has some.

    With none of them ``match`` is looked for everywhere. See `seed.transcript.read`.
    """
    reader = history.reader(name)
    if numbers and numbered(reader):
        seqs = (*seqs, *numbers)
    else:
        turns = (*turns, *numbers)
    page = read(reader, Query(turns, seqs, match, offset, max_bytes, raw))
    return {
        "format": 1,
        "transcript": reader.manifest.id,
        **completeness(reader.manifest),
        "turns": [asdict(part) for part in page.parts],
        "matched": page.matched if match else None,
        "unknown": list(page.unknown),
        "next_offset": page.next_offset,
    }


def anchors_document(history: History, name: str, generation: int = 0) -> Document:
    """Index what each compaction of a session removed (or one, by number), and say what is still visible."""
    reader = history.reader(name)
    found = list(marks(((n, raw) for n, _, raw in reader.lines()), reader.manifest.identity.format,
                       history.root_of(reader.manifest)))  # fmt: skip
    told = ledger(found)
    if generation and generation not in {one.number for one in told.generations}:
        known = f"it has {len(told.generations)}" if told.generations else "it was never compacted"
        raise SidecarError(f"{reader.manifest.id} has no generation {generation}", known)
    texts = {one.generation: one for one in anchors(told, found)}
    generations = [
        {
            "generation": one.number,
            "turns": [one.first, one.last],
            "hidden": len(one.hidden),
            "log_only": len(one.log_only),
            "messages": one.messages,
            "at": one.at,
            "trigger": one.trigger,
            "tokens": texts[one.number].tokens,
            "left_out": texts[one.number].left_out,
            "text": texts[one.number].text,
        }
        for one in told.generations
        if generation in {0, one.number}
    ]
    whole = {"transcript": reader.manifest.id, **completeness(reader.manifest)}
    return {"format": 1, **whole, "generations": generations, **_state(told)}


def _state(told: Ledger) -> Document:
    return {
        "surface": len(told.surface),
        "shadowed": len(told.shadowed),
        "log_only": len(told.log_only),
        "replaced": len(told.replaced),
        "failed": [{"at": one.at, "reason": one.reason} for one in told.failed],
        "visible_types": list(told.types),
        "types_derived": told.derived,
        "problems": list(told.problems),
    }


def segmented(history: History, name: str, scheme: str) -> tuple[Reader, segment_index.SegmentIndex]:
    """Return a session with its segments by a scheme: the family's file if it is there, else built and written."""
    reader = history.reader(name)
    path = history.indexes / segment_index.file_name(reader.manifest.id, reader.manifest.digest, scheme)
    index = segment_index.load(path)
    if index is None:
        index = segment_index.build(reader, scheme)
        segment_index.save(path, index)
    return reader, index


def candidates_document(history: History, name: str, *, fresh: bool = False) -> Document:
    """List the places of a session that are worth a record; with ``fresh`` only those not handed on yet."""
    reader = history.reader(name)
    identifier = reader.manifest.id
    lines = ((n, raw) for n, _, raw in reader.lines())
    every = candidates.candidates(lines, reader.manifest.identity.format, history.root_of(reader.manifest))
    seen = handed.known(history.archive, identifier)
    places = [
        {
            "key": one.key,
            "kind": one.kind,
            "quote": one.quote,
            "paths": list(one.paths),
            "related_turns": list(one.related),
            "handed": one.key in seen,
            "source": source_of(identifier, one.turn, one.start, one.end, one.digest),
        }
        for one in every
        if not (fresh and one.key in seen)
    ]
    return {"format": 1, "transcript": identifier, **completeness(reader.manifest), "candidates": places}


def source_of(identifier: str, turn: int, start: int, end: int, digest: str) -> Document:
    """Return a record's source that resolves to exact bytes: they are ``start_byte``..``end_byte`` of the turn."""
    return {"transcript": identifier, "turn": turn, "start_byte": start, "end_byte": end, "digest": digest}
