"""`sidecar recall`: ask one question."""

from __future__ import annotations

import click

from sidecar.cli.common import Progress, examples, in_colour, json_option, print_json, provider, repo_option, say

BUDGET_SECONDS = 30.0


def filters(command: click.decorators.FC) -> click.decorators.FC:
    """Add the filters that every reading command takes."""
    for option in reversed(
        (
            click.option("--kind", "kinds", multiple=True, help="Only this kind (may be repeated)."),
            click.option("--status", "statuses", multiple=True, help="Only this status; 'all' takes every one."),
            click.option("--tag", "tags", multiple=True, help="Only records with this tag (all must match)."),
            click.option("--path", default="", help="Only records that speak of this file or folder."),
            click.option("--workspace", default="", help="Only this workspace and what all share."),
            click.option("--trust", default="", help="Only this trust."),
            click.option("--after", default="", metavar="DATE", help="Only records of this day or later."),
            click.option("--before", default="", metavar="DATE", help="Only records of this day or earlier."),
        )
    ):
        command = option(command)
    return command


@click.command(
    epilog=examples(
        'sidecar recall "Where does the store live?"',
        'sidecar recall "Which database?" --also "Where is state kept?" -k 3',
        'sidecar recall "caching" --status all --after 2026-01-01 --json',
    )
)
@click.argument("words", nargs=-1)
@click.option("--also", multiple=True, metavar="TEXT", help="Another phrasing of the same question (may be repeated).")
@click.option("-k", "limit", default=5, show_default=True, metavar="N", help="How many records at most.")
@click.option("--cursor", default="", help="Continue an earlier answer.")
@click.option("--detail", type=click.Choice(["brief", "full"]), default=None, help="How much of each record.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 when nothing applies.")
@filters
@json_option
@repo_option
def recall(
    words: tuple[str, ...],
    also: tuple[str, ...],
    limit: int,
    cursor: str,
    detail: str | None,
    exit_code: bool,
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
) -> int:
    """Ask a question: the records that still apply, each with its evidence, or an honest no match."""
    from sidecar.query import Query
    from sidecar.render import render

    query = Query(" ".join(words), also, limit, cursor, kinds, statuses, tags, path, workspace, trust, after, before)
    progress = Progress(quiet=as_json)
    with provider(repo) as opened:
        answer = opened.recall(query, detail=detail or "full", budget=BUDGET_SECONDS, progress=progress)
    progress.close()
    if as_json:
        print_json(answer)
    else:
        say(render(answer, colour=in_colour()))
    return 1 if exit_code and answer["verdict"] == "none" else 0
