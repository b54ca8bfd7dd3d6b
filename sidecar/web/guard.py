"""Who may look: this machine's own browser, with the token that `sidecar explore` printed, and no other page in it."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Sequence
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode

from sidecar.loopback import NAMES, origins

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

STATIC = "/static/"
METHODS = ("GET", "HEAD")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
"""On every response: nothing of another origin is loaded, framed, sent to or told."""
Refuse = Callable[[int, str, str], "Response"]
"""Makes the page of a refusal: (HTTP status, what is wrong, what to do)."""


class Guard:
    """Checks Host, Origin, method and token of each request, and sets the headers of each response.

    The token of the URL is exchanged for a cookie of another value and leaves the address bar, so that neither the
    history nor a picture of the screen gives it away. Style sheet and scripts are public: they hold no record.
    """

    def __init__(self, app: ASGIApp, token: str, port: int, refuse: Refuse, names: Sequence[str] = NAMES) -> None:
        self.app = app
        self.refuse = refuse
        self.hosts = tuple(f"{name}:{port}" for name in names)
        self.origins = tuple(origins(self.hosts))
        self._token = token.encode()
        # Cookies are shared by all ports of a host: a name for each keeps two servers apart.
        self.cookie = f"sidecar-{port}"
        self._secret = secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                store = [] if scope["path"].startswith(STATIC) else [(b"cache-control", b"no-store")]
                message["headers"] = [*message["headers"], *own, *store]
            await send(message)

        answer = self._refusal(scope) or self._entrance(scope)
        await (answer or self.app)(scope, receive, sealed)

    def _refusal(self, scope: Scope) -> Response | None:
        host, origin = _header(scope, b"host"), _header(scope, b"origin")
        if host.lower() not in self.hosts:
            return self.refuse(
                421, "This address is not served here", "open the address that 'sidecar explore' printed"
            )
        if origin and origin.lower() not in self.origins:
            return self.refuse(403, "Another page asked", "open the address that 'sidecar explore' printed")
        if scope["method"] not in METHODS:
            return self.refuse(405, "These pages only show", "change records in files, with Git, and commit them")
        return None

    def _entrance(self, scope: Scope) -> Response | None:
        """Exchange a token for the cookie, or ask for one."""
        from starlette.responses import RedirectResponse

        if scope["path"].startswith(STATIC):
            return None
        asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in asked if name == "token"]
        if given and hmac.compare_digest(given[-1].encode(), self._token):
            rest = urlencode([pair for pair in asked if pair[0] != "token"])
            path = "/" + quote(scope["path"].lstrip("/"))  # never "//host": that would lead elsewhere
            answer = RedirectResponse(path + ("?" + rest if rest else ""), 303)
            answer.set_cookie(self.cookie, self._secret, httponly=True, samesite="strict", path="/")
            return answer
        if hmac.compare_digest(_cookie(scope, self.cookie).encode(), self._secret.encode()):
            return None
        return self.refuse(401, "These pages need their token", "open the whole address that 'sidecar explore' printed")


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def _cookie(scope: Scope, name: str) -> str:
    try:
        found = SimpleCookie(_header(scope, b"cookie")).get(name)
    except CookieError:
        return ""
    return found.value if found else ""
