"""Serve over standard input and output, answer every line, and end with whoever started it."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Self, cast

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import (
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from sidecar.server.wire import EDGE_BYTES, MAX_LINE_BYTES, Ident, Refusal, judged, too_long

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import WriteStream

    from sidecar.server.app import Sidecar
    from sidecar.server.desk import Desk

_LOOK_SECONDS = 1.0
_LAST_SECONDS = 5.0
"""How long requests may still be worked on after the end of input."""


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
        lines = Lines(taken_stdin())
        async with stdio_server(stdin=cast("Any", lines)) as (read, write):
            lines.replies = Replies(write)
            served = server._lowlevel_server  # noqa: SLF001 - the SDK has no other way to bring one's own reader
            await served.run(read, lines.replies, served.create_initialization_options())
        tasks.cancel_scope.cancel()


def taken_stdin() -> BinaryIO:
    """Return standard input for us alone: whatever else reads descriptor 0 from now on, children too, finds its end."""
    own = os.dup(sys.stdin.fileno())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)
    return os.fdopen(own, "rb", closefd=False)  # a thread may still sit in a read when all else has ended


class Replies:
    """The stream that replies are sent to; it knows which requests still wait for theirs."""

    def __init__(self, stream: WriteStream[SessionMessage]) -> None:
        self.stream = stream
        self.aclose = stream.aclose
        self.due: set[Ident] = set()

    async def send(self, item: SessionMessage, /) -> None:
        """Send one message on."""
        await self.stream.send(item)
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self.due.discard(item.message.id)

    async def refuse(self, refusal: Refusal) -> None:
        """Answer a line that was no message."""
        error = ErrorData(code=refusal.code, message=refusal.text)
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):  # the client has gone
            await self.stream.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=refusal.ident, error=error)))

    def note(self, message: JSONRPCMessage) -> None:
        """Remember a request, and forget one that its client cancels, which is never answered."""
        if isinstance(message, JSONRPCRequest):
            self.due.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            ident = (message.params or {}).get("requestId")
            self.due -= {ident} if isinstance(ident, int | str) else set()

    async def __aenter__(self) -> Self:
        await self.stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self.stream.__aexit__(kind, error, trace)


class Lines:
    """The lines of standard input that are messages, for the SDK's reader; the others are answered here."""

    def __init__(self, source: BinaryIO) -> None:
        self.source = source
        self.replies: Replies | None = None

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield each message as text. The end comes when all are answered, so that input may come from a file."""
        while line := await anyio.to_thread.run_sync(self._read):
            message, found = (None, line) if isinstance(line, tuple) else judged(line)
            if self.replies is None:
                continue  # not reached: the server sets it before this task first runs
            for refusal in found:
                await self.replies.refuse(refusal)
            if message is not None and isinstance(line, bytes):
                self.replies.note(message)
                yield line.decode("utf-8-sig")
        with anyio.move_on_after(_LAST_SECONDS):
            while self.replies is not None and self.replies.due:  # noqa: ASYNC110 - once, at the end
                await anyio.sleep(_LAST_SECONDS / 100)

    def _read(self) -> bytes | tuple[Refusal]:
        """Return the next line; of one over the bound only the refusal, its middle is never held."""
        line = self.source.readline(MAX_LINE_BYTES + 1)
        if len(line) <= MAX_LINE_BYTES:
            return line
        head, tail = line[:EDGE_BYTES], line[-EDGE_BYTES:]
        while not tail.endswith(b"\n") and (more := self.source.readline(EDGE_BYTES)):
            tail = (tail + more)[-EDGE_BYTES:]
        return (too_long(head, tail),)


async def _watch(parent: int) -> None:
    """End the process when it is handed to another parent: a killed client's pipe may be held open by its children.

    At once and without cleaning up, because the reader thread cannot be woken; the store is built for kills.
    A process that init started already has no client to lose.
    """
    while os.getppid() == parent:  # noqa: ASYNC110 - the system tells nobody of a new parent, one has to look
        await anyio.sleep(_LOOK_SECONDS)
    os._exit(0)
