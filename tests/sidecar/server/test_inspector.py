from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sidecar.server.tools import PROFILES

from .conftest import SERVE, environment

INSPECTOR = ["npx", "--yes", "@modelcontextprotocol/inspector", "--cli"]
pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("npx") is None, reason="needs npx")]


def inspect(repo: Path, *options: str) -> Any:
    """Run the Inspector's command line against a server on stdio and return what it prints."""
    done = subprocess.run(
        [*INSPECTOR, *SERVE, "--repo", str(repo), *options],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=300,
        check=False,
    )
    if "ENOTFOUND" in done.stderr or "EAI_AGAIN" in done.stderr:
        pytest.skip("the npm registry cannot be reached")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_inspector_lists_and_calls(shop: Path) -> None:
    """The official Inspector accepts the tool list, a call and a resource of the server."""
    assert len(inspect(shop, "--method", "tools/list")["tools"]) == len(PROFILES["default"])
    options = ["--method", "tools/call", "--tool-name", "recall", "--tool-arg", "question=where do orders live"]
    called = inspect(shop, *options)
    assert called["structuredContent"]["results"][0]["id"] == "decision-1"
    shown = inspect(shop, "--method", "resources/read", "--uri", "record://decision-1")
    assert shown["contents"][0]["text"].startswith("# decision-1")
