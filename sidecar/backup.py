"""`sidecar backup` and `sidecar restore`: what only this machine has, as one file for another.

A ZIP file: ``backup.json`` (format, repository, counts), ``receipts.jsonl`` in the order of the chain,
``transcripts/<id>.json`` (manifests) with ``frames/<sha256>.zst``, and ``candidates.bundle``.
"""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from seed.errors import SidecarError, StoreError
from seed.git.bundle import read_bundle, write_bundle
from seed.git.repository import Repository, open_repository
from seed.store.paths import kept_folder
from seed.store.receipts import receipts_file
from seed.transcript import manifest
from seed.transcript.archive import Archive
from seed.transcript.restore import restore as restore_session
from sidecar.receipt import parse_receipt
from sidecar.shelf import asked, open_receipts

_HEAD, _RECEIPTS, _BUNDLE = "backup.json", "receipts.jsonl", "candidates.bundle"
_SESSIONS, _FRAMES = "transcripts/", "frames/"


def backup(folder: Path, file: Path) -> dict[str, Any]:
    """Write receipts, transcripts and unpushed candidate branches to ``file``, whole or not at all.

    Returns what it holds. Raises `SidecarError` when something kept cannot be read or the file not be written.
    """
    repo = open_repository(folder)
    kept = kept_folder(repo.name, repo.common)
    with _replaced(file) as scratch, zipfile.ZipFile(scratch, "w", zipfile.ZIP_DEFLATED) as archive:
        held = {
            "format": 1,
            "repository": repo.name,
            "receipts": _put_receipts(archive, repo),
            "transcripts": _put_sessions(archive, Archive(kept / "transcripts")),
            "candidates": _put_branches(archive, repo),
        }
        archive.writestr(_HEAD, json.dumps(held))
    return {**held, "file": str(file), "bytes": file.stat().st_size}


@contextmanager
def _replaced(file: Path) -> Iterator[Path]:
    """Give a file beside the one that is meant, and rename it when all went well."""
    try:
        descriptor, name = tempfile.mkstemp(dir=file.absolute().parent, prefix=f".{file.name}.")
        os.close(descriptor)
    except OSError as exc:
        raise SidecarError(f"{file} cannot be written: {exc.strerror}", "name a file in a writable folder") from None
    try:
        yield Path(name)
        Path(name).replace(file)
    finally:
        Path(name).unlink(missing_ok=True)


def _put_receipts(archive: zipfile.ZipFile, repo: Repository) -> int:
    chain: list[dict[str, Any]] = []
    if asked(repo) or receipts_file(kept_folder(repo.name, repo.common)).exists():
        with closing(open_receipts(repo)) as receipts:
            chain = receipts.chain()
    archive.writestr(_RECEIPTS, "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in chain))
    return len(chain)


def _put_sessions(archive: zipfile.ZipFile, sessions: Archive) -> int:
    done: set[str] = set()
    for ident in sessions.ids():
        session = sessions.load(ident)
        for frame in session.frames:
            if frame.digest not in done:
                path = sessions.frames(ident).path(frame.digest)
                archive.write(path, f"{_FRAMES}{frame.digest}.zst", zipfile.ZIP_STORED)
                done.add(frame.digest)
        archive.writestr(f"{_SESSIONS}{ident}.json", manifest.dump(session))
    return len(sessions.ids())


def _put_branches(archive: zipfile.ZipFile, repo: Repository) -> int:
    with tempfile.TemporaryDirectory(prefix="sidecar-bundle-") as scratch:
        bundle = Path(scratch) / _BUNDLE
        count = write_bundle(repo, bundle)
        if count:
            archive.write(bundle, _BUNDLE, zipfile.ZIP_STORED)
    return count


def restore(folder: Path, file: Path) -> dict[str, Any]:
    """Add what a backup holds to this machine; a second time it adds nothing, and nothing here is overwritten.

    Returns how much was new, and the candidate branches that went another way here. Raises `SidecarError` for a file
    that is no backup, of a newer format, or damaged: receipts are read whole before the first is written.
    """
    repo = open_repository(folder)
    kept = kept_folder(repo.name, repo.common)
    try:
        with zipfile.ZipFile(file) as archive:
            head = _head(archive, file)
            chain = _chain(archive, file)
            sessions = _take_sessions(archive, Archive(kept / "transcripts"))
            with closing(open_receipts(repo)) as receipts:
                added = receipts.restore(chain)
            came, apart = _take_branches(archive, repo)
    except (zipfile.BadZipFile, KeyError, EOFError, ValueError) as exc:
        raise StoreError(f"{file} is no whole backup: {exc}", "make it again with 'sidecar backup FILE'") from None
    except OSError as exc:
        raise SidecarError(f"{file} cannot be restored: {exc.strerror or exc}", "name a file that is there") from None
    new = {"receipts": added, "transcripts": sessions, "candidates": came}
    return {"format": 1, "repository": head["repository"], "new": new, "left": apart}


def _head(archive: zipfile.ZipFile, file: Path) -> dict[str, Any]:
    head = json.loads(archive.read(_HEAD))
    if not isinstance(head, dict) or head.get("format") != 1:
        found = head.get("format") if isinstance(head, dict) else "none"
        raise SidecarError(f"{file} has format {found}, this sidecar knows 1", "update the sidecar")
    return head


def _chain(archive: zipfile.ZipFile, file: Path) -> list[dict[str, Any]]:
    """Return the receipts, each proven to be as it was written and to follow one that is there."""
    chain, seen = [], {""}
    for number, line in enumerate(archive.read(_RECEIPTS).decode("utf-8").split("\n"), 1):
        if line:
            receipt = parse_receipt(line, f"{file}, receipt {number}")
            if receipt.get("previous") not in seen:
                raise StoreError(f"{file}, receipt {number} names one before it that is not there", "use the original")
            seen.add(receipt["id"])
            chain.append(receipt)
    return chain


def _take_sessions(archive: zipfile.ZipFile, sessions: Archive) -> int:
    names = [name for name in archive.namelist() if name.startswith(_SESSIONS)]
    found = [manifest.parse(archive.read(name), name) for name in names]
    for session in found:
        for name in (session.id, session.identity.base, *(frame.digest for frame in session.frames)):
            if Path(name).name != name or name.startswith("."):
                raise StoreError(f"a session of the backup is named {name[:80]!r}", "use the original file")

    def stored(digest: str) -> bytes:
        return archive.read(f"{_FRAMES}{digest}.zst")

    return sum(restore_session(sessions, session, stored) for session in found)


def _take_branches(archive: zipfile.ZipFile, repo: Repository) -> tuple[int, list[str]]:
    if _BUNDLE not in archive.namelist():
        return 0, []
    with tempfile.TemporaryDirectory(prefix="sidecar-bundle-") as scratch:
        bundle = Path(scratch) / _BUNDLE
        bundle.write_bytes(archive.read(_BUNDLE))
        return read_bundle(repo, bundle)
