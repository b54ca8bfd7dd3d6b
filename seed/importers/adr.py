"""Architecture decision records in a folder to records: ``read_folder`` decides, ``write`` writes.

Forms: Nygard, adr-tools, MADR with and without front matter, log4brains, RFCs with front matter, PEPs and
other reStructuredText, and folders with a kep.yaml. Nothing is invented: what is not written stays
``unknown`` or absent, and every doubt is said.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from seed.errors import SidecarError
from seed.importers import dates, decide, files, kep, markdown, naming, rst, titles, yamltext
from seed.importers.model import Document, Imported, ImportReport, Page, Record, Skipped
from seed.importers.refs import build_index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from seed.importers.naming import Name

__all__ = ["ImportReport", "Imported", "Skipped", "read_documents", "read_folder", "write"]

STATUSES = ("accepted", "rejected", "proposed", "deprecated", "superseded", "historical", "unknown")
_PARSERS: dict[str, Callable[[Document], Page]] = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mdx"), markdown.parse),
    ".rst": rst.parse,
}


def read_folder(folder: Path, *, prefix: str = "", into: str = "", missing_status: str = "") -> ImportReport:
    """Read every record below ``folder``; defaults: ``prefix`` its name, ``into`` ``knowledge/<prefix>``.

    Raises SidecarError for a folder that is missing or holds no record, and for a prefix, status or target
    that cannot be.
    """
    root = files.repository_root(folder)
    base = folder.resolve().relative_to(root).as_posix() if root else ""
    documents, skipped = files.read_documents(folder, _is_read)
    report = read_documents(
        documents,
        prefix=naming.check_prefix(prefix or naming.clean(folder.resolve().name)),
        into=into,
        missing_status=missing_status,
        base=base,
    )
    if not report.records:
        found = f"{len(report.skipped)} files were skipped" if report.skipped else "it holds no Markdown file"
        raise SidecarError(f"no records found in {folder}: {found}", "name the folder that holds the records")
    every = sorted((*report.skipped, *skipped), key=lambda item: item.path)
    return ImportReport(report.prefix, report.into, report.records, tuple(every), report.notes)


def write(report: ImportReport, root: Path, *, force: bool = False, dry_run: bool = False) -> files.Written:
    """Write the report's records below ``root``; a second time nothing changes, and an edited file is kept.

    Raises SidecarError where a file cannot be written.
    """
    return files.write_records(report.records, root, force=force, dry_run=dry_run)


def read_documents(
    documents: Sequence[Document], *, prefix: str, into: str = "", missing_status: str = "", base: str = ""
) -> ImportReport:
    """Decide on documents already read; their paths are relative to the folder ``base`` of its repository.

    Raises SidecarError for a status or target that cannot be.
    """
    if missing_status and missing_status not in STATUSES:
        raise SidecarError(f"--missing-status {missing_status!r} is no status", f"use one of {', '.join(STATUSES)}")
    target = check_target(into or f"knowledge/{prefix}")
    pages, names, skipped = _select(documents)
    ids = naming.assign_ids(prefix, [(page.path, names[page.path]) for page in pages])
    names = titles.with_labels(pages, names)
    notes = {page.path: decide.Notes() for page in pages}
    bare = titles.numbers_bare(pages, names)
    headings = {p.path: titles.title(p, names[p.path], notes[p.path], bare=bare) for p in pages}
    _doubt_shared(pages, names, ids, headings, notes)
    index = build_index((page.path, names[page.path], ids[page.path], headings[page.path]) for page in pages)
    found = {page.path: decide.date_reading(page, names[page.path]) for page in pages}
    order = dates.folder_order(reading[0] for reading in found.values() if reading)
    records = []
    for page in pages:
        note, path = notes[page.path], page.path
        state = decide.status(page, missing_status, note)
        day = decide.date(found[path], order, note)
        links = decide.relate(page, names[path], index, note)
        state = decide.settle(state, links, note)
        record: Record = {"id": ids[path], "kind": "adr", "title": headings[path], "status": state[0]}
        optional: Record = {"status_raw": state[1], "date": day, "tags": decide.tags(page), **links}
        record |= {key: value for key, value in optional.items() if value}
        sources = [PurePosixPath(base, part).as_posix() for part in dict.fromkeys((path, *page.also))]
        record |= {"source": [{"path": source} for source in sources], "body": page.text}
        records.append(_imported(record, page, target, sources[0], note))
    return ImportReport(prefix, target, tuple(records), tuple(skipped), _folder_notes(order, found.values()))


def check_target(into: str) -> str:
    """Return the target folder, normalised.

    Raises SidecarError where it leaves the repository.
    """
    path = PurePosixPath(into.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise SidecarError(f"--into {into!r} leaves the repository", "name a folder below it, e.g. knowledge/adr")
    return path.as_posix()


def _is_read(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in _PARSERS or name.lower() == kep.NAME


def _parse(document: Document) -> Page:
    if document.also:
        return kep.parse(document)
    return _PARSERS.get(PurePosixPath(document.path).suffix.lower(), markdown.parse)(document)


def _select(documents: Sequence[Document]) -> tuple[list[Page], dict[str, Name], list[Skipped]]:
    labels = naming.shared_labels(document.path for document in documents)
    translated = naming.translations(document.path for document in documents)
    pages: list[Page] = []
    names: dict[str, Name] = {}
    skipped: list[Skipped] = []
    for document in sorted(kep.combine(documents), key=lambda d: d.path):
        name = naming.read_name(document.path, labels)
        page = _parse(document)
        reason = naming.skip_reason(document.path, name)
        if original := translated.get(document.path):
            reason = reason or f"a translation of {original}"
        if not reason and not name.number and decide.says_nothing(page):
            reason = "no number, no status, no date and no section of a decision record"
        if not reason and not name.value and titles.is_placeholder(page) and not decide.has_status(page):
            reason = "a template, by its text"
        if reason:
            skipped.append(Skipped(document.path, reason))
        else:
            pages.append(page)
            names[page.path] = name
    return pages, names, skipped


def _doubt_shared(
    pages: Iterable[Page],
    names: dict[str, Name],
    ids: dict[str, str],
    headings: dict[str, str],
    notes: dict[str, decide.Notes],
) -> None:
    """Say of each record that it shares its number or its title with another."""
    groups: dict[str, list[str]] = defaultdict(list)
    for page in pages:
        groups[f"the title {headings[page.path]!r}"].append(page.path)
        if names[page.path].number:
            groups[f"the number {names[page.path].number}"].append(page.path)
    for what, paths in groups.items():
        for path in paths if len(paths) > 1 else ():
            others = ", ".join(ids[other] for other in paths if other != path)
            notes[path].doubts.append(f"{what} is also that of {others}")


def _imported(record: Record, page: Page, target: str, source: str, note: decide.Notes) -> Imported:
    return Imported(
        id=str(record["id"]),
        source=page.path,
        target=f"{target}/{record['id']}.yaml",
        record=record,
        text=files.mark(yamltext.dump(record), source),
        decided=tuple(note.decided),
        doubts=tuple(dict.fromkeys((*page.doubts, *note.doubts))),
    )


def _folder_notes(order: dates.Order, found: Iterable[tuple[dates.Reading, str] | None]) -> tuple[str, ...]:
    readings = [reading[0] for reading in found if reading]
    unclear = sum(reading.ambiguous for reading in readings)
    if not unclear:
        return ()
    known = sum(bool(reading.order) for reading in readings)
    if order:
        return (f"{unclear} dates were read {order}, as the {known} of this folder that leave no choice are",)
    return (f"{unclear} dates could be day or month first, and no other date of the folder settles it: left out",)
