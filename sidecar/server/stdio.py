"""Serve over standard input and output, and end with whoever started it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from sidecar.server.app import Sidecar
    from sidecar.server.desk import Desk

_LOOK_SECONDS = 1.0


def serve_stdio(server: Sidecar, desk: Desk, parent: int) -> None:
    """Serve until standard input closes, or until the process ``parent`` (its id at start) is gone."""
    try:
        anyio.run(_serve, server, parent)
    except KeyboardInterrupt:
        # The SDK's reader thread sits in a read that nothing can interrupt; a second Ctrl-C would be needed.
        os._exit(130)
    desk.close()


async def _serve(server: Sidecar, parent: int) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_watch, parent)
        await server.run_stdio_async()
        tasks.cancel_scope.cancel()


async def _watch(parent: int) -> None:
    """End the process when it is handed to another parent: a killed client's pipe may be held open by its children.

    At once and without cleaning up, because the reader thread cannot be woken; the store is built for kills.
    A process that init started already has no client to lose.
    """
    while os.getppid() == parent:  # noqa: ASYNC110 - the system tells nobody of a new parent, one has to look
        await anyio.sleep(_LOOK_SECONDS)
    os._exit(0)
