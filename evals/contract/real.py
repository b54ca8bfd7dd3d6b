"""The real provider as a memory under test: records are committed to the branch that is checked out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from evals.contract.memory import TODAY, Reply, Values
from seed.edit import write
from seed.reader import as_text
from sidecar.provider import Provider
from sidecar.query import Query

Commit = Callable[[Mapping[str, str]], object]
"""Writes files (repository path -> text) into the working tree and commits them, as a reviewer's merge does."""


class GitMemory:
    """A provider on a repository. ``policy`` may be "", else it is committed as knowledge/policy.yaml."""

    def __init__(self, folder: Path, commit: Commit, policy: str = "") -> None:
        self.provider = Provider(folder, clock=lambda: datetime.fromisoformat(f"{TODAY}T12:00:00+00:00"))
        self.commit = commit
        self.policy = policy

    def write(self, records: Sequence[Values]) -> None:
        """Commit records."""
        files = {f"knowledge/{r['id']}.yaml": write({k: as_text(v) for k, v in r.items()}) for r in records}
        self.commit(files | ({"knowledge/policy.yaml": self.policy} if self.policy else {}))

    def recall(self, query: Query) -> Reply:
        """Answer a query."""
        return self.provider.recall(query)

    def show(self, ident: str) -> Reply:
        """Return one record."""
        return self.provider.show(ident)

    def propose(self, record: Values) -> Reply:
        """Commit a candidate."""
        return self.provider.propose(record)

    def revise(self, ident: str, change: Values) -> Reply:
        """Change a candidate."""
        return self.provider.revise(ident, change)

    def forget(self, ident: str, reason: str) -> Reply:
        """Withdraw a candidate."""
        return self.provider.forget(ident, reason)

    def receipt(self, ident: str) -> Reply:
        """Return a stored receipt."""
        return self.provider.receipts.get(ident)[0]

    def verify(self, ident: str) -> str:
        """Replay a receipt."""
        from sidecar.replay import verify

        return verify(self.provider, self.receipt(ident)).outcome
