"""`sidecar receipts`: look at what was asked and returned, and replay it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seed.errors import SidecarError
from sidecar.cli.common import Progress, examples, json_option, print_json, provider, read_text, repo_option

if TYPE_CHECKING:
    from sidecar.provider import Provider


@click.group(epilog=examples("sidecar receipts list", "sidecar receipts verify 3f2a"))
def receipts() -> None:
    """Look at receipts and replay them."""


@receipts.command("list", epilog=examples("sidecar receipts list -n 5"))
@click.option("-n", "limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many, newest first.")
@json_option
@repo_option
def list_(limit: int, as_json: bool, repo: str) -> None:
    """List the newest receipts."""
    with provider(repo) as opened:
        found = opened.receipts.newest(limit)
    if as_json:
        print_json({"format": 1, "receipts": found})
        return
    for receipt in found:
        ids = ", ".join(ident for _, ident, _ in receipt["returned"]) or "nothing"
        print(f"{receipt['id'][:23]} {receipt['time']} {receipt['verdict']}: {receipt['question'][:80]!r} -> {ids}")
    if not found:
        print("No receipts yet. Every 'sidecar recall' leaves one.")


@receipts.command(epilog=examples("sidecar receipts show 3f2a", "sidecar receipts show 3f2a --share > receipt.json"))
@click.argument("ident", metavar="ID")
@click.option("--share", is_flag=True, help="The form that holds the question's hash instead of its text.")
@json_option
@repo_option
def show(ident: str, share: bool, as_json: bool, repo: str) -> None:
    """Print one receipt as JSON."""
    from sidecar.receipt import shareable

    del as_json  # a receipt is JSON in any case
    with provider(repo) as opened:
        receipt = _by_id(opened, ident)
    print_json(shareable(receipt) if share else receipt)


@receipts.command(epilog=examples("sidecar receipts verify 3f2a", "sidecar receipts verify - < receipt.json"))
@click.argument("what", metavar="ID|FILE|-")
@json_option
@repo_option
def verify(what: str, as_json: bool, repo: str) -> int:
    """Ask again on what a receipt stood on; exit 0 only when the same comes back."""
    from sidecar.replay import verify as replay

    progress = Progress(quiet=as_json)
    with provider(repo) as opened:
        receipt = _read(opened, what)
        outcome = replay(opened, receipt, progress)
    progress.close()
    if as_json:
        print_json({"format": 1, "id": receipt["id"], "outcome": outcome.outcome, "detail": outcome.detail})
    else:
        print(outcome.outcome + (f" ({outcome.detail})" if outcome.detail else ""))
    return 0 if outcome.same else 1


def _read(opened: Provider, what: str) -> dict[str, Any]:
    from sidecar.receipt import parse_receipt

    if what == "-" or Path(what).exists():
        return parse_receipt(read_text(what), "standard input" if what == "-" else what)
    return _by_id(opened, what)


def _by_id(opened: Provider, ident: str) -> dict[str, Any]:
    found = opened.receipts.get(ident)
    if not found:
        raise SidecarError(f"no receipt {ident!r} here", "see 'sidecar receipts list', or give the receipt's file")
    if len(found) > 1:
        raise SidecarError(f"several receipts start with {ident!r}", "give more of the id")
    return found[0]
