"""`sidecar gc`, `sidecar backup` and `sidecar restore`: less of what can be made again, more of what cannot."""

from __future__ import annotations

from pathlib import Path

import click

from sidecar.cli.common import examples, json_option, print_json, repo_option


@click.command(epilog=examples("sidecar gc --dry-run", "sidecar gc"))
@click.option("--dry-run", is_flag=True, help="Say what would go, and change nothing.")
@json_option
@repo_option
def gc(dry_run: bool, as_json: bool, repo: str) -> None:
    """Drop snapshots, passages and vectors that no worktree's HEAD refers to; Git can give them back."""
    from sidecar.collect import collect

    done = collect(Path(repo), dry_run=dry_run)
    if as_json:
        print_json(done)
        return
    told = ", ".join(f"{done[name]} {name}" for name in ("snapshots", "files", "passages", "vectors"))
    sizes = "" if dry_run else f"; {done['before'] >> 10} KiB before, {done['after'] >> 10} KiB after"
    print(f"{'Would drop' if dry_run else 'Dropped'} {told}; {done['kept']} snapshots stay{sizes}.")


@click.command(epilog=examples("sidecar backup ~/sidecar-backup.zip"))
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@json_option
@repo_option
def backup(file: Path, as_json: bool, repo: str) -> None:
    """Write what only this machine has to FILE: receipts, transcripts, and candidates that were not pushed."""
    from sidecar.backup import backup as write

    done = write(Path(repo), file)
    if as_json:
        print_json(done)
        return
    counts = f"{done['receipts']} receipts, {done['transcripts']} transcripts, {done['candidates']} candidate branches"
    print(f"{file}: {counts}, {done['bytes']} bytes. It holds questions and sessions as they are: keep it private.")


@click.command(epilog=examples("sidecar restore ~/sidecar-backup.zip"))
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@json_option
@repo_option
def restore(file: Path, as_json: bool, repo: str) -> int:
    """Add what a backup holds; what is here stays, and a second time adds nothing.

    Exit code 1 when a candidate branch went another way here and was left.
    """
    from sidecar.backup import restore as read

    done = read(Path(repo), file)
    if as_json:
        print_json(done)
    else:
        told = ", ".join(f"{count} {name}" for name, count in done["new"].items())
        print(f"New: {told}.")
        for name in done["left"]:
            print(f"{name} has other commits here and was left: compare the two, and rename one")
    return 1 if done["left"] else 0
