"""The application: which page answers which address, in which thread, and what an error looks like."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from seed.errors import SidecarError
from sidecar.reading import MissingRecordError
from sidecar.server.desk import Desk
from sidecar.web.given import Given
from sidecar.web.guard import Guard
from sidecar.web.html import render, sentence
from sidecar.web.pages import candidates, conflicts, gate, graph, health, home, receipts, record, records, timeline
from sidecar.web.reader import NotHereError, Page, Reader

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from sidecar.provider import Provider

Surface = Callable[[Reader, Given], Page]
PAGES: Mapping[str, Surface] = {
    "/": home.page,
    "/records": records.page,
    "/record/{name:path}": record.page,
    "/timeline": timeline.page,
    "/graph": graph.page,
    "/candidates": candidates.page,
    "/candidate/{name:path}": candidates.one,
    "/contradictions": conflicts.page,
    "/receipts": receipts.page,
    "/receipt/{name:path}": receipts.one,
    "/gate": gate.page,
}
"""Every page that reads the provider; a test shuts the one door and looks at each of them."""
APART: Mapping[str, Callable[[Path, Given], Page]] = {"/health": health.page}
"""Pages that open for themselves what they look at, so that they wait for no other page and no page for them."""
NAVIGATION = (
    ("Knowledge", (("/", "Home"), ("/records", "Records"), ("/timeline", "Timeline"), ("/graph", "Graph"))),
    ("Review", (("/candidates", "Candidates"), ("/contradictions", "Contradictions"))),
    ("Trust", (("/receipts", "Receipts"), ("/gate", "Gate"), ("/health", "Health"))),
)
_PARENTS = {"/record": "/records", "/candidate": "/candidates", "/receipt": "/receipts"}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around a page: the repository, the commit its records are of, and what is to be said of that."""

    repository: str
    path: str = ""
    commit: str = ""
    stale: bool = False
    notes: tuple[str, ...] = ()


class Pages:
    """Draws pages. One thread reads the provider, so that the event loop stays free."""

    def __init__(self, desk: Desk, results: Path | None) -> None:
        self.desk = desk
        self.results = results
        self._reader: Reader | None = None

    def route(self, path: str, surface: Surface) -> Route:
        """Return the route of a page."""
        if surface is gate.page:
            surface = partial(gate.page, folder=self.results)

        async def endpoint(request: Request) -> Response:
            work = partial(self._read, surface, _given(request))
            try:
                return await self.desk.run("", work)
            except Exception as exc:  # noqa: BLE001 - whatever a page could not do is a page too, never a traceback
                return self.failed(exc)

        return Route(path, endpoint, methods=["GET"])

    def apart(self, path: str, surface: Callable[[Path, Given], Page]) -> Route:
        """Return the route of a page that opens what it looks at itself."""

        async def endpoint(request: Request) -> Response:
            given = _given(request)
            try:
                page = await anyio.to_thread.run_sync(surface, self.desk.folder, given)
            except Exception as exc:  # noqa: BLE001 - as above
                return self.failed(exc)
            return self.draw(page, Frame(self.desk.folder.name, given.path))

        return Route(path, endpoint, methods=["GET"])

    def _read(self, surface: Surface, given: Given, provider: Provider) -> Response:
        if self._reader is None or self._reader.provider is not provider:
            self._reader = Reader(provider)
        page = surface(self._reader, given)
        view = self._reader.look().view
        notes = (view.degraded,) if view.degraded else ()
        first = "/" + given.path.split("/")[1]
        here = _PARENTS.get(first, first)
        return self.draw(page, Frame(provider.session.repo.name, here, view.commit, view.stale, notes))

    def draw(self, page: Page, frame: Frame) -> Response:
        """Return a page as HTML."""
        values = {"title": page.title, "frame": frame, "navigation": NAVIGATION, **page.values}
        return HTMLResponse(render(page.template, values), page.status)

    def refused(self, status: int, what: str, fix: str) -> Response:
        """Return the page of an error: one line that says what happened, and what to do."""
        page = Page("error.html", what, {"what": what, "fix": fix, "status": status}, status)
        return self.draw(page, Frame(self.desk.folder.name))

    def failed(self, exc: Exception) -> Response:
        """Return the page of whatever a page could not do."""
        if isinstance(exc, SidecarError):
            status = 404 if isinstance(exc, (MissingRecordError, NotHereError)) else 400
            return self.refused(status, sentence(exc.message), exc.fix)
        _log.error("a page failed", exc_info=exc)
        return self.refused(500, f"The page failed inside the server ({type(exc).__name__})", "run 'sidecar doctor'")

    async def lost(self, _request: Request, exc: Exception) -> Response:
        """Return the page of an address that leads nowhere."""
        status = exc.status_code if isinstance(exc, HTTPException) else 404
        return self.refused(status, "There is no such page", "begin at the first page")


def _given(request: Request) -> Given:
    name = str(request.path_params.get("name", ""))
    return Given(request.url.path, name, dict(request.query_params))


def application(desk: Desk, *, token: str, port: int, results: Path | None = None) -> ASGIApp:
    """Return the ASGI application, guarded. Nothing is opened yet: neither store, nor repository, nor model."""
    pages = Pages(desk, results)
    routes = [
        *(pages.route(path, surface) for path, surface in PAGES.items()),
        *(pages.apart(path, surface) for path, surface in APART.items()),
        Mount("/static", StaticFiles(packages=[("sidecar.web", "static")]), name="static"),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: pages.lost})
    return Guard(app, token, port, pages.refused)
