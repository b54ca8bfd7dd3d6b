"""``sidecar import``: existing documents to records, with a report that a person can check in a minute."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seed.errors import SidecarError
from seed.importers import adr
from seed.importers.files import repository_root, write_records
from sidecar.cli.common import examples, narrow
from sidecar.cli.import_report import as_dict, render

if TYPE_CHECKING:
    from seed.git.repository import Repository
    from seed.importers.model import ImportReport


@click.group("import", epilog=examples("sidecar import adr docs/adr --dry-run", "sidecar import markdown MEMORY.md"))
def command() -> None:
    """Turn existing documents into records."""


def _options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add what every import takes."""
    for option in (
        click.option("--repo", type=click.Path(path_type=Path), default=Path(), metavar="DIR", help="The repository."),
        click.option("--json", "as_json", is_flag=True, help="Print the report as JSON."),
        click.option("--force", is_flag=True, help="Overwrite records that were edited after their import."),
        click.option("--dry-run", is_flag=True, help="Say what would be done, write nothing."),
    ):
        function = option(function)
    return function


@command.command(
    "adr",
    epilog=examples(
        "sidecar import adr docs/adr --dry-run",
        "sidecar import adr docs/decisions --prefix payments --into knowledge/payments",
        "sidecar import adr docs/adr --missing-status accepted",
    ),
)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--into", default="", metavar="DIR", help="Where records go.  [default: knowledge/PREFIX]")
@click.option("--prefix", default="", help="What ids begin with.  [default: the base name of DIR]")
@click.option("--missing-status", default="", metavar="S", help="For records that state none.  [default: unknown]")
@_options
def import_adr(folder: Path, into: str, prefix: str, missing_status: str, **options: Any) -> None:  # noqa: ANN401 - click's options
    """Import the decision records below DIR: Nygard, adr-tools, MADR, log4brains and their like.

    Prints for every record what was decided and from where, and what could not be told. Nothing is invented:
    a status that is not written stays unknown. Run it again at any time: what has not changed is not written,
    and a record that you edited is kept.
    """
    _run(lambda: adr.read_folder(folder, prefix=prefix, into=into, missing_status=missing_status), options)


@command.command(
    "markdown",
    epilog=examples(
        "sidecar import markdown MEMORY.md AGENTS.md --dry-run",
        "sidecar import markdown docs/review-notes.md --kind finding --split heading",
        "sidecar import markdown exported/",
    ),
)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--kind", default="fact", metavar="KIND", help="What an item is: fact or finding.  [default: fact]")
@click.option(
    "--split", default="", metavar="HOW", help="heading or item.  [default: item for files that are mostly lists]"
)
@click.option("--prefix", default="", help="What ids begin with.  [default: the file's name]")
@click.option("--into", default="", metavar="DIR", help="Where records go.  [default: knowledge/KINDs]")
@click.option("--retire-missing", is_flag=True, help="Make records historical whose item is no longer in the file.")
@_options
def import_markdown(
    paths: tuple[Path, ...],
    kind: str,
    split: str,
    prefix: str,
    into: str,
    retire_missing: bool,
    **options: Any,  # noqa: ANN401 - click's options
) -> None:
    """Import pages of 'sidecar export markdown', or the items of fact lists, review notes and agents' memory files.

    A page or folder that the sidecar exported gives back its records. Any other file is split into facts or findings
    that nobody has confirmed (unverified, agent_generated), each with its lines. Imported again, an item keeps its
    id also when its text was changed, and what changed is said.
    """
    from seed.importers.facts import Wanted
    from seed.importers.outside import markdown

    wanted = Wanted(kind, split, prefix, into, retire_missing)
    _run(lambda: markdown(_repository(options["repo"]), paths, wanted), options)


@command.command("okf", epilog=examples("sidecar import okf build/knowledge --dry-run"))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--prefix", default="", help="What ids of others' concepts begin with.")
@click.option("--into", default="", metavar="DIR", help="Where records go.  [default: knowledge]")
@_options
def import_okf(folder: Path, prefix: str, into: str, **options: Any) -> None:  # noqa: ANN401 - click's options
    """Import a bundle in the Open Knowledge Format: one of 'sidecar export okf' exactly, others' by its concepts.

    OKF says whether a page is ready to be read, not whether a decision was taken: others' decisions stay unknown.
    """
    from seed.importers.outside import bundle

    _run(lambda: bundle(_repository(options["repo"]), folder, prefix=prefix, into=into), options)


@command.command("jsonl", epilog=examples("sidecar import jsonl records.jsonl --dry-run"))
@click.argument("file", metavar="FILE|-", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--into", default="", metavar="DIR", help="Where records go.  [default: knowledge]")
@_options
def import_jsonl(file: Path, into: str, **options: Any) -> None:  # noqa: ANN401 - click's options
    """Import records as JSON: an export, or one record a line with the keys of a record file; - is standard input."""
    from seed.importers.outside import jsonl

    _run(lambda: jsonl(_repository(options["repo"]), file, into=into), options)


def _run(read: Callable[[], ImportReport], options: dict[str, Any]) -> None:
    """Read, write below the repository, and print the report."""
    dry_run = bool(options["dry_run"])
    report = read()
    root = target_root(options["repo"])
    written = write_records(report.records, root, force=options["force"], dry_run=dry_run)
    if options["as_json"]:
        click.echo(json.dumps(as_dict(report, written, dry_run=dry_run), ensure_ascii=narrow(), indent=1))
    else:
        for line in render(report, written, dry_run=dry_run):
            click.echo(line)


def _repository(folder: Path) -> Repository:
    from seed.git.repository import open_repository

    repo = open_repository(target_root(folder))
    if repo.bare:
        raise SidecarError(f"{repo.name} is bare: it has no working tree to write to", "run this in a clone")
    return repo


def target_root(repo: Path) -> Path:
    """Return the root of the repository that holds ``repo``.

    Raises SidecarError where there is none.
    """
    root = repository_root(repo)
    if root is None:
        raise SidecarError(f"{repo.resolve()} is in no Git repository", "run it in one, or name one with --repo DIR")
    return root
