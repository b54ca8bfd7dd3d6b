"""`sidecar export`: the records as files for others, every one with its effective status."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sidecar.cli.common import examples, json_option, print_json, provider, repo_option
from sidecar.cli.recall_cmd import BUDGET_SECONDS, filters
from sidecar.quote import safe

if TYPE_CHECKING:
    from sidecar.exporters.collect import Export
    from sidecar.exporters.folder import Placed


@click.group(epilog=examples("sidecar export markdown docs/decisions", "sidecar export json records.json"))
def export() -> None:
    """Write the records as files for others; each says its effective status, and candidates only come when asked."""


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    force = click.option("--force", is_flag=True, help="Write also into a folder that holds other things.")
    return force(filters(json_option(repo_option(command))))


@export.command("markdown", epilog=examples("sidecar export markdown docs/decisions --kind decision --kind adr"))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@_options
def markdown(folder: Path, **options: Any) -> None:  # noqa: ANN401 - click's options
    """Write a Markdown page for each record: decisions as MADR 4, facts and findings with all keys in front."""
    from sidecar.exporters.markdown import files

    _to_folder("markdown", folder, files, options)


@export.command("okf", epilog=examples("sidecar export okf build/knowledge --status accepted"))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@_options
def okf(folder: Path, **options: Any) -> None:  # noqa: ANN401 - click's options
    """Write a bundle in the Open Knowledge Format, version 0.2: concepts, index.md and log.md."""
    from sidecar.exporters.okf import files

    _to_folder("okf", folder, files, options)


@export.command("site", epilog=examples("sidecar export site build/knowledge"))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@_options
def site(folder: Path, **options: Any) -> None:  # noqa: ANN401 - click's options
    """Write plain pages for a documentation host: records, lineage, graph, and a search that needs no server."""
    from sidecar.site.build import files

    _to_folder("site", folder, files, options)


@export.command("json", epilog=examples("sidecar export json records.json", "sidecar export json - --lines"))
@click.argument("file", metavar="FILE|-", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--lines", is_flag=True, help="One record a line.  [default: for a FILE that ends in .jsonl]")
@_options
def json_(file: Path, lines: bool, **options: Any) -> None:  # noqa: ANN401 - click's options
    """Write one JSON document with every record, or JSON lines; - is standard output."""
    from sidecar.exporters import document
    from sidecar.exporters.folder import Placed

    as_lines = lines or file.suffix == ".jsonl"
    taken = _collected(options)
    text = document.lines(taken) if as_lines else document.text(taken)
    if str(file) == "-":
        sys.stdout.write(text)
        return
    _write_file(file, text, force=options["force"])
    _report("json", file, taken, Placed((file.name,)), as_json=options["as_json"])


def _write_file(file: Path, text: str, *, force: bool) -> None:
    from seed.errors import SidecarError

    if file.is_dir():
        raise SidecarError(f"{file} is a folder", "name a file, or - for standard output")
    if file.exists() and not force and not _is_export(file):
        raise SidecarError(f"{file} is there already and is no export", "write over it with --force")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(f".{file.name}.tmp")
        draft.write_text(text, encoding="utf-8", newline="")
        draft.replace(file)
    except OSError as error:
        raise SidecarError(f"{file} cannot be written: {error.strerror}", "check the path and permissions") from None


def _is_export(file: Path) -> bool:
    with file.open("rb") as stream:
        start = stream.read(200)
    return not start.strip() or (start.startswith(b"{") and b'"format": 1' in start)


def _collected(options: dict[str, Any]) -> Export:
    from sidecar.exporters.collect import collect
    from sidecar.query import Query

    names = ("kinds", "statuses", "tags", "path", "workspace", "trust", "after", "before")
    with provider(options["repo"]) as opened:
        return collect(opened, Query(**{name: options[name] for name in names}), BUDGET_SECONDS)


def _to_folder(form: str, folder: Path, files: Callable[[Export], Any], options: dict[str, Any]) -> None:
    from sidecar.exporters.folder import place

    taken = _collected(options)
    placed = place(folder, files(taken), force=options["force"])
    _report(form, folder, taken, placed, as_json=options["as_json"])


def _report(form: str, target: Path, taken: Export, placed: Placed, *, as_json: bool) -> None:
    from sidecar.exporters.collect import counted

    if as_json:
        found = {
            "format": 1,
            "export": form,
            "target": str(target),
            "commit": taken.commit,
            "day": taken.day.isoformat(),
        }
        found |= {"records": len(taken.items), "statuses": taken.statuses, "unreadable": list(taken.unreadable)}
        print_json({**found, "candidates_left_out": taken.candidates, "files": asdict(placed)})
        return
    print(f"{len(taken.items)} records of {taken.commit[:12]} to {safe(str(target))}: {counted(taken.statuses)}.")
    done = {name: len(paths) for name, paths in asdict(placed).items() if paths}
    print("  files: " + ", ".join(f"{count} {name}" for name, count in done.items()))
    for path in placed.kept:
        print(f"  kept, since it was edited: {safe(path)} - take the edit into the record, or use --force")
    for path in taken.unreadable:
        print(f"  left out, since it cannot be read: {safe(path)} - see 'sidecar check'")
    if taken.candidates:
        print(f"  {taken.candidates} candidates left out: nobody has reviewed them (--status candidate)")
