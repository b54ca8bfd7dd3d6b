"""What others keep, read from the disk: exported pages, notes, bundles and JSON, each to one report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from seed.authoring import worktree_records
from seed.errors import SidecarError
from seed.importers import exchange, facts, files, okf
from seed.importers.facts import Present, Wanted
from seed.importers.model import Document, ImportReport, Skipped
from seed.importers.naming import check_prefix
from seed.importers.restore import checked_target, restore
from seed.reader import build_record
from seed.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from seed.git.repository import Repository
    from seed.importers.exchange import Kept

MARKDOWN = (".md", ".markdown")


def markdown(repo: Repository, paths: Sequence[Path], wanted: Wanted) -> ImportReport:
    """Read Markdown: a page that the sidecar exported gives back its record, any other named file gives its items.

    Raises SidecarError for a path that does not exist, and where nothing was found.
    """
    if wanted.into:
        wanted = Wanted(wanted.kind, wanted.split, wanted.prefix, checked_target(wanted.into), wanted.retire)
    present = _present(repo)
    kept: list[Kept | Skipped] = []
    reports: list[ImportReport] = []
    for item in files.read_texts(paths, MARKDOWN):
        if isinstance(item, Skipped):
            kept.append(item)
            continue
        path, text = item
        page = _page(path, text)
        if page is not None:
            kept.append(page)
        elif Path(path) in paths:
            report = facts.read_notes(_document(repo, path, text), wanted, present)
            present = [*present, *_made(report)]
            reports.append(report)
        else:
            kept.append(Skipped(path, "no page of an export: name the file itself to import its items"))
    if any(not isinstance(one, Skipped) for one in kept) or not reports:
        reports.insert(0, restore(kept, _pairs(present), into=wanted.into or "knowledge"))
    else:
        reports.insert(0, ImportReport("", "", (), tuple(one for one in kept if isinstance(one, Skipped))))
    return _found(_joined(reports), ", ".join(map(str, paths)))


def bundle(repo: Repository, folder: Path, *, prefix: str = "", into: str = "") -> ImportReport:
    """Read a bundle in the Open Knowledge Format, of our own or of others.

    Raises SidecarError for a folder that does not exist or holds no concept.
    """
    if prefix:
        check_prefix(prefix)
    if folder.exists() and not folder.is_dir():
        raise SidecarError(f"{folder} is a file", "name the folder of the bundle")
    read = files.read_texts([folder], (".md",))
    pages = [(Path(item[0]).relative_to(folder).as_posix(), item[1]) for item in read if not isinstance(item, Skipped)]
    kept = [*okf.read_bundle(pages, prefix=prefix), *(item for item in read if isinstance(item, Skipped))]
    return _found(restore(kept, _pairs(_present(repo)), into=_into(into)), str(folder))


def jsonl(repo: Repository, file: Path, *, into: str = "") -> ImportReport:
    """Read an export as JSON or JSON lines, or plain records, one a line; ``-`` is standard input.

    Raises SidecarError for a file that does not exist or holds no record.
    """
    if str(file) == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    else:
        read = files.read_texts([file], ())
        first = read[0] if read else Skipped(str(file), "is a folder")
        if isinstance(first, Skipped):
            raise SidecarError(f"{file}: {first.reason}", "name a file of JSON")
        text = first[1]
    entries = exchange.read_json(text, file.name)
    kept = [Skipped("", str(one)) if isinstance(one, SidecarError) else one for one in entries]
    return _found(restore(kept, _pairs(_present(repo)), into=_into(into)), str(file))


def _page(path: str, text: str) -> Kept | Skipped | None:
    try:
        return exchange.read_page(text, path)
    except SidecarError as error:
        return Skipped(path, str(error))


def _document(repo: Repository, path: str, text: str) -> Document:
    """Return a file of notes by its repository's path; one from elsewhere is known by its name alone."""
    resolved = Path(path).resolve()
    inside = resolved.is_relative_to(repo.root)
    name = resolved.relative_to(repo.root).as_posix() if inside else resolved.name
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return Document(name, plain, "" if inside else f"{name} is not in this repository: only its name is kept")


def _present(repo: Repository) -> list[Present]:
    return [Present(path, record) for path, _, record in worktree_records(repo) if record is not None]


def _pairs(present: Iterable[Present]) -> list[tuple[str, Record]]:
    return [(one.path, one.record) for one in present]


def _made(report: ImportReport) -> list[Present]:
    built = [(one.target, build_record(dict(one.record)).record) for one in report.records]
    return [Present(target, record) for target, record in built if record is not None]


def _into(into: str) -> str:
    return checked_target(into) if into else "knowledge"


def _joined(reports: Sequence[ImportReport]) -> ImportReport:
    intos = list(dict.fromkeys(report.into for report in reports if report.records))
    return ImportReport(
        reports[-1].prefix,
        intos[0] if len(intos) == 1 else "knowledge",
        tuple(one for report in reports for one in report.records),
        tuple(one for report in reports for one in report.skipped),
        tuple(note for report in reports for note in report.notes),
    )


def _found(report: ImportReport, where: str) -> ImportReport:
    if not report.records:
        reasons = "; ".join(f"{one.path} {one.reason}".strip() for one in report.skipped[:3])
        raise SidecarError(f"no record found in {where}: {reasons or 'it holds nothing to read'}", "name another path")
    return report
