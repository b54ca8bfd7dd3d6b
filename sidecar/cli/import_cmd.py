"""``sidecar import``: existing documents to records, with a report that a person can check in a minute."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seed.errors import SidecarError
from seed.importers import adr
from seed.importers.files import Written, repository_root
from sidecar.cli.common import narrow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seed.importers.model import ImportReport

_SIGNS = {"created": "+", "updated": "~", "unchanged": "=", "kept": "!"}


@click.group("import")
def command() -> None:
    """Turn existing documents into records."""


@command.command("adr")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--into", default="", metavar="DIR", help="Where records go.  [default: knowledge/PREFIX]")
@click.option("--prefix", default="", help="What ids begin with.  [default: the base name of DIR]")
@click.option("--missing-status", default="", metavar="S", help="For records that state none.  [default: unknown]")
@click.option("--dry-run", is_flag=True, help="Say what would be done, write nothing.")
@click.option("--force", is_flag=True, help="Overwrite records that were edited after their import.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option(
    "--repo",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="DIR",
    help="The repository to write to.",
)
def import_adr(
    folder: Path,
    into: str,
    prefix: str,
    missing_status: str,
    *,
    dry_run: bool,
    force: bool,
    as_json: bool,
    repo: Path,
) -> None:
    """Import the decision records below DIR: Nygard, adr-tools, MADR, log4brains and their like.

    Prints for every record what was decided and from where, and what could not be told. Nothing is invented:
    a status that is not written stays unknown. Run it again at any time: what has not changed is not written,
    and a record that you edited is kept.

    \b
    Examples:
      sidecar import adr docs/adr --dry-run
      sidecar import adr docs/decisions --prefix payments --into knowledge/payments
      sidecar import adr docs/adr --missing-status accepted
    """  # noqa: D301 - click's mark for text it must not reflow
    try:
        report = adr.read_folder(folder, prefix=prefix, into=into, missing_status=missing_status)
        written = adr.write(report, target_root(repo), force=force, dry_run=dry_run)
    except SidecarError as error:
        click.echo(f"sidecar: {error}", err=True)
        raise SystemExit(error.code) from error
    if as_json:
        click.echo(json.dumps(as_dict(report, written, dry_run=dry_run), ensure_ascii=narrow(), indent=1))
    else:
        for line in render(report, written, dry_run=dry_run):
            click.echo(line)


def target_root(repo: Path) -> Path:
    """Return the root of the repository that holds ``repo``.

    Raises SidecarError where there is none.
    """
    root = repository_root(repo)
    if root is None:
        raise SidecarError(f"{repo.resolve()} is in no Git repository", "run it in one, or name one with --repo DIR")
    return root


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
        yield f"{signs[record.target]} {record.id}: {'; '.join(record.decided)}  <- {record.source}"
        yield from (f"    ? {doubt}" for doubt in record.doubts)
    yield from (f"- skipped {item.path}: {item.reason}" for item in report.skipped)
    yield ""
    yield from summary(report, written, dry_run=dry_run)


def summary(report: ImportReport, written: Written, *, dry_run: bool) -> Iterator[str]:
    """Yield the few lines to check: statuses, dates, relations, doubts, and what was written."""
    statuses = Counter(str(item.record["status"]) for item in report.records)
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
        read[raw[:40] or "(none written)", str(item.record["status"])] += 1
    for (raw, status), count in sorted(read.items(), key=lambda pair: (pair[1], pair[0])):
        yield f"{count:4} x {raw!r} -> {status}"


def _count(report: ImportReport, relation: str) -> int:
    return sum(len(item.record.get(relation, ())) for item in report.records)
