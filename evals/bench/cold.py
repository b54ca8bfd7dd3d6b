"""Fresh processes against bare Python that imports the same libraries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from evals.bench import made
from evals.bench.figure import Figure, against
from sidecar.provider import Provider

_ASK = "import click, numpy, onnxruntime, pygit2, sqlite3, tokenizers, yaml"
_CHECK = "import click, pygit2, sqlite3, yaml"
_SERVE = "import click, pygit2, sqlite3, yaml, mcp.server"
_HOOK = "import click, pygit2"
_INITIALIZE: Mapping[str, object] = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}  # fmt: skip
_RECORDS = 40


def figures(scratch: Path, *, quick: bool) -> Iterator[Figure]:
    """Measure a question, a staged check, a hook, and a server up to its first answer."""
    folder = made.repository(scratch / "cold", _RECORDS)
    policy = "format: 1\nembedder: {languages: 'off'}\n"
    made.commit(folder, {"knowledge/policy.yaml": policy})
    made.git(folder, "reset", "-q", "--hard")
    provider = Provider(folder)
    provider.seed(second=False)
    provider.close()
    repeats = 5 if quick else 9
    for name, work, libraries in (
        ("recall", _sidecar(folder, "recall", "where", "is", "it", "kept"), _ASK),
        ("check --staged", _sidecar(folder, "check", "--staged"), _CHECK),
        ("hooks run post-commit", _sidecar(folder, "hooks", "run", "post-commit"), _HOOK),
        ("serve to initialize", lambda: _initialized(folder), _SERVE),
    ):
        bare = _run([sys.executable, "-c", libraries])
        yield against(f"{name}, cold", work, bare, "bare Python with the same imports", repeats=repeats, note=libraries)
    yield against(
        "bare Python",
        _run([sys.executable, "-c", "pass"]),
        _run(["git", "--version"]),
        "git --version",
        repeats=repeats,
    )


def _sidecar(folder: Path, *words: str) -> Callable[[], object]:
    return _run([sys.executable, "-P", "-m", "sidecar", *words, "--repo", str(folder)], check=False)


def _run(command: list[str], *, check: bool = True) -> Callable[[], object]:
    return lambda: subprocess.run(command, check=check, capture_output=True, env=_environment())  # noqa: S603 - ours


def _environment() -> dict[str, str]:
    """Return our environment, in which Python keeps what it compiled, as an installed package always has it."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _initialized(folder: Path) -> None:
    command = [sys.executable, "-P", "-m", "sidecar", "serve", "--repo", str(folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, env=_environment(), **pipes) as server:  # type: ignore[call-overload]  # noqa: S603 - ours
        if server.stdin is None or server.stdout is None:
            return
        server.stdin.write(json.dumps(_INITIALIZE) + "\n")
        server.stdin.flush()
        if "serverInfo" not in server.stdout.readline():
            raise AssertionError("the server did not answer initialize")
        server.kill()
