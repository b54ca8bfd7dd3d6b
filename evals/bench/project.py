"""A made project whose commits each rewrite all records, so that an answer that mixes two is seen, and any loss."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pygit2

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
from sidecar import history
from sidecar.provider import Provider
from sidecar.query import Query
from sidecar.receipt import identify

_TOY = ToyEmbedder(projection=projection(Policy())).identity.digest
POLICY = f"""format: 1
embedder: {{model: toy, languages: 'off'}}
floors:
- {{embedder: '{_TOY}', value: 0, on: fused}}
- {{embedder: '{_TOY}', value: 0, on: lexical}}
""".encode()
"""A floor of 0, so that every record answers and a missing one is seen."""
RECORDS = 6


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
