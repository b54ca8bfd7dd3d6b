"""`sidecar show`, `sidecar list` and `sidecar why`: read records without asking a question."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sidecar.cli.common import Progress, examples, json_option, print_json, provider, repo_option
from sidecar.cli.recall_cmd import BUDGET_SECONDS, filters
from sidecar.quote import safe

if TYPE_CHECKING:
    from sidecar.provider import Provider
    from sidecar.query import Query


@click.command(
    epilog=examples("sidecar show decision-0007", "sidecar show knowledge/decisions/decision-0007.yaml --at v1.2")
)
@click.argument("name", metavar="ID")
@click.option("--at", default="", metavar="REV", help="As it stood in this revision.")
@click.option("--section", default="", metavar="HEADING", help="Only this section of a long body.")
@click.option("--cursor", default="", help="Continue a long body.")
@json_option
@repo_option
def show(name: str, at: str, section: str, cursor: str, as_json: bool, repo: str) -> None:
    """Show one record by id, or by the path of its file: facts, body, lineage, and the commits that touched it."""
    from sidecar.render import render_record

    with provider(repo) as opened:
        found = opened.show(name, at=at, section=section, start=cursor, budget=BUDGET_SECONDS)
    if as_json:
        print_json(found)
    else:
        print(render_record(found, colour=sys.stdout.isatty()))


@click.command("list", epilog=examples("sidecar list", "sidecar list --kind decision --status all --since v1.2"))
@click.option("-k", "limit", default=50, show_default=True, metavar="N", help="How many records on a page.")
@click.option("--cursor", default="", help="Continue an earlier list.")
@click.option("--since", default="", metavar="REV", help="Only records added or changed after this revision.")
@filters
@json_option
@repo_option
def list_(
    limit: int,
    cursor: str,
    since: str,
    kinds: tuple[str, ...],
    statuses: tuple[str, ...],
    tags: tuple[str, ...],
    path: str,
    workspace: str,
    trust: str,
    after: str,
    before: str,
    as_json: bool,
    repo: str,
) -> None:
    """List every record that passes the filters, newest first; by default those in force."""
    from sidecar.query import Query

    query = Query("", (), limit, cursor, kinds, statuses, tags, path, workspace, trust, after, before)
    _answer(query, repo, as_json=as_json, since=since)


@click.command(epilog=examples("sidecar why seed/store/store.py"))
@click.argument("path")
@click.option("-k", "limit", default=20, show_default=True, metavar="N", help="How many records on a page.")
@click.option("--cursor", default="", help="Continue an earlier list.")
@json_option
@repo_option
def why(path: str, limit: int, cursor: str, as_json: bool, repo: str) -> None:
    """List the records in force that speak of a file or folder, and the turns where it was last worked on."""
    from sidecar.query import Query

    here = Path(repo) / path
    asked = str(here.resolve()) if here.exists() else path
    _answer(Query(limit=limit, cursor=cursor, paths=(asked,)), repo, as_json=as_json, turns_of=asked)


def _answer(query: Query, repo: str, *, as_json: bool, since: str = "", turns_of: str = "") -> None:
    from dataclasses import replace

    from sidecar.render import render

    progress = Progress(quiet=as_json)
    with provider(repo) as opened:
        answer = opened.recall(replace(query, listing=True, since=since), budget=BUDGET_SECONDS, progress=progress)
        turns = _turns(opened, turns_of) if turns_of and not query.cursor else []
    progress.close()
    if as_json:
        print_json({**answer, "turns": turns} if turns_of else answer)
        return
    print(render(answer, colour=sys.stdout.isatty()))
    for one in turns:
        place = f"bytes {one['start_byte']}-{one['end_byte']}"
        print(f"Worked on in {one['transcript']}, turn {one['turn']}, {place}: {safe(one['path'])}")


def _turns(opened: Provider, path: str) -> list[dict[str, Any]]:
    """Return the turns where a path was last worked on; most repositories have no session, and load no graph."""
    from sidecar.history import open_history

    if not open_history(opened.session.folder).archive.ids():
        return []
    from seed.git.repository import inside
    from sidecar.graph import Graph

    return Graph(opened).worked_on(inside(opened.session.repo, path))
