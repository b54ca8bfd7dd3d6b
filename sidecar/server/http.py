"""Serve over streamable HTTP: loopback by default, a bearer token anywhere else, Host, Origin and rate checked."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sidecar.loopback import bind, origins, run
from sidecar.server.limit import Buckets, RateLimit

if TYPE_CHECKING:
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.types import ASGIApp, Receive, Scope, Send

    from sidecar.server.app import Sidecar
    from sidecar.server.desk import Desk

PATH = "/mcp"
MAX_REQUEST_BYTES = 1 << 20
"""Far above any question; the SDK's default is 4 MiB."""


def security(names: Sequence[str]) -> TransportSecuritySettings:
    """Return the SDK's checks: 421 for another Host, 403 for another Origin, so that no web page reaches the server."""
    from mcp.server.transport_security import TransportSecuritySettings

    hosts = [shape for name in names for shape in (name, f"{name}:*")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True, allowed_hosts=hosts, allowed_origins=origins(hosts)
    )


class BearerToken:
    """Lets a request through only with ``Authorization: Bearer <token>``; anything else is 401."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app = app
        self.expected = b"Bearer " + token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request; compared in constant time."""
        if scope["type"] != "http" or hmac.compare_digest(self._given(scope), self.expected):
            await self.app(scope, receive, send)
            return
        from starlette.responses import PlainTextResponse

        text = "a bearer token is needed - send 'Authorization: Bearer <token>' with the one 'sidecar serve' printed"
        await PlainTextResponse(text, 401, {"WWW-Authenticate": "Bearer"})(scope, receive, send)

    @staticmethod
    def _given(scope: Scope) -> bytes:
        return next((value for name, value in scope["headers"] if name == b"authorization"), b"")


def application(server: Sidecar, names: Sequence[str], token: str = "", per_minute: int = 0) -> ASGIApp:
    """Return the ASGI application; without a token every caller that passes the Host and Origin checks is served.

    ``per_minute`` is how many requests one address may make, 0 any number.
    """
    app: ASGIApp = server.streamable_http_app(
        streamable_http_path=PATH, max_request_body_size=MAX_REQUEST_BYTES, transport_security=security(names)
    )
    app = BearerToken(app, token) if token else app
    return RateLimit(app, Buckets(per_minute)) if per_minute else app


def serve_http(
    server: Sidecar,
    desk: Desk,
    host: str,
    port: int,
    *,
    token: str,
    names: Sequence[str],
    per_minute: int,
    announce: Callable[[str], None],
) -> None:
    """Serve until interrupted. ``announce`` is told the URL once the port is bound. Raises `SidecarError`."""
    bound = bind(host, port)
    shown = f"[{host}]" if ":" in host else host
    announce(f"http://{shown}:{bound.getsockname()[1]}{PATH}")
    try:
        run(application(server, names, token, per_minute), bound)
    finally:
        desk.close()
