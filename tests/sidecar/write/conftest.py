from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sidecar.provider import Provider

POLICY = "embedder: {model: toy, languages: 'off'}\n"
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def run(cwd: Path, *arguments: str, check: bool = True) -> str:
    done = subprocess.run(["git", *arguments], cwd=cwd, check=check, capture_output=True)
    return done.stdout.decode("utf-8", "replace").strip()


def put(cwd: Path, files: dict[str, str], message: str = "change") -> str:
    """Write files, commit them and return the commit."""
    for path, text in files.items():
        file = cwd / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    run(cwd, "add", "-A")
    run(cwd, "commit", "-q", "-m", message)
    return run(cwd, "rev-parse", "HEAD")


def fingerprint(folder: Path) -> dict[str, str]:
    """Return the sha256 of every file of the working tree and of the index."""
    files = [p for p in folder.rglob("*") if p.is_file() and ".git" not in p.relative_to(folder).parts]
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in [*files, folder / ".git" / "index"]}


def decision(ident: str, title: str, body: str, **keys: str) -> str:
    lines = [f"id: {ident}", "kind: decision", f"title: {title}", f"status: {keys.pop('status', 'accepted')}"]
    lines += [f"{key}: {value}" for key, value in keys.items()]
    return "\n".join([*lines, "body: |", f"  {body}", ""])


@pytest.fixture
def clone(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that clones the bare remote, which holds one decision, under a name."""
    bare, first = tmp_path / "remote.git", tmp_path / "seeded"
    run(tmp_path, "init", "-q", "--bare", "-b", "main", str(bare))
    run(tmp_path, "clone", "-q", str(bare), str(first))
    run(first, "switch", "-q", "-c", "main")
    text = decision("decision-0001", "The store is SQLite  # why: one file", "We keep records in SQLite on disk.")
    put(first, {"knowledge/policy.yaml": POLICY, "knowledge/decisions/decision-0001.yaml": text})
    run(first, "push", "-q", "origin", "main")

    def make(name: str) -> Path:
        run(tmp_path, "clone", "-q", str(bare), str(tmp_path / name))
        return tmp_path / name

    return make


@pytest.fixture
def work(clone: Callable[[str], Path]) -> Path:
    return clone("work")


@pytest.fixture
def opened() -> Iterator[Callable[[Path], Provider]]:
    """Return a function that opens a provider at a fixed time; all are closed at the end."""
    providers: list[Provider] = []

    def make(folder: Path) -> Provider:
        providers.append(Provider(folder, clock=lambda: NOW))
        return providers[-1]

    yield make
    for provider in providers:
        provider.close()


@pytest.fixture
def provider(work: Path, opened: Callable[[Path], Provider]) -> Provider:
    return opened(work)


def proposal(**keys: Any) -> dict[str, Any]:
    given = {"kind": "decision", "title": "The store is PostgreSQL", "body": "We keep records in PostgreSQL."}
    return given | keys
