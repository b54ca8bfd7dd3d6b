"""The report of an import: as JSON, and as lines that a person can check in a minute."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

from sidecar.quote import safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seed.importers.files import Written
    from seed.importers.model import ImportReport

_SIGNS = {"created": "+", "updated": "~", "unchanged": "=", "kept": "!"}


def as_dict(report: ImportReport, written: Written, *, dry_run: bool) -> dict[str, object]:
    """Return the report as JSON-ready values; the records as they stand in the files."""
    return {
        "format": 1,
        "dry_run": dry_run,
        "prefix": report.prefix,
        "into": report.into,
        "written": asdict(written),
        "records": [
            {
                "id": r.id,
                "from": r.source,
                "path": r.target,
                "record": r.record,
                "decided": r.decided,
                "doubts": r.doubts,
            }
            for r in report.records
        ],
        "skipped": [asdict(item) for item in report.skipped],
        "notes": list(report.notes),
    }


def render(report: ImportReport, written: Written, *, dry_run: bool) -> Iterator[str]:
    """Yield the report's lines: a line for every record, its doubts below it, then the summary."""
    signs = {path: _SIGNS[kind] for kind, paths in asdict(written).items() for path in paths}
    for record in report.records:
        yield safe(f"{signs[record.target]} {record.id}: {'; '.join(record.decided)}  <- {record.source}")
        yield from (safe(f"    ? {doubt}") for doubt in record.doubts)
    yield from (safe(f"- skipped {item.path}: {item.reason}") for item in report.skipped)
    yield ""
    yield from summary(report, written, dry_run=dry_run)


def summary(report: ImportReport, written: Written, *, dry_run: bool) -> Iterator[str]:
    """Yield the few lines to check: statuses, dates, relations, doubts, and what was written."""
    statuses = Counter(str(item.record.get("status", "none")) for item in report.records)
    dated = sum("date" in item.record for item in report.records)
    relations = Counter({key: _count(report, key) for key in ("supersedes", "superseded_by", "amends", "amended_by")})
    doubtful = [item for item in report.records if item.doubts]
    skipped = f"{len(report.skipped)} file{'' if len(report.skipped) == 1 else 's'} skipped"
    yield f"{len(report.records)} records into {report.into}/, {skipped}"
    yield f"  status: {', '.join(f'{count} {status}' for status, count in statuses.most_common())}"
    yield from (f"    {line}" for line in wordings(report))
    yield f"  date: {dated} read, {len(report.records) - dated} without"
    yield f"  relations: {', '.join(f'{n} {key}' for key, n in relations.items() if n) or 'none written'}"
    yield f"  doubts: {sum(len(item.doubts) for item in doubtful)} in {len(doubtful)} records, marked ? above"
    yield from (f"  note: {note}" for note in report.notes)
    verb = "would be " if dry_run else ""
    counts = {kind: len(paths) for kind, paths in asdict(written).items()}
    yield "  files: " + ", ".join(f"{n} {verb}{kind}" for kind, n in counts.items() if n)
    if written.kept:
        yield f"  kept as edited since their import: {', '.join(written.kept)} - overwrite them with --force"
    if not report.into.startswith("knowledge/") and report.into != "knowledge":
        yield f"  {report.into}/ is not below knowledge/: none answers - use --into knowledge/{report.prefix}"
    elif not dry_run and (written.created or written.updated):
        yield "  next: look through them, then `git add` and commit; the records answer from that commit on"


def wordings(report: ImportReport) -> Iterator[str]:
    """Yield how each wording of a status was read, the rare ones first: that is where a misreading hides."""
    read: Counter[tuple[str, str]] = Counter()
    for item in report.records:
        raw = str(item.record.get("status_raw", ""))
        read[raw[:40] or "(none written)", str(item.record.get("status", "none"))] += 1
    if {raw for raw, _ in read} == {"(none written)"}:
        return
    for (raw, status), count in sorted(read.items(), key=lambda pair: (pair[1], pair[0])):
        yield f"{count:4} x {raw!r} -> {status}"


def _count(report: ImportReport, relation: str) -> int:
    named = (item.record.get(relation, ()) for item in report.records)
    return sum(len(value) if isinstance(value, (list, tuple)) else 1 for value in named)
