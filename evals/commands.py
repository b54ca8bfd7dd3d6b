"""`sidecar eval`: the command that this package adds to `sidecar`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from sidecar.cli.common import Progress, examples, json_option, print_json, repo_option

_FILE = click.Path(path_type=Path, dir_okay=False)


def register() -> dict[str, click.Command]:
    """Return command name -> command, for the entry-point group `sidecar.commands`."""
    return {"eval": evaluate}


@click.command(
    "eval",
    epilog=examples(
        "sidecar eval questions.yaml", "sidecar eval questions.yaml --gate gates.yaml --report report.html"
    ),
)
@click.argument("questions", type=_FILE, required=False)
@click.option("--status", "statuses", multiple=True, help="Default of questions that name none; 'all' takes every one.")
@click.option("--gate", "gates", type=_FILE, metavar="GATES", help="Fail (exit 1) where the result falls short of it.")
@click.option(
    "--base", default="", metavar="REV", help="Gates and policy of this revision hold; loosening needs a record."
)
@click.option("--baseline", type=_FILE, metavar="OLD.json", help="Show what moved since an earlier --json result.")
@click.option(
    "--without", multiple=True, metavar="RULE", help="Remove floor, weights, instruction, status, lexical or dense."
)
@click.option("--controls", is_flag=True, help="Remove each rule in turn; the gate must fail where it says so.")
@click.option("--embedder", "embedders", multiple=True, metavar="NAME", help="Use this model; several are compared.")
@click.option(
    "--repeat", default=1, show_default=True, type=click.IntRange(1, 100), help="Ask N times; all must be equal."
)
@click.option("--report", type=_FILE, metavar="OUT.html", help="Write one self-contained page.")
@click.option("--out", type=_FILE, metavar="FILE", help="Write the JSON result to a file.")
@click.option("--relabel", is_flag=True, help="Print the label changes to review, and ask nothing.")
@click.option(
    "--store", is_flag=True, help="Use your own store (and receipts) instead of an empty one of the run's own."
)
@click.option("--cache", default="", metavar="DIR", help="Vectors and results, reused where every input is the same.")
@click.option("--schema", type=click.Choice(["questions", "gates"]), help="Print a JSON Schema for editors.")
@json_option
@repo_option
def evaluate(**given: Any) -> int:  # noqa: ANN401 - click hands over the options by name
    """Ask every question of a set, and measure what comes back."""
    if given["schema"]:
        print_json(_schema(given["schema"]))
        return 0
    if given["questions"] is None:
        raise click.UsageError("Missing argument 'QUESTIONS'.")
    return _relabel(given) if given["relabel"] else _evaluate(given)


def _schema(name: str) -> dict[str, Any]:
    from evals.gates import gates_schema
    from evals.questions import questions_schema

    return questions_schema() if name == "questions" else gates_schema()


def _options(given: dict[str, Any]) -> Any:  # noqa: ANN401 - the class is imported only when it is needed
    from evals.evaluate import Options

    taken = {name: given[name] for name in Options.__dataclass_fields__ if name in given}
    return Options(folder=Path(given["repo"]), **taken)


def _evaluate(given: dict[str, Any]) -> int:
    from evals.evaluate import evaluate as run
    from evals.evaluate import failed
    from evals.text import lines

    progress = Progress(quiet=given["as_json"])
    found = run(_options(given), progress)
    progress.close()
    if given["out"]:
        given["out"].write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if given["report"]:
        from evals.report import page

        given["report"].write_text(page(found), encoding="utf-8")
    if given["as_json"]:
        print_json(found)
    else:
        click.echo("\n".join(lines(found)))
    return 1 if failed(found) else 0


def _relabel(given: dict[str, Any]) -> int:
    from evals.evaluate import relabelling
    from evals.text import relabelling as shown

    changes = relabelling(_options(given))
    if given["as_json"]:
        print_json({"format": 1, "changes": changes})
    else:
        click.echo("\n".join(shown(changes, str(given["questions"]))))
    return 0
