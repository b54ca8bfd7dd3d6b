"""Serve the pages on this machine alone, until interrupted."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from seed.errors import SidecarError
from sidecar.loopback import bind, run, url_of
from sidecar.server.desk import Desk

if TYPE_CHECKING:
    import socket

HOST = "127.0.0.1"
PORT = 8766
"""Always the same where it is free, so that a browser keeps what was chosen for its address."""


def explore(folder: Path, port: int | None, results: Path | None, announce: Callable[[str], None]) -> None:
    """Serve until interrupted. ``announce`` is told the URL, token included, once the port is bound.

    Without ``port``, `PORT` or else a free one. Raises `SidecarError` where the port cannot be had, or where
    ``folder`` is in no repository.
    """
    from seed.git.repository import open_repository

    open_repository(folder)  # before a browser is opened on a page that could only say this
    from sidecar.web.app import application

    bound = _bound(port)
    token = secrets.token_urlsafe(24)
    desk = Desk(folder)
    announce(url_of(bound, f"/?token={token}"))
    try:
        run(application(desk, token=token, port=bound.getsockname()[1], results=results), bound)
    finally:
        desk.close()


def _bound(port: int | None) -> socket.socket:
    if port is not None:
        return bind(HOST, port)
    try:
        return bind(HOST, PORT)
    except SidecarError:
        return bind(HOST, 0)
