"""Soak the store: kill -9 at random writes, damage, and load.

python -m evals.bench.soak [--kills N] [--seconds N] [--load SECONDS] is one run, bounded in time.

Writes evals/results/reliability.json, from which `python -m evals.bench.reliability` makes docs/reliability.md.
Every record of the made project bears the edition of its commit, so that an answer that mixes two is seen.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pygit2

from evals.bench.faults import Outcome, forked
from seed.embed.base import ToyEmbedder
from seed.embed.choose import projection
from seed.git.command import run_git
from seed.git.repository import Repository, open_repository
from seed.git.write import write_commit
from seed.policy import Policy
from seed.store import inspect
from seed.store.paths import kept_folder
from seed.store.receipts import broken_link, receipts_file
from seed.store.store import Store
from seed.transcript.capture import Options
from sidecar import history
from sidecar.backup import backup, restore
from sidecar.collect import collect
from sidecar.provider import Provider
from sidecar.query import Query
from sidecar.receipt import identify

RESULTS = Path("evals/results/reliability.json")
_TOY = ToyEmbedder(projection=projection(Policy())).identity.digest
POLICY = f"""format: 1
embedder: {{model: toy, languages: 'off'}}
floors:
- {{embedder: '{_TOY}', value: 0, on: fused}}
- {{embedder: '{_TOY}', value: 0, on: lexical}}
""".encode()
"""A floor of 0, so that every record answers and a missing one is seen."""
RECORDS = 6
_WORK = ("ask",) * 7 + ("gc", "capture", "restore")


@dataclass(slots=True)
class Tally:
    """What was tried and what was lost, by kind of fault."""

    tries: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    what: list[str] = field(default_factory=list)

    def count(self, kind: str, losses: list[str]) -> None:
        """Count one try and what it cost."""
        self.tries[kind] += 1
        if losses:
            self.lost[kind] += 1
            self.what.append(f"{kind}: {losses[0]}")


@dataclass(slots=True)
class Project:
    """A made repository whose every commit rewrites all records with the number of its edition."""

    folder: Path
    edition: int = 0
    acknowledged: set[str] = field(default_factory=set)

    @property
    def repo(self) -> Repository:
        """Open the repository."""
        return open_repository(self.folder)

    def commit(self) -> str:
        """Write the next edition straight into the object database and return its commit."""
        self.edition += 1
        files: dict[str, bytes | None] = {"knowledge/policy.yaml": POLICY}
        for number in range(RECORDS):
            files[f"knowledge/decision-{number}.yaml"] = record(number, self.edition)
        repo = self.repo
        parents = [] if repo.git.head_is_unborn else [str(repo.git.head.target)]
        commit = write_commit(repo, files, f"Edition {self.edition}", parents=parents)
        repo.git.references.create("refs/heads/main", pygit2.Oid(hex=commit), force=True)
        return commit


def record(number: int, edition: int) -> bytes:
    """Return the file of one record in an edition."""
    head = f"id: decision-{number}\nkind: decision\ntitle: Orders choice {number}\nstatus: accepted\ndate: 2026-01-01\n"
    return f"{head}body: Orders live in edition{edition} of store {number}.\n".encode()


def made(base: Path) -> Project:
    """Return a new project in a folder, with SIDECAR_HOME beside it."""
    os.environ["SIDECAR_HOME"] = str(base / "home")
    folder = base / "project"
    folder.mkdir(parents=True)
    for arguments in (
        ["init", "-q", "-b", "main"],
        ["config", "user.name", "S"],
        ["config", "user.email", "s@localhost"],
    ):
        run_git(arguments, folder)
    project = Project(folder)
    project.commit()
    return project


def ask(folder: Path, budget: float = 60.0) -> dict[str, Any]:
    """Ask once, and return what the checks need of the answer; the budget leaves a busy machine out of it."""
    with closing(Provider(folder)) as opened:
        answer = opened.recall(Query("orders live in store", limit=RECORDS), budget=budget)
    texts = [result["passage"].get("text", "") for result in answer["results"]]
    receipt = answer["receipt"]["id"] if answer["receipt"]["stored"] else ""
    return {
        "texts": texts,
        "stale": answer["revision"]["stale"],
        "receipt": receipt,
        "degraded": answer.get("degraded", ""),
    }


def losses(project: Project) -> list[str]:
    """Return what is wrong now: a wrong or torn answer, a receipt gone, a chain, vectors or sessions damaged."""
    found = []
    answer = ask(project.folder)
    wanted = {f"edition{project.edition} of store {number}." for number in range(RECORDS)}
    if {text.partition("live in ")[2] for text in answer["texts"]} != wanted or answer["stale"]:
        found.append(f"wrong answer at edition {project.edition}: {answer}")
    repo = project.repo
    _, problem = broken_link(receipts_file(kept_folder(repo.name, repo.common)), identify)
    found += [problem] if problem else []
    with closing(Provider(project.folder)) as opened, closing(Store(opened.session.store.folder)) as store:
        held = {one["id"] for one in opened.receipts.chain()}
        found += [f"receipt {one} is gone" for one in project.acknowledged - held]
        found += [fault] if (fault := inspect.fault(store.database)) else []
        found += [f"damaged vectors {bad}"] if (bad := inspect.damaged_vectors(store.database, store.folder)) else []
    kept = history.verified(history.open_history(project.folder), ())
    return found + [str(one) for one in kept if not one["ok"]]


def work_of(name: str, project: Project, number: int) -> Any:  # noqa: ANN401 - JSON of any of them
    """Do one piece of work, in the process that is to be struck."""
    base = project.folder.parent
    if name == "gc":
        return collect(project.folder)
    if name == "capture":
        path = base / "session.jsonl"
        path.write_text("".join(json.dumps({"role": "user", "content": f"turn {n}"}) + "\n" for n in range(number + 1)))
        history.capture(history.open_history(project.folder), path, "2026-01-01T00:00:00Z", Options())
        return {}
    if name == "restore":
        backup(project.folder, base / "backup.zip")
        return restore(project.folder, base / "backup.zip")
    return ask(project.folder)


def kills(project: Project, count: int, seconds: float, chance: random.Random, tally: Tally) -> int:
    """Strike up to ``count`` processes at random writes within ``seconds``, and look for losses after each.

    Returns how many were struck.
    """
    usual: dict[str, int] = {}
    struck = number = 0
    end = time.monotonic() + seconds
    while struck < count and time.monotonic() < end:
        name = chance.choice(_WORK)
        project.commit()
        number += 1
        at = chance.randint(1, usual[name]) if name in usual else 0
        done: Outcome = forked(partial(work_of, name, project, number), at)
        usual[name] = max(usual.get(name, 0), done.writes if not done.struck else 0) or usual.get(name, 1)
        if isinstance(done.returned, dict) and done.returned.get("receipt"):
            project.acknowledged.add(done.returned["receipt"])
        after = forked(lambda: losses(project))
        found = after.returned if isinstance(after.returned, list) else [str(after.returned)]
        if done.struck:
            struck += 1
            tally.count(f"kill -9 during {name}, at {done.struck}", found)
        elif found or (isinstance(done.returned, dict) and done.returned.get("error")):
            tally.count(f"no fault, {name}", [*found, str(done.returned)])
    return struck


def main() -> int:
    """Run the parts that were asked for and write the results. Returns 1 when anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=900.0, help="the longest that the kills may take")
    parser.add_argument("--repeats", type=int, default=5, help="of each kind of damage")
    parser.add_argument("--load", type=float, default=300.0, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=RESULTS)
    asked = parser.parse_args()
    from evals.bench import damage, load

    tally, start = Tally(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sidecar-soak-") as base:
        chance = random.Random(asked.seed)  # noqa: S311 - which write is struck, no secret
        struck = kills(made(Path(base) / "kills"), asked.kills, asked.seconds, chance, tally)
        print(f"{struck} kills in {time.monotonic() - start:.0f} s, {sum(tally.lost.values())} with a loss", flush=True)
        for number in range(asked.repeats):
            damage.every(Path(base) / f"damage{number}", tally)
        loaded = load.run(made(Path(base) / "load"), asked.load) if asked.load else {}
    result = {
        "format": 1,
        "machine": {"system": platform.system(), "python": sys.version.split()[0], "cores": os.cpu_count()},
        "seconds": round(time.monotonic() - start, 1),
        "kinds": [{"kind": k, "tries": n, "lost": tally.lost[k]} for k, n in sorted(tally.tries.items())],
        "losses": tally.what[:50],
        "load": loaded,
    }
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    asked.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(
        f"{len(tally.tries)} kinds, {sum(tally.tries.values())} tries, {sum(tally.lost.values())} lost; {asked.output}"
    )
    print("\n".join(tally.what[:10]))
    return 1 if tally.what or loaded.get("wrong") else 0


if __name__ == "__main__":
    sys.exit(main())
