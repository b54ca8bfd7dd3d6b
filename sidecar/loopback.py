"""What every server of ours shares: which names it answers to, how it binds, and how it runs until interrupted."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING

from seed.errors import SidecarError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

NAMES = ("127.0.0.1", "localhost", "[::1]")


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach a server bound to ``host``."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_names(host: str, extra: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the names a client may address the server by: loopback, the bound host, this machine's name, ``extra``."""
    found = [*NAMES, *extra]
    if not is_loopback(host):
        found += [host, socket.gethostname(), socket.getfqdn()]
    return tuple(dict.fromkeys(f"[{n}]" if ":" in n and not n.startswith("[") else n for n in found))


def origins(hosts: Sequence[str]) -> list[str]:
    """Return the origins of pages that were served from these hosts."""
    return [f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")]


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises `SidecarError` where the address or port cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as exc:
        reason = getattr(exc, "strerror", None) or str(exc)
        raise SidecarError(f"{host}:{port} cannot be served: {reason}", "choose another --port or --host") from None


def url_of(bound: socket.socket, path: str) -> str:
    """Return the URL of a path on a bound socket."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}{path}" if ":" in host else f"http://{host}:{port}{path}"


def run(app: ASGIApp, bound: socket.socket) -> None:
    """Serve an application until interrupted, then close the socket."""
    import anyio
    import uvicorn

    settings = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=2
    )
    try:
        anyio.run(lambda: uvicorn.Server(settings).serve(sockets=[bound]))
    except KeyboardInterrupt:
        pass  # uvicorn has wound down already and raises the signal once more for its caller
    finally:
        bound.close()
