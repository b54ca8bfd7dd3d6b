from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2 as httpx
import pytest
import uvicorn

from sidecar.loopback import bind
from sidecar.server.desk import Desk
from sidecar.web.app import application

TOKEN = "a-token-of-the-test"  # noqa: S105 - one of this process


@dataclass(frozen=True)
class Site:
    """The pages of a repository, served on this machine."""

    base: str
    port: int
    browser: httpx.Client

    def get(self, path: str, **headers: str) -> httpx.Response:
        """Return a page as a browser gets it that came in with the token."""
        return self.browser.get(self.base + path, headers=headers)


@contextmanager
def serving(folder: Path, results: Path | None = None) -> Iterator[Site]:
    """Serve a folder's pages on a free port, and come in with the token."""
    bound = bind("127.0.0.1", 0)
    port = bound.getsockname()[1]
    desk = Desk(folder)
    app = application(desk, token=TOKEN, port=port, results=results)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, server_header=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    base = f"http://127.0.0.1:{port}"
    try:
        with httpx.Client(timeout=60, trust_env=False) as browser:
            while not server.started:
                time.sleep(0.01)
            browser.get(f"{base}/?token={TOKEN}")
            yield Site(base, port, browser)
    finally:
        server.should_exit = True
        thread.join(20)
        bound.close()
        desk.close()


@pytest.fixture
def site(shop: Path) -> Iterator[Site]:
    """Return the shop's pages."""
    with serving(shop) as found:
        yield found
