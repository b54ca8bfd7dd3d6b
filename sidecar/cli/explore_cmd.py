"""`sidecar explore`: pages in the browser to look at the records, and at what answers stand on."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from sidecar.cli.common import examples, json_option, print_json, repo_option


@click.command(epilog=examples("sidecar explore", "sidecar explore --no-open --port 8800"))
@click.option("--port", type=click.IntRange(0, 65535), help="0 takes a free one.  [default: 8766, or a free one]")
@click.option("--no-open", is_flag=True, help="Print the address and open no browser.")
@click.option(
    "--results", type=click.Path(exists=True, path_type=Path), metavar="DIR",
    help="Where 'sidecar eval --out' results are kept.  [default: evals/results]",
)  # fmt: skip
@json_option
@repo_option
def explore(port: int | None, no_open: bool, results: Path | None, as_json: bool, repo: str) -> None:
    """Look at the records in the browser: on this machine only, and nothing there changes one."""
    from sidecar.web.serve import explore as serve

    def announce(url: str) -> None:
        if as_json:
            print_json({"format": 1, "url": url, "repo": str(Path(repo).resolve())})
        else:
            click.echo(f"Open {url}\nIt lasts until you press Ctrl+C.")
        sys.stdout.flush()
        if not no_open:
            _open(url)

    serve(Path(repo), port, results, announce)


def _open(url: str) -> None:
    """Open a browser from a thread, once the server answers; none at all is no failure."""
    import threading
    import webbrowser

    opener = threading.Timer(0.5, webbrowser.open, [url])
    opener.daemon = True
    opener.start()
