"""How often one address may ask over HTTP: a bucket of a minute's requests each, refilled steadily."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

MAX_ADDRESSES = 4096
"""Buckets kept; the address that asked longest ago is forgotten first, and starts with a full one."""
_MINUTE = 60.0


class Buckets:
    """A bucket for each address, which holds up to ``per_minute`` requests and gains as many each minute."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_minute = per_minute
        self.clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, address: str) -> int:
        """Take one request from an address's bucket: 0, or the whole seconds until the next may come."""
        now = self.clock()
        left, then = self._left.pop(address, (float(self.per_minute), now))
        left = min(left + (now - then) * self.per_minute / _MINUTE, self.per_minute)
        allowed = left >= 1
        self._left[address] = (left - allowed, now)
        if len(self._left) > MAX_ADDRESSES:
            self._left.popitem(last=False)
        return 0 if allowed else math.ceil((1 - left) * _MINUTE / self.per_minute)


class RateLimit:
    """Lets an address make so many requests a minute; one more is 429, with ``Retry-After`` in seconds.

    It stands before the bearer token, so that tokens cannot be guessed fast either; what a request claims to be
    never counts, only where it comes from.
    """

    def __init__(self, app: ASGIApp, buckets: Buckets) -> None:
        self.app = app
        self.buckets = buckets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on, or refuse it."""
        client = scope.get("client")
        wait = self.buckets.wait(client[0] if client else "") if scope["type"] == "http" else 0
        if not wait:
            await self.app(scope, receive, send)
            return
        from starlette.responses import PlainTextResponse

        text = f"over {self.buckets.per_minute} requests a minute - wait {wait} s, or see 'sidecar serve --rate-limit'"
        await PlainTextResponse(text, 429, {"Retry-After": str(wait)})(scope, receive, send)
