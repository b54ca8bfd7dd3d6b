"""`sidecar serve`: the MCP server, over standard input and output or over HTTP."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import click

from seed.errors import SidecarError
from sidecar.cli.common import examples, repo_option

PROFILES = ("default", "history", "review")


@click.command(
    epilog=examples(
        "sidecar serve",
        "sidecar serve --allow ~/code --profile default --profile review",
        "sidecar serve --http --port 8765",
    )
)
@click.option("--http", "over_http", is_flag=True, help="Streamable HTTP instead of stdin and stdout.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to bind; any but loopback needs a token.")
@click.option("--port", default=8765, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
@click.option("--token", default="", envvar="SIDECAR_TOKEN", help="Bearer token that callers must send.")
@click.option(
    "--allow-host", "names", multiple=True, metavar="NAME", help="Another name callers may use for this host."
)
@click.option(
    "--rate-limit",
    "per_minute",
    default=600,
    show_default=True,
    type=click.IntRange(0),
    help="Requests a minute from one address over HTTP; 0 for no limit.",
)
@click.option("--allow", "allowed", multiple=True, metavar="DIR", help="Repositories below DIR may be asked about too.")
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    type=click.Choice(PROFILES),
    default=("default",),
    show_default=True,
    help="Which tools to serve (may be repeated).",
)
@click.option("--any-session", is_flag=True, help="Let agents keep sessions that ran in other repositories.")
@repo_option
def serve(
    over_http: bool,
    host: str,
    port: int,
    token: str,
    names: tuple[str, ...],
    per_minute: int,
    allowed: tuple[str, ...],
    profiles: tuple[str, ...],
    any_session: bool,
    repo: str,
) -> None:
    """Serve the records to agents through the Model Context Protocol."""
    parent = os.getppid()  # before the slow imports: a client that dies meanwhile must be noticed
    from sidecar.server.app import build
    from sidecar.server.desk import Desk
    from sidecar.server.tools import chosen

    desk = Desk(Path(repo).expanduser(), [_folder(folder) for folder in allowed], any_session=any_session)
    server = build(desk, chosen(profiles))
    if not over_http:
        from sidecar.server.stdio import serve_stdio

        serve_stdio(server, desk, parent)
        return
    from sidecar.loopback import host_names, is_loopback
    from sidecar.server.http import serve_http

    if not token and not is_loopback(host):
        token = secrets.token_urlsafe(32)
        click.echo(f"token: {token}", err=True)
    serve_http(
        server,
        desk,
        host,
        port,
        token=token,
        names=host_names(host, names),
        per_minute=per_minute,
        announce=lambda url: click.echo(f"serving {url}", err=True),
    )


def _folder(name: str) -> Path:
    """Return a folder that must be there; an agent's configuration is read by no shell, so ~ is known here."""
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise SidecarError(f"{name} is no folder", "name a folder that is there, from the root on")
    return folder
