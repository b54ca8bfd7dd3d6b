"""`sidecar eval`: the command that this package adds to `sidecar`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sidecar.cli.common import Progress, json_option, print_json, repo_option


def register() -> dict[str, click.Command]:
    """Return command name -> command, for the entry-point group `sidecar.commands`."""
    return {"eval": evaluate}


@click.command("eval", epilog="Example: sidecar eval evals/questions/own.yaml --gate evals/gates.yaml")
@click.argument("questions", type=click.Path(path_type=Path))
@click.option(
    "--status", "statuses", multiple=True, help="The default status of questions that name none; 'all' takes every one."
)
@click.option(
    "--without",
    multiple=True,
    metavar="RULE",
    help="Leave a rule out: floor, weights, instruction, status, lexical, dense.",
)
@click.option("--store", is_flag=True, help="Use your own store instead of an empty one of the run's own.")
@click.option("--cache", default="", metavar="DIR", help="A portable cache of vectors, read before and written after.")
@json_option
@repo_option
def evaluate(
    questions: Path,
    statuses: tuple[str, ...],
    without: tuple[str, ...],
    store: bool,
    cache: str,
    as_json: bool,
    repo: str,
) -> int:
    """Ask every question of a set, and measure what comes back."""
    from evals.controls import Setup
    from evals.controls import without as leave_out
    from evals.questions import QuestionSetError, load_questions
    from evals.result import result
    from evals.run import isolated, run
    from evals.text import lines

    try:
        loaded = load_questions(questions)
    except QuestionSetError as exc:
        click.echo("\n".join(exc.lines), err=True)
        return 2
    setup = Setup()
    for rule in without:
        setup = leave_out(rule, setup)
    progress = Progress(quiet=as_json)
    with isolated(reuse=store):
        done = run(Path(repo), loaded.questions, setup, statuses=statuses, cache=cache, progress=progress)
    progress.close()
    found: dict[str, Any] = result(done, loaded.digest, without=without, statuses=statuses)
    if as_json:
        print_json(found)
    else:
        click.echo("\n".join(lines(found)))
    return 0
