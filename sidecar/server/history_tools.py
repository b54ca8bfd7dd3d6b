"""The tools of the profile `history`: this repository's sessions, kept, found by meaning, read back, and connected.

Which sessions may be kept is the server's to say, never an argument's: those that ran in this repository.
"""

from __future__ import annotations

import json
import os
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from seed.errors import SidecarError
from seed.transcript.segments import DEFAULT
from sidecar.server.spec import BUDGET_SECONDS, Reply, Spec, fields

if TYPE_CHECKING:
    from sidecar.draft import Proposer
    from sidecar.provider import Provider

MAX_TEXTS = 200
Transcript = Annotated[str, Field(description="id; empty: captured last")]
Scheme = Literal["whole-turn", "structural", "sized-900", "changepoint"]
Numbers = Annotated[list[int], Field(description="turns by the host's own numbers")]


def context_capture(
    provider: Provider,
    who: Proposer,
    files: Annotated[list[str], Field(description="session files; empty: the newest of this repository")] = [],  # noqa: B006 - read only
) -> Reply:
    """Keep sessions that ran in this repository, byte for byte, so that they can be found and read later."""
    from seed.transcript.capture import Options
    from seed.transcript.discover import session_folders
    from sidecar import history
    from sidecar.belonging import require_own, require_place

    del who
    opened = history.open_history(provider.session.folder)
    named = [_path(name) for name in files] or [history.newest(opened, Path.home(), os.environ)]
    for folder in (one for one in named if one.is_dir()):
        require_place(provider.session.repo, folder, session_folders(Path.home(), os.environ))
    paths = [path for one in named for path in history.with_subagents(one)]
    for path in paths if not provider.any_session else ():
        require_own(provider.session.repo, path)
    if not paths:
        raise SidecarError(f"no session is in {', '.join(map(str, named))}", "name a session file")
    now = provider.clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    kept = [history.captured(history.capture(opened, path, now, Options())) for path in paths]
    return _told({"format": 1, "captured": kept})


def context_segment(provider: Provider, transcript: Transcript = "", scheme: Scheme = DEFAULT) -> Reply:
    """Cut a session into segments, an index into its bytes; context_address does so by itself."""
    from sidecar import history

    reader, index = history.segmented(history.open_history(provider.session.folder), transcript, scheme)
    told = {"transcript": index.transcript, "digest": index.digest, "scheme": scheme, "version": index.version}
    return _told({"format": 1, **told, "segments": len(index), **history.completeness(reader.manifest)})


def context_address(
    provider: Provider,
    question: Annotated[str, Field(description="what was said or done, in one sentence")],
    limit: Annotated[int, Field(ge=1, le=50)] = 5,
    transcripts: Annotated[list[str], Field(description="only these; empty: all kept")] = [],  # noqa: B006 - as above
    scheme: Scheme = DEFAULT,
    plane: Annotated[str, Field(description="an attached plane, with vector")] = "main",
    vector: Annotated[str, Field(description='JSON {"embedder", "vector"} of the question')] = "",
) -> Reply:
    """Find where earlier sessions speak of a question: exact bytes, verdict "weak" or "none", what was searched."""
    from sidecar.asking import Asking
    from sidecar.segment_planes import open_plane

    asker, outside = provider.addresser, None
    if vector:
        name = transcripts[0] if transcripts else ""
        outside = open_plane(asker.history, name, scheme, plane, _object(vector))
    return _found(asker.address(Asking(question, limit, scheme, tuple(transcripts), BUDGET_SECONDS), outside=outside))


def context_read(
    provider: Provider,
    transcript: Transcript = "",
    turns: Annotated[list[int], Field(description="turns by ordinal, from 0")] = [],  # noqa: B006 - as above
    seqs: Numbers = [],  # noqa: B006
    match: Annotated[str, Field(description="only turns with this text, cut to what is around it")] = "",
    offset: Annotated[int, Field(ge=0, description="next_offset")] = 0,
    max_bytes: Annotated[int, Field(ge=4)] = 20000,
) -> Reply:
    """Read turns of a session verbatim, tool calls and their results included, also those that were compacted away."""
    from sidecar import history

    if not turns and not seqs and not match:
        raise SidecarError("nothing is asked", "give turns, seqs, or a match")
    opened = history.open_history(provider.session.folder)
    told = history.read_document(
        opened, transcript, tuple(turns), tuple(seqs), match=match, offset=offset, max_bytes=max_bytes
    )
    parts = [_part(one) for one in told["turns"]]
    rest = {key: value for key, value in told.items() if key != "turns"}
    return Reply(told, "\n".join([*parts, json.dumps(rest, ensure_ascii=False)]))


