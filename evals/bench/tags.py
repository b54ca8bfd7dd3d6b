"""Ask generated records for what one of them is tagged with: python -m evals.bench.tags. Prints JSON.

Each pair is one record whose tags say exactly what is asked and one whose title holds one of the words. Counted: how
often the tagged one ranks above the other, asked in words and with a tag filter.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import tempfile
from pathlib import Path

from sidecar.provider import Provider
from sidecar.query import Query

WORDS = (
    "billing",
    "search",
    "login",
    "export",
    "upload",
    "audit",
    "cache",
    "queue",
    "report",
    "theme",
    "invoice",
    "mail",
)
VERSIONS = ("v0.7", "v1.2", "2.0")


def write(folder: Path, ident: str, title: str, tags: list[str]) -> None:
    """Write one accepted decision."""
    lines = [f"id: {ident}", "kind: decision", f"title: {title}", "status: accepted", "date: 2026-01-01"]
    lines += [f"tags: [{', '.join(tags)}]", "body: |", "  It was decided after weighing the options."]
    (folder / f"{ident}.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Build the records, ask, and print the shares."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["SIDECAR_HOME"] = home
        repo = Path(home) / "repository"
        folder = repo / "knowledge"
        folder.mkdir(parents=True)
        pairs = list(itertools.islice(itertools.combinations(WORDS, 2), 60))
        for n, (one, other) in enumerate(pairs):
            write(folder, f"tagged-{n:03}", f"Choice number {n} for the platform", [one, other, VERSIONS[n % 3]])
            write(folder, f"titled-{n:03}", f"The {one} page, part {n}", [])
        for command in (
            ["init", "-q"],
            ["add", "-A"],
            ["-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "x"],
        ):
            subprocess.run(["git", *command], cwd=repo, check=True)  # noqa: S603, S607
        provider = Provider(repo)
        provider.seed(second=False)
        won, exact = [], []
        for n, (one, other) in enumerate(pairs):
            found = provider.recall(Query(f"{one} {other}", limit=50), budget=60)
            ids = [r["id"] for r in found["results"]]
            mine, rival = f"tagged-{n:03}", f"titled-{n:03}"
            won.append(mine in ids and (rival not in ids or ids.index(mine) < ids.index(rival)))
            listed = provider.recall(Query(tags=(one, other)), budget=60)
            exact.append({r["id"] for r in listed["results"]} == {mine})
        provider.close()
    print(
        json.dumps(
            {"pairs": len(pairs), "tagged_above_titled": sum(won) / len(won), "filter_exact": sum(exact) / len(exact)}
        )
    )


if __name__ == "__main__":
    main()
