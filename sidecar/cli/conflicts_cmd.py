"""`sidecar conflicts`: find records that may contradict each other, and record or close what was judged."""

from __future__ import annotations

import click

from sidecar.cli.common import examples, json_option, print_json, provider, repo_option

_BUDGET_SECONDS = 30.0


@click.group(epilog=examples("sidecar conflicts scan", "sidecar conflicts list"))
def conflicts() -> None:
    """Find records that may contradict each other; record what was judged, and close it."""


@conflicts.command(epilog=examples("sidecar conflicts scan -k 5 --json"))
@click.option("--all", "everything", is_flag=True, help="Compare all anew, not only what changed since the last scan.")
@click.option(
    "-k", "limit", default=20, show_default=True, type=click.IntRange(1), metavar="N", help="How many pairs at most."
)
@json_option
@repo_option
def scan(everything: bool, limit: int, as_json: bool, repo: str) -> None:
    """Propose pairs of records in force that share a subject and are close in meaning; you judge them."""
    from sidecar.contradictions import scan as find
    from sidecar.tell_conflicts import scanned

    with provider(repo) as opened:
        found = find(opened, everything=everything, limit=limit, budget=_BUDGET_SECONDS)
    print_json(found) if as_json else print("\n".join(scanned(found)))


@conflicts.command(
    epilog=examples('sidecar conflicts record decision-1 decision-9 contradicts --reason "30 s against 60 s"')
)
@click.argument("one", metavar="ID")
@click.argument("other", metavar="ID")
@click.argument("verdict", type=click.Choice(["contradicts", "duplicates", "compatible"]))
@click.option("--reason", required=True, help="Why, in one sentence.")
@click.option("--agent", default="", help="Who judged; SIDECAR_AGENT comes first.")
@click.option("--session", default="", help="The agent's session; SIDECAR_SESSION comes first.")
@json_option
@repo_option
def record(one: str, other: str, verdict: str, reason: str, agent: str, session: str, as_json: bool, repo: str) -> None:
    """Store a verdict on two records as a candidate finding; it lapses when either of them changes."""
    from sidecar.contradictions import record as write
    from sidecar.propose import proposer
    from sidecar.tell_conflicts import recorded

    with provider(repo) as opened:
        done = write(opened, one, other, verdict, reason, proposer(agent, session), budget=_BUDGET_SECONDS)
    print_json(done) if as_json else print("\n".join(recorded(done)))


@conflicts.command(
    epilog=examples('sidecar conflicts resolve finding-20261129-1a2b3c --reason "decision-9 was amended"')
)
@click.argument("ident", metavar="FINDING")
@click.option("--reason", required=True, help="How it was settled, in one sentence.")
@click.option("--agent", default="", help="Who closes it; SIDECAR_AGENT comes first.")
@click.option("--session", default="", help="The agent's session; SIDECAR_SESSION comes first.")
@json_option
@repo_option
def resolve(ident: str, reason: str, agent: str, session: str, as_json: bool, repo: str) -> None:
    """Close a recorded contradiction; one that was merged stays open until its closing is merged too."""
    from sidecar.contradictions import resolve as write
    from sidecar.propose import proposer
    from sidecar.tell_conflicts import recorded

    with provider(repo) as opened:
        done = write(opened, ident, reason, proposer(agent, session), budget=_BUDGET_SECONDS)
    print_json(done) if as_json else print("\n".join(recorded(done)))


@conflicts.command("list", epilog=examples("sidecar conflicts list"))
@json_option
@repo_option
def list_(as_json: bool, repo: str) -> None:
    """List what was judged and holds, and the pairs of the last scan that wait for a judge."""
    from sidecar.contradictions import listing
    from sidecar.tell_conflicts import listed

    with provider(repo) as opened:
        found = listing(opened, budget=_BUDGET_SECONDS)
    print_json(found) if as_json else print("\n".join(listed(found)))
