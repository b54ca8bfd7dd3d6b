from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from mcp import Client, MCPError, StdioServerParameters

from sidecar.server.app import Sidecar, build
from sidecar.server.desk import Desk
from sidecar.server.tools import chosen

MODES = ("auto", "legacy", "2026-07-28")
SERVE = [sys.executable, "-P", "-m", "sidecar", "serve"]
Result = TypeVar("Result")


def environment() -> dict[str, str]:
    """Return this test's environment for a server process."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}


def stdio(repo: Path, *options: str) -> StdioServerParameters:
    """Return how to start a server on stdin and stdout."""
    return StdioServerParameters(command=SERVE[0], args=[*SERVE[1:], "--repo", str(repo), *options], env=environment())


def ask(target: Any, work: Callable[[Client], Awaitable[Result]], mode: str = "auto") -> Result:
    """Run ``work`` with the SDK's client on a server, a process or a URL; its protocol error is raised bare."""

    async def run() -> Result | MCPError:
        async with Client(target, mode=mode, read_timeout_seconds=60) as client:
            try:
                return await work(client)
            except MCPError as exc:
                return exc

    found = asyncio.run(run())
    if isinstance(found, MCPError):
        raise found
    return found


@pytest.fixture
def server(shop: Path) -> Iterator[Sidecar]:
    """Return the server of the shop, in this process."""
    desk = Desk(shop)
    yield build(desk, chosen(("default",)))
    desk.close()
