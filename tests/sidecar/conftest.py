from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

TOY = "format: 1\nembedder: {model: toy, languages: 'off'}\n"
CANARY = "quartzcanary"
"""A word of every record's title and body, by which a test sees whether a record's text came out."""
Commit = Callable[..., str]


def record(ident: str, title: str, body: str, **keys: Any) -> dict[str, str]:
    """Return one record file as {path: YAML}: an accepted decision unless told otherwise."""
    data = {"id": ident, "kind": "decision", "title": title, "status": "accepted", "date": "2026-01-02", "body": body}
    text = yaml.safe_dump({**data, **keys}, sort_keys=False, allow_unicode=True)
    return {f"knowledge/{ident}.yaml": text}


def shop_files() -> dict[str, str]:
    """Return a small project's records: in force, superseded, rejected, unverified, and one that is no YAML."""
    files = {"knowledge/policy.yaml": TOY, "knowledge/broken.yaml": "id: [broken\n"}
    files |= record(
        "decision-1",
        f"Orders live in SQLite {CANARY}",
        f"Orders are kept in SQLite files. {CANARY}",
        paths=["shop/store/"],
        tags=["storage"],
        source=[{"path": "docs/adr/1.md"}],
        supersedes=["decision-0"],
    )
    files |= record("decision-0", f"Orders live in Redis {CANARY}", f"Orders are kept in Redis. {CANARY}")
    files |= record(
        "decision-2", f"No MongoDB for orders {CANARY}", f"MongoDB was weighed for orders. {CANARY}", status="rejected"
    )
    files |= record(
        "fact-1",
        f"Checkout retries thrice {CANARY}",
        f"See shop/checkout.py, which retries payments. {CANARY}",
        kind="fact",
        status="unverified",
        date="2026-03-04",
    )
    return files


@pytest.fixture
def shop(repository: Path, commit: Commit) -> Path:
    """Return a repository with the shop's records committed."""
    commit(shop_files(), "First records")
    return repository
