"""`sidecar context`: what a session should start with, within a budget of tokens."""

from __future__ import annotations

from pathlib import Path

import click

from sidecar.cli.common import examples, json_option, print_json, provider, repo_option, say

_BUDGET_SECONDS = 30.0


@click.command(epilog=examples('sidecar context "Move orders to another store" --path shop/store --budget 2000'))
@click.argument("words", nargs=-1, required=True, metavar="TASK...")
@click.option("--path", "paths", multiple=True, help="A file or folder the task touches (may be repeated).")
@click.option("--budget", default=2000, show_default=True, metavar="TOKENS", help="How many tokens it may cost.")
@click.option("--workspace", default="", help="Only this workspace and what all share.")
@json_option
@repo_option
def context(
    words: tuple[str, ...], paths: tuple[str, ...], budget: int, workspace: str, as_json: bool, repo: str
) -> None:
    """Collect the decisions that bear on a task and its files: constraints first, each with its id, and a receipt."""
    from sidecar.context import render

    asked = [str((Path(repo) / path).resolve()) if (Path(repo) / path).exists() else path for path in paths]
    with provider(repo) as opened:
        pack = opened.context(" ".join(words), asked, budget=budget, workspace=workspace, seconds=_BUDGET_SECONDS)
    print_json(pack) if as_json else say(render(pack))
