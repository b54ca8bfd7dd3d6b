"""`sidecar review`: what a reviewer of a change to the records should look at."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from seed.errors import SidecarError
from sidecar.cli.common import examples, json_option, print_json, repo_option

GATE_NOTE = "The questions of the recall gate that move are not shown here: see the gate's own job."


@click.command(epilog=examples("sidecar review origin/main..HEAD --markdown"))
@click.argument("revisions", metavar="BASE..HEAD", default="")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print a comment for a pull request.")
@json_option
@repo_option
def review(revisions: str, as_markdown: bool, as_json: bool, repo: str) -> None:
    """Say what a change does to the records: trust raised, records retired, near duplicates, contradictions.

    BASE..HEAD compares HEAD with where it left BASE. It always exits with 0: it informs, the gate decides.
    """
    from sidecar.review import markdown

    found = compare(Path(repo), revisions)
    if as_json and not as_markdown:
        print_json(found)
    else:
        print(markdown(found))


def compare(folder: Path, revisions: str) -> dict[str, Any]:
    """Return the review of a range in a repository. Raises `SidecarError`."""
    from seed.git.remote import default_branch, merge_base
    from seed.git.repository import open_repository, resolve
    from sidecar.edits import records_at
    from sidecar.review import review as compared
    from sidecar.review import side

    repo, today = open_repository(folder), datetime.now(UTC).date()
    base, _, head = revisions.replace("...", "..").partition("..")
    branch = default_branch(repo)
    if not base and branch is None:
        raise SidecarError("there is no default branch to compare with", "name both: sidecar review BASE..HEAD")
    tip = resolve(repo, head or "HEAD")
    start = resolve(repo, base) if base else branch.commit if branch else ""
    left = merge_base(repo, start, tip) or start
    before, after = ([(f.path, f.record) for f in records_at(repo, commit)] for commit in (left, tip))
    found = compared(side(before, today), side(after, today))
    return {**found, "base": left, "head": tip, "repository": repo.name, "note": GATE_NOTE}