def context_anchors(
    provider: Provider,
    transcript: Transcript = "",
    generation: Annotated[int, Field(ge=0, description="0: all")] = 0,
) -> Reply:
    """List what each compaction of a session removed: paths, decisions, failures, with the numbers to read."""
    from sidecar import history

    told = history.anchors_document(history.open_history(provider.session.folder), transcript, generation)
    rest = {key: value for key, value in told.items() if key != "generations"}
    texts = [one["text"] for one in told["generations"]]
    return Reply(told, "\n\n".join([*texts, json.dumps(rest, ensure_ascii=False)]))


def context_segment_export(
    provider: Provider,
    transcript: Transcript = "",
    scheme: Scheme = DEFAULT,
    sample: Annotated[int, Field(ge=0, description="only so many, at even distances")] = 0,
    start: Annotated[int, Field(ge=0, description="next")] = 0,
    limit: Annotated[int, Field(ge=1, le=MAX_TEXTS)] = 50,
) -> Reply:
    """Get the texts of segments to embed elsewhere, and the identity that must come back with the vectors."""
    from sidecar import history
    from sidecar.segment_planes import view_document

    opened = history.open_history(provider.session.folder)
    return _told(view_document(opened, transcript, scheme, sample, start, limit))


def context_attach_vectors(
    provider: Provider,
    who: Proposer,
    lines: Annotated[list[str], Field(description='JSON: {"identity", "embedder"}, then {"segment", "vector"}s')] = [],  # noqa: B006
    file: Annotated[str, Field(description="a file of such lines instead")] = "",
    plane: Annotated[str, Field(description="its name")] = "main",
) -> Reply:
    """Keep vectors that were made elsewhere beside a session; wrong ones are INCOMPARABLE, with the part named."""
    from sidecar import history
    from sidecar.segment_planes import attach

    del who
    opened = history.open_history(provider.session.folder)
    if file and lines:
        raise SidecarError("both lines and a file are given", "give one of them")
    if not file:
        return _told(attach(opened, lines, plane))
    try:
        with _path(file).open(encoding="utf-8", newline="\n") as rows:
            return _told(attach(opened, rows, plane))
    except (OSError, UnicodeDecodeError) as exc:
        reason = getattr(exc, "strerror", exc)
        raise SidecarError(f"cannot read {file}: {reason}", "name a file of JSON lines") from None


def search_graph(
    provider: Provider,
    about: Annotated[str, Field(description="record id, repository path, commit, or transcript#turn")],
    types: Annotated[list[str], Field(description="edge types; empty: relations, sources, mentions-path")] = [],  # noqa: B006
    depth: Annotated[int, Field(ge=1, le=6)] = 1,
) -> Reply:
    """Walk from a record, path, commit or turn to what it is joined with; each edge names the place it rests on."""
    from sidecar.graph import Graph, sources

    graph = Graph(provider, BUDGET_SECONDS)
    return _told(sources(graph, graph.walk(about, types, depth)))


def _told(structured: dict[str, Any]) -> Reply:
    return Reply(structured, json.dumps(structured, ensure_ascii=False))


def _found(told: dict[str, Any]) -> Reply:
    """Show the text of each place as it is, the facts as JSON around it."""
    shown = []
    for one in told["results"]:
        facts = {key: value for key, value in one.items() if key not in {"text", "base64"}}
        shown.append(f"--- {json.dumps(facts, ensure_ascii=False)}\n{one['text']}")
    rest = {key: value for key, value in told.items() if key != "results"}
    return Reply(told, "\n".join([*shown, json.dumps(rest, ensure_ascii=False)]))


def _part(one: dict[str, Any]) -> str:
    facts = {key: value for key, value in one.items() if key != "text"}
    return f"--- {json.dumps(facts, ensure_ascii=False)}\n{one['text']}"


def _path(name: str) -> Path:
    if not name or "\0" in name:
        raise SidecarError(f"{name[:80]!r} is no path", "name a file")
    path = Path(name)
    try:
        odd = path.exists() and not (path.is_file() or path.is_dir())
    except OSError as exc:
        raise SidecarError(f"cannot read {name[:200]}: {exc.strerror}", "name a file") from None
    if odd:
        raise SidecarError(f"{name} is no file: reading it might never end", "name a file")
    return path


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise SidecarError("vector is no JSON object", 'write {"embedder": {...}, "vector": [...]}')
    return found


HISTORY = (
    Spec(context_capture, "Keep sessions", fields("captured"), writes=True),
    Spec(context_segment, "Cut into segments", fields("transcript segments")),
    Spec(context_address, "Find in sessions", fields("verdict results coverage receipt")),
    Spec(context_read, "Read turns", fields("turns", "next_offset unknown")),
    Spec(context_anchors, "What was compacted", fields("generations")),
    Spec(context_segment_export, "Texts to embed", fields("identity covers texts", "next")),
    Spec(context_attach_vectors, "Attach vectors", fields("plane covers"), writes=True),
    Spec(search_graph, "Walk the graph", fields("nodes edges", "sources")),
)
