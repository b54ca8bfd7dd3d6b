"""`sidecar seed`: publish the snapshot of a commit."""

from __future__ import annotations

import click

from sidecar.cli.common import Progress, examples, json_option, print_json, provider, repo_option


@click.command(epilog=examples("sidecar seed", "sidecar seed --commit main --cache .cache/sidecar"))
@click.option("--commit", "revision", default="HEAD", show_default=True, metavar="REV", help="Which commit's records.")
@click.option("--quiet", is_flag=True, help="Print nothing when all goes well.")
@click.option("--cache", default="", metavar="DIR", help="A portable cache of vectors, read before and written after.")
@json_option
@repo_option
def seed(revision: str, quiet: bool, cache: str, as_json: bool, repo: str) -> None:
    """Read the records of a commit and publish them, so that questions are answered at once."""
    progress = Progress(quiet=quiet or as_json)
    with provider(repo) as opened:
        done = opened.seed(revision, cache=cache, progress=progress)
    progress.close()
    if as_json:
        print_json(done)
    elif not quiet:
        print(_line(done))


def _line(done: dict[str, object]) -> str:
    if not done["commit"]:
        return (
            "No commit yet: 0 records. Commit files under knowledge/ first ('sidecar new decision TITLE' starts one)."
        )
    if not done["records"] and not done["unreadable"]:
        commit = str(done["commit"])[:12]
        return f"No records: {commit} has no knowledge/ folder with records. 'sidecar new decision TITLE' starts one."
    bad = f", {done['unreadable']} unreadable ('sidecar check' says why)" if done["unreadable"] else ""
    counted, verb = ("record of", "is") if done["records"] == 1 else ("records of", "are")
    return (
        f"{done['records']} {counted} {str(done['commit'])[:12]} {verb} seeded{bad}: {done['parsed']} read, "
        f"{done['embedded']} passages embedded in {done['seconds']:.1f} s."
    )
