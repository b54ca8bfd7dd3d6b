"""`sidecar audit`: what has expired, died or piled up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from sidecar.cli.common import examples, json_option, print_json, provider, repo_option

_BUDGET_SECONDS = 30.0


@click.command(epilog=examples("sidecar audit", "sidecar audit --quiet --exit-code"))
@click.option("--quiet", is_flag=True, help="Print nothing when there is nothing to do.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 when there is something to do.")
@json_option
@repo_option
def audit(quiet: bool, exit_code: bool, as_json: bool, repo: str) -> int:
    """List what has expired, expires within 30 days, names paths that are gone, piled up, or was never scanned."""
    from sidecar.auditing import report

    with provider(repo) as opened:
        found = report(opened, budget=_BUDGET_SECONDS)
    if as_json:
        print_json(found)
    elif found["findings"] or not quiet:
        print("\n".join(lines(found)))
    return 1 if exit_code and found["findings"] else 0


def lines(found: Mapping[str, Any]) -> list[str]:
    """Return the text of an audit: one line a finding with what to do, one that sums up, and how to repeat it."""
    shown = []
    for one in found["findings"]:
        where = f" ({one['path']})" if one["path"] else ""
        shown.append(f"{one['check']}: {one['id']}{where} {one['detail']} - {one['fix']}".replace(":  ", ": "))
    many = len(found["findings"])
    summary = "Nothing to do" if not many else f"{many} to do" if many > 1 else "1 to do"
    return [*shown, f"{summary}; {found['records']} records at {found['commit'][:12] or 'no commit'}.",
            f"Every Monday by cron: {found['cron']}"]  # fmt: skip
