"""`sidecar new` and `sidecar renumber`: start a record file, and give one another id."""

from __future__ import annotations

import os
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from sidecar.cli.common import examples, json_option, print_json, repo_option


@click.command(
    epilog=examples(
        'sidecar new decision "Session state lives in SQLite"',
        'sidecar new fact "The payment provider times out after 30 s"',
    )
)
@click.argument("kind")
@click.argument("title", nargs=-1, required=True)
@json_option
@repo_option
def new(kind: str, title: tuple[str, ...], as_json: bool, repo: str) -> None:
    """Start a record (decision, adr, fact, finding, history) with the next free id, and print its file."""
    from seed.authoring import start_record
    from seed.git.repository import open_repository

    opened = open_repository(Path(repo))
    ident, file = start_record(opened, kind, " ".join(title), datetime.now(UTC).date())
    if as_json:
        print_json({"format": 1, "id": ident, "path": file.relative_to(opened.root).as_posix()})
    else:
        print(os.path.relpath(file))


@click.command(epilog=examples("sidecar renumber decision-0007", "sidecar renumber decision-0007 --to decision-0031"))
@click.argument("record", metavar="ID|PATH")
@click.option("--to", default="", metavar="NEW", help="The new id; the next free one by default.")
@json_option
@repo_option
def renumber(record: str, to: str, as_json: bool, repo: str) -> None:
    """Give a record another id and update the relations that name it, or change nothing."""
    from seed.git.repository import open_repository
    from seed.renumber import renumber as change

    done = change(open_repository(Path(repo)), record, to)
    if as_json:
        print_json({"format": 1, **asdict(done)})
        return
    print(f"{done.old} is now {done.new}: {done.path}")
    for path in done.changed:
        print(f"{path}: its relations name the new id")
    for path, line in done.left:
        print(f"{path}:{line}: still says {done.old} - change it if it means this record")
