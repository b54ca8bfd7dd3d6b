"""`sidecar show`, `sidecar list` and `sidecar why`: read records without asking a question."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seed.errors import SidecarError
from sidecar.cli.common import Progress, examples, in_colour, json_option, print_json, provider, repo_option, say
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
        say(render_record(found, colour=in_colour()))


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
    _answer(Query(limit=limit, cursor=cursor, paths=(asked,)), repo, as_json=as_json, about=asked)


def _answer(query: Query, repo: str, *, as_json: bool, since: str = "", about: str = "") -> None:
    from dataclasses import replace

    from sidecar.render import render

    progress = Progress(quiet=as_json)
    with provider(repo) as opened:
        place = _inside(opened, about) if about else ""
        answer = opened.recall(replace(query, listing=True, since=since), budget=BUDGET_SECONDS, progress=progress)
        if about and not answer["total"] and answer["coverage"]["records"]:
            answer["note"] = _unspoken(opened, place)
        turns = _turns(opened, place) if about and not query.cursor else []
    progress.close()
    if as_json:
        print_json({**answer, "turns": turns} if about else answer)
        return
    say(render(answer, colour=in_colour()))
    for one in turns:
        place = f"bytes {one['start_byte']}-{one['end_byte']}"
        print(f"Worked on in {one['transcript']}, turn {one['turn']}, {place}: {safe(one['path'])}")


def _turns(opened: Provider, path: str) -> list[dict[str, Any]]:
    """Return the turns where a path was last worked on; most repositories have no session, and load no graph."""
    from sidecar.history import open_history

    if not open_history(opened.session.folder).archive.ids():
        return []
    from sidecar.graph import Graph

    return Graph(opened).worked_on(path)


def _inside(opened: Provider, path: str) -> str:
    """Return a path as the repository has it. Raises `SidecarError` for one outside, of which no record can speak."""
    from seed.git.repository import inside

    place = inside(opened.session.repo, path)
    if Path(place).is_absolute() or place.startswith(".."):
        raise SidecarError(f"{path} is outside {opened.session.repo.root}", "name a path inside the repository")
    return place


def _unspoken(opened: Provider, place: str) -> str:
    """Say why no record in force speaks of a path: it is a record itself, it is not there, or none does."""
    from seed.git.tree import find, is_record_path

    if is_record_path(place):
        return f"{place} is a record itself: 'sidecar show {place}' shows it, and what it is tied to."
    if find(opened.session.repo, opened.session.wanted().commit, place.strip("/")) is not None:
        return f"No record in force speaks of {place}. 'sidecar recall' asks by meaning."
    return f"HEAD has no {place}, and no record in force speaks of it."
