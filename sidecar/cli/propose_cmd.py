"""`sidecar propose`, `candidates`, `promote`, `withdraw`, `done`: from a proposal to a reviewer's pull request."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from sidecar import tell
from sidecar.cli.common import examples, json_option, print_json, provider, repo_option

_BUDGET_SECONDS = 30.0


def _say(done: dict[str, Any], text: Callable[[Mapping[str, Any]], list[str]], *, as_json: bool) -> None:
    if as_json:
        print_json(done)
    else:
        print("\n".join(text(done)))


@click.command(
    epilog=examples("sidecar propose record.yaml --session 5f1c", "sidecar propose - --dry-run < record.yaml")
)
@click.argument("file", metavar="FILE|-")
@click.option(
    "--onto", type=click.Choice(["default", "current"]), default="default", help="Branch from HEAD: 'current'."
)
@click.option("--agent", default="", help="Who proposes; SIDECAR_AGENT comes first.")
@click.option("--session", default="", help="The agent's session; SIDECAR_SESSION comes first.")
@click.option("--work", default="", help="What it was working at, such as an issue; SIDECAR_WORK comes first.")
@click.option("--dry-run", is_flag=True, help="Say what it is close to, and write nothing.")
@json_option
@repo_option
def propose(file: str, onto: str, agent: str, session: str, work: str, dry_run: bool, as_json: bool, repo: str) -> None:
    """Commit a record as a candidate on a branch of its own; nothing that is checked out is touched."""
    from sidecar.propose import propose as write
    from sidecar.propose import proposer

    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    where = "standard input" if file == "-" else file
    who = proposer(agent, session, work)
    with provider(repo) as opened:
        done = write(opened, data, who, onto=onto, dry_run=dry_run, where=where, budget=_BUDGET_SECONDS)
    _say(done, tell.proposed, as_json=as_json)


@click.command(epilog=examples("sidecar candidates"))
@json_option
@repo_option
def candidates(as_json: bool, repo: str) -> None:
    """List the candidates that wait for a reviewer, local and remote, oldest first."""
    from sidecar.candidates import listing

    with provider(repo) as opened:
        found = listing(opened, budget=_BUDGET_SECONDS)
    _say(found, tell.waiting, as_json=as_json)


@click.command(
    epilog=examples(
        "sidecar promote decision-20261129-1a2b3c",
        "sidecar promote decision-20261129-1a2b3c --status accepted --trust user_confirmed --no-push",
    )
)
@click.argument("idents", nargs=-1, required=True, metavar="ID...")
@click.option("--status", default="", help="The status to promote to; by default the one its kind starts with.")
@click.option("--trust", default="", help="Raise the trust, such as user_confirmed; it never rises unasked.")
@click.option(
    "--onto", type=click.Choice(["default", "current"]), default="default", help="Branch from HEAD: 'current'."
)
@click.option("--no-push", is_flag=True, help="Make the branch, and say what to type.")
@json_option
@repo_option
def promote(
    idents: tuple[str, ...], status: str, trust: str, onto: str, no_push: bool, as_json: bool, repo: str
) -> None:
    """Make one branch that moves candidates to their place, check it, and open a pull request; never merges."""
    from sidecar.promote import promote as write

    with provider(repo) as opened:
        done = write(opened, idents, status=status, trust=trust, onto=onto, send=not no_push)
    _say(done, tell.promoted, as_json=as_json)


@click.command(epilog=examples("sidecar withdraw decision-20261129-1a2b3c"))
@click.argument("ident", metavar="ID")
@json_option
@repo_option
def withdraw(ident: str, as_json: bool, repo: str) -> None:
    """End a candidate: delete its local branch, and say how to delete the remote one."""
    from sidecar.candidates import withdraw as end

    with provider(repo) as opened:
        done = end(opened, ident)
    _say(done, tell.withdrawn, as_json=as_json)


@click.command(epilog=examples("sidecar done fact-0012"))
@click.argument("ident", metavar="ID")
@json_option
@repo_option
def done(ident: str, as_json: bool, repo: str) -> None:
    """Propose closing an open item (a record tagged todo) on the branch knowledge/done."""
    from sidecar.revise import done as close

    with provider(repo) as opened:
        closed = close(opened, ident)
    _say(closed, tell.closed, as_json=as_json)
