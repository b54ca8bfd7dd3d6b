from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from sidecar.provider import Provider
from sidecar.query import Query

Commit = Callable[..., str]
POLICIES = {
    "a hub model": "embedder: {model: BAAI/bge-small-en-v1.5}",
    "an unknown model": "embedder: {model: evil/model-with-code}",
    "a model by URL": "embedder: {model: 'https://evil.invalid/model.onnx'}",
    "a model by path": "embedder: {model: ../../../../tmp/model}",
    "a reranker": "retrieval: {reranker: evil/reranker}",
    "another engine": "engine: postgresql",
    "an engine's address": "engine: postgresql\ndsn: postgresql://evil.invalid/db",
    "candidates pushed by themselves": "candidates: {push: auto}",
    "a workspace outside": "workspaces: {all: ../../..}",
    "a command": "hooks: {post-commit: touch owned}",
    "a YAML object": "embedder: !!python/object/apply:os.system ['touch owned']",
    "a branch that is an option": "default_branch: --upload-pack=touch owned",
}


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what a session tried: connections that were made, and commands other than git's reading ones."""
    tried: list[str] = []

    def connect(*arguments: object, **_: object) -> None:
        tried.append(f"connect {arguments[1:]}")
        raise OSError("no network here")

    real = subprocess.Popen.__init__

    def start(self: subprocess.Popen[bytes], args: list[str], *rest: object, **keys: object) -> None:
        if args[0] != "git" or {"fetch", "push", "clone", "pull"} & set(args):
            tried.append(f"run {args}")
        real(self, args, *rest, **keys)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket, "create_connection", connect)
    monkeypatch.setattr(socket, "getaddrinfo", connect)
    monkeypatch.setattr(subprocess.Popen, "__init__", start)
    monkeypatch.delenv("SIDECAR_ALLOW_HUB", raising=False)
    return tried


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_connects_downloads_and_runs_nothing(
    name: str, repository: Path, commit: Commit, record_text: Callable[..., str], watched: list[str]
) -> None:
    """Whatever a cloned policy says, a question is answered without a connection, download or program."""
    text = f"format: 1\n{POLICIES[name]}\n" + ("" if "embedder" in POLICIES[name] else "embedder: {model: toy}\n")
    commit({"knowledge/policy.yaml": text, "knowledge/d.yaml": record_text("decision-1")})
    with closing(Provider(repository)) as opened:
        opened.session.choose = _without_second(opened.session.choose)
        for _ in range(2):
            answer = opened.recall(Query("body of decision-1"))
            assert [result["id"] for result in answer["results"]] == ["decision-1"]
        opened.status()
    assert watched == []
    assert not list(repository.rglob("owned"))
    assert not (Path(os.environ["SIDECAR_HOME"]) / "hub").exists() or not any(
        (Path(os.environ["SIDECAR_HOME"]) / "hub").iterdir()
    )


def _without_second(choose: Callable[..., object]) -> Callable[..., object]:
    """Leave the second model out: it is part of the installation, and loading it here would only cost time."""
    return lambda policy: list(choose(policy))[:1]  # type: ignore[call-overload]


def test_a_clone_of_a_hostile_project_runs_none_of_its_code(
    repository: Path, commit: Commit, record_text: Callable[..., str]
) -> None:
    """Modules, site files and hooks that lie in a project are not imported or run by a command started inside it."""
    trap = "import pathlib; pathlib.Path('owned').touch()\n"
    files = {
        f"{name}.py": trap for name in ("sidecar_plugin", "sitecustomize", "usercustomize", "yaml", "click", "numpy")
    }
    files |= {"conftest.py": trap, "pyproject.toml": "[project.entry-points.'sidecar.commands']\nx = 'yaml:x'\n"}
    files |= {".githooks/post-checkout": "#!/bin/sh\ntouch owned\n", ".sidecar.yaml": "command: touch owned\n"}
    commit({**files, "knowledge/policy.yaml": "format: 1\nembedder: {model: toy, languages: 'off'}\n"})
    commit({"knowledge/d.yaml": record_text("decision-1")})
    command = [sys.executable, "-P", "-m", "sidecar", "recall", "body of decision-1"]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert (done.returncode, "decision-1" in done.stdout) == (0, True), done.stderr
    assert not list(repository.rglob("owned"))


def test_the_watch_notices(watched: list[str]) -> None:
    """Negative control: a connection and a program are both noticed."""
    with pytest.raises(OSError, match="no network"):
        socket.create_connection(("localhost", 9))
    subprocess.run(["true"], check=True)
    assert [entry.split(" ")[0] for entry in watched] == ["connect", "run"]
