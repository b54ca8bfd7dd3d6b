"""Files that others wrote: records, policy and glossary, question sets, folders to import, sessions.

Each target reads bytes as such a file. It may refuse them with one clear line; anything else that is raised is a find.
Our modules are imported inside, so that a fuzzer can watch their branches from the start.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

Once = Callable[[bytes], None]
SPLIT = b"\n%%\n"
"""Stands between two files of one input, and between a file's path and its text."""


class BrokenPromiseError(AssertionError):
    """What came out is not what was promised: the kind of it, by which finds are told apart, and what it was."""


def records(_: Path) -> Once:
    """Record files together: read, checked, cut, edited, and searched for secrets."""
    from seed import check, edit, lifecycle, passages, reader, secrets
    from seed.assemble import title_terms
    from seed.errors import SidecarError

    def once(data: bytes) -> None:
        files = [(f"knowledge/{n}.yaml", reader.parse_record(part)) for n, part in enumerate(data.split(SPLIT))]
        found = [parsed.record for _, parsed in files if parsed.record is not None]
        check.check(files)
        lifecycle.standings(found, frozenset())
        for record in found:
            title_terms(record)
            for passage in passages.cut(record.title, record.body):
                if record.body[passage.start : passage.end] not in passage.text:
                    raise BrokenPromiseError("a passage is no part of its body", passage)
        secrets.find(data)
        first = reader.parse_record(data)
        with suppress(SidecarError):
            after = reader.parse_record(edit.with_values(data, {"status": "deprecated"}))
            if first.record and (after.record is None or after.record.title != first.record.title):
                raise BrokenPromiseError("setting a status made another record of it")

    return once


def settings(_: Path) -> Once:
    """Policy and glossary, question sets and gates."""
    from evals.gates import parse_gates
    from evals.questions import parse_questions
    from seed import policy, schema
    from seed.errors import SidecarError

    def once(data: bytes) -> None:
        schema.policy_problems(data)
        schema.glossary_problems(data)
        for read in (schema.parse_glossary, parse_questions, parse_gates):
            with suppress(SidecarError):
                read(data)
        with suppress(SidecarError):
            found = schema.parse_policy(data)
            if policy.from_json(found.to_json()).digest != found.digest:
                raise BrokenPromiseError("a policy does not survive its own JSON")

    return once


def importers(_: Path) -> Once:
    """Folders of ADRs, RFCs, PEPs and KEPs: what comes out is a record that reads back as it was meant."""
    from seed.errors import SidecarError
    from seed.importers import adr
    from seed.importers.model import Document
    from seed.reader import parse_record

    def once(data: bytes) -> None:
        parts = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").split(SPLIT.decode())
        pairs = zip(parts[::2], parts[1::2], strict=False)
        documents = {path.strip("/ \n") or "x.md": text for path, text in pairs}
        with suppress(SidecarError):
            report = adr.read_documents([Document(path, text) for path, text in documents.items()], prefix="adr")
            for one in report.records:
                parsed = parse_record(one.text.encode())
                if parsed.record is None or parsed.record.title != str(one.record["title"]).strip():
                    raise BrokenPromiseError("an import does not read back", one.text, parsed.problems)

    return once


def sessions(folder: Path) -> Once:
    """Sessions of every host: kept byte for byte, cut by every scheme, walked and read."""
    from seed.errors import SidecarError
    from seed.transcript import edges, segment_index
    from seed.transcript.archive import Archive
    from seed.transcript.capture import Options
    from seed.transcript.segments import SCHEMES
    from sidecar import history

    def once(data: bytes) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        path, opened = folder / "a.jsonl", history.History(Archive(folder / "kept"), folder, folder / "segments")
        path.write_bytes(data)
        with suppress(SidecarError):
            kept = history.capture(opened, path, "2026-01-01T00:00:00Z", Options()).manifest
            reader = opened.reader(kept.id)
            if reader.read(0, len(data) + 1) != data:
                raise BrokenPromiseError("a session is not kept byte for byte")
            for scheme in SCHEMES:
                list(segment_index.views(*history.segmented(opened, kept.id, scheme)))
            history.anchors_document(opened, kept.id)
            history.candidates_document(opened, kept.id)
            list(edges.edges(((n, raw) for n, _, raw in reader.lines()), kept.identity.format, str(folder)))
            for raw in (False, True):
                history.read_document(opened, kept.id, tuple(range(min(kept.turns, 3))), raw=raw, max_bytes=500)
            history.read_document(opened, kept.id, match="decided")

    return once
