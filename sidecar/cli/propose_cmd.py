"""`sidecar propose`, `candidates`, `promote`, `withdraw`, `done`: from a proposal to a reviewer's pull request."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from sidecar.cli.common import json_option, print_json, provider, repo_option
from sidecar.quote import one_line

_BUDGET_SECONDS = 30.0


@click.command(epilog="Example: sidecar propose record.yaml --session 5f1c")
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
    print_json(done) if as_json else print("\n".join(_proposed(done)))


def _proposed(done: Mapping[str, Any]) -> list[str]:
    lines = [f"warning: {one_line(text)}" for text in done["warnings"]]
    lines += [_hint(hint) for hint in done["write_hints"]]
    if done.get("dry_run"):
        return [*lines, f"Would propose {done['id']}; nothing was written."]
    again = done["seen_again"]
    first = f"{done['id']} waits already; counted as seen again ({again})" if again else f"Proposed {done['id']}"
    return [*lines, f"{first} on {done['branch']} ({done['commit'][:12]}).", *_published(done)]


_HINTS = {
    "near_duplicate": "may say the same as",
    "may_contradict": "may contradict",
    "decided_against": "was decided against in",
    "needs_user_confirmation": "would overturn",
}


def _hint(hint: Mapping[str, Any]) -> str:
    return f"hint: {_HINTS[hint['hint']]} {hint['id']} ({hint['status']}) {hint['title']} - {hint['why']}"


def _published(done: Mapping[str, Any]) -> list[str]:
    if done["pushed"]:
        return ["Pushed."]
    note = [f"Not pushed: {done['push_note']}."] if done.get("push_note") else []
    return [*note, *([f"To share it: {done['command']}"] if done["command"] else [])]


@click.command(epilog="Example: sidecar candidates --json")
@json_option
@repo_option
def candidates(as_json: bool, repo: str) -> None:
    """List the candidates that wait for a reviewer, local and remote, oldest first."""
    from sidecar.candidates import listing

    with provider(repo) as opened:
        found = listing(opened, budget=_BUDGET_SECONDS)
    if as_json:
        print_json(found)
        return
    for one in found["candidates"]:
        print("\n".join(_waiting(one)))
    if not found["candidates"]:
        print("No candidates wait. 'sidecar propose FILE' makes one.")


def _waiting(one: Mapping[str, Any]) -> list[str]:
    by = one["proposed_by"].get("agent", "unknown")
    again = f", seen again {one['seen_again']} times" if one["seen_again"] else ""
    merged = " (merged; end it with 'sidecar withdraw')" if one["state"] == "merged" else ""
    lines = [f"{one['id']} ({one['kind']}, candidate, not reviewed){merged} {one['title']}"]
    lines.append(f"   {one['age_days']} days old, by {by} ({one['author']}){again}; on {', '.join(one['places'])}")
    return lines + [f"   near: {near['id']} ({near['status']}) {near['title']}" for near in one["nearest"]]


@click.command(epilog="Example: sidecar promote decision-20261129-1a2b3c")
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
    print_json(done) if as_json else print("\n".join(_promoted(done)))


def _promoted(done: Mapping[str, Any]) -> list[str]:
    lines = [f"{one['id']}: {one['status']}, trust {one['trust']}, {one['path']}"
             + (f" ({one['raised']})" if "raised" in one else "") for one in done["records"]]  # fmt: skip
    lines += [f"closes {one['id']}: {one['status']}" for one in done["closed"]]
    lines.append(f"Branch {done['branch']} ({done['commit'][:12]}) from {done['base']['ref']}; check passed.")
    if done["pull_request"]:
        return [*lines, f"Pull request: {done['pull_request']}"]
    return [*lines, f"{done['note'][:1].upper()}{done['note'][1:]}.", *(f"  {command}" for command in done["commands"])]


@click.command(epilog="Example: sidecar withdraw decision-20261129-1a2b3c")
@click.argument("ident", metavar="ID")
@json_option
@repo_option
def withdraw(ident: str, as_json: bool, repo: str) -> None:
    """End a candidate: delete its local branch, and say how to delete the remote one."""
    from sidecar.candidates import withdraw as end

    with provider(repo) as opened:
        done = end(opened, ident)
    if as_json:
        print_json(done)
        return
    lines = [f"Withdrawn: {done['id']} (to get it back: {done['restore']})."] if done["withdrawn"] else []
    lines += [f"Still on the remote until: {done['command']}"] if done["command"] else []
    print("\n".join(lines))


@click.command(epilog="Example: sidecar done fact-0012")
@click.argument("ident", metavar="ID")
@json_option
@repo_option
def done(ident: str, as_json: bool, repo: str) -> None:
    """Propose closing an open item (a record tagged todo) on the branch knowledge/done."""
    from sidecar.revise import done as close

    with provider(repo) as opened:
        closed = close(opened, ident)
    if as_json:
        print_json(closed)
        return
    print("\n".join([f"{closed['id']} is done on {closed['branch']} ({closed['commit'][:12]}).", *_published(closed)]))
