"""Start a record: the next free id, today's date, the status its kind starts with, in a file of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path

from seed.errors import SidecarError
from seed.git.repository import KNOWLEDGE, Repository
from seed.git.sources import of_worktree
from seed.git.tree import UnreadableBlobError, is_record_path
from seed.reader import parse_record
from seed.record import KINDS, Record
from seed.rewrite import scalar

FIRST_STATUS: dict[str, str] = {
    # A person who writes the file into a pull request has decided; what merely seems so waits to be verified.
    "decision": "accepted",
    "adr": "accepted",
    "fact": "unverified",
    "finding": "unverified",
    "history": "historical",
}
_FOLDERS = {"history": "history"}

SECTIONS: dict[str, Sequence[str]] = {
    "decision": ("Context", "Decision", "Consequences"),
    "adr": ("Context", "Decision", "Consequences"),
    "finding": ("What was seen", "What follows"),
    "history": ("What happened",),
}
_NUMBERED = re.compile(r"(?!.*-\d{8}-)(.*[A-Za-z_.-])(\d{1,6})")
"""An id that counts on; a proposed one, which holds its day and a part of a digest, does not."""


def folder_of(kind: str) -> str:
    """Return the folder where records of a kind are put unless a project does otherwise."""
    return f"{KNOWLEDGE}/{_FOLDERS.get(kind, f'{kind}s')}"


def worktree_records(repo: Repository) -> list[tuple[str, bytes, Record | None]]:
    """Return (path, bytes, record or None) of every record file of the working tree, in path order."""
    found: list[tuple[str, bytes, Record | None]] = []
    for source in of_worktree(repo):
        if source.refused or not is_record_path(source.path):
            continue
        try:
            data = source.read()
        except UnreadableBlobError:
            found.append((source.path, b"", None))
            continue
        found.append((source.path, data, parse_record(data).record))
    return found


def taken(records: Iterable[tuple[str, bytes, Record | None]]) -> set[str]:
    """Return the ids in use, folded; an unreadable file counts by its name, so that its id is not given away."""
    ids: set[str] = set()
    for path, _, record in records:
        ids.add(path.rsplit("/", 1)[-1].removesuffix(".yaml").casefold())
        if record is not None:
            ids.add(record.id.casefold())
    return ids


def next_id(ids: Iterable[str], like: str, kind: str) -> str:
    """Return the id with the largest number + 1, after the pattern of ``like``, else ``<kind>-0001`` and so on."""
    match = _NUMBERED.fullmatch(like)
    stem, width = (match.group(1), len(match.group(2))) if match else (f"{kind}-", 4)
    pattern = re.compile(re.escape(stem.casefold()) + r"(\d{1,6})")
    numbers = [int(found.group(1)) for ident in ids if (found := pattern.fullmatch(ident))]
    return f"{stem}{max(numbers, default=0) + 1:0{width}d}"


def start_record(repo: Repository, kind: str, title: str, today: date) -> tuple[str, Path]:
    """Write a new record of a kind and return (its id, its file). Raises `SidecarError`; nothing is overwritten."""
    if kind not in KINDS:
        raise SidecarError(f"kind {kind!r} is not known", f"use one of {', '.join(KINDS)}")
    words = " ".join(title.split())
    if not words:
        raise SidecarError("the title is empty", "say in one sentence what holds")
    if repo.bare:
        raise SidecarError(f"{repo.name} is bare: it has no working tree to write to", "run this in a clone")
    ident = next_id(taken(worktree_records(repo)), "", kind)
    file = repo.root / folder_of(kind) / f"{ident}.yaml"
    data = template(ident, kind, words, today).encode()
    parsed = parse_record(data).record
    if parsed is None or parsed.title != words:
        raise SidecarError("the title has characters that a record cannot hold", "leave out control characters")
    _create(repo.root, file, data)
    return ident, file


def template(ident: str, kind: str, title: str, today: date) -> str:
    """Return the text of a new record: its headings are what a reader needs to judge it again later."""
    body = "\n\n".join(f"  ## {section}" for section in SECTIONS.get(kind, ()))
    lines = [
        f"id: {ident}",
        f"kind: {kind}",
        f"title: {scalar(title)}",
        f"status: {FIRST_STATUS[kind]}",
        f"date: {today}",
    ]
    lines += ["body: |", body] if body else ["# source: [{path: where/it/was/learnt.md}]"]
    return "\n".join(lines) + "\n"


def _create(root: Path, file: Path, data: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.parent.resolve() != file.parent:
            raise SidecarError(
                f"{file.parent.relative_to(root)} is reached through a symbolic link",
                "make it a real folder: records are never read through a link",
            )
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        raise SidecarError(f"{file.relative_to(root)} is there already", "nothing was overwritten; try again") from None
    except OSError as exc:
        raise SidecarError(f"{file} cannot be written: {exc.strerror}", "check its folder's permissions") from None
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
