"""The server asked from within this process, through the protocol, as an agent asks it: for benchmarks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client

from seed.errors import SidecarError
from sidecar.server.app import build
from sidecar.server.desk import Desk
from sidecar.server.tools import chosen

Ask = Callable[[str, dict[str, Any]], Awaitable[Any]]


@asynccontextmanager
async def connected(folder: Path, *profiles: str, any_session: bool = False) -> AsyncIterator[Client]:
    """Serve a repository to this process and give the client, initialised."""
    desk = Desk(folder, any_session=any_session)
    try:
        async with Client(build(desk, chosen(profiles or ("default",)))) as client:
            yield client
    finally:
        desk.close()


@asynccontextmanager
async def asking(folder: Path, *profiles: str, any_session: bool = False) -> AsyncIterator[Ask]:
    """Serve a repository to this process; gives ``ask(tool, arguments)``, which returns the structured reply."""
    async with connected(folder, *profiles, any_session=any_session) as client:
        yield asker(client)


def asker(client: Client) -> Ask:
    """Return how a tool is asked over a client; a tool's error is raised as `SidecarError` with its text."""

    async def ask(name: str, arguments: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        result: Any = await client.call_tool(name, arguments)
        if result.is_error:
            raise SidecarError(result.content[0].text)
        return result.structured_content

    return ask
