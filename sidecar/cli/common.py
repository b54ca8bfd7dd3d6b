"""What the commands share: options, JSON output, progress, and the provider of a folder."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from sidecar.provider import Provider

Command = TypeVar("Command", bound=Callable[..., Any])


def repo_option(command: Command) -> Command:
    """Add ``--repo DIR``."""
    return click.option(
        "--repo", default=".", show_default=True, metavar="DIR", help="A folder inside the repository."
    )(command)


def json_option(command: Command) -> Command:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(command)


def narrow() -> bool:
    """Tell whether standard output lacks characters: JSON is then plain ASCII, for its own escapes are JSON, too."""
    return (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"


def print_json(value: object) -> None:
    """Print one JSON object."""
    print(json.dumps(value, ensure_ascii=narrow(), indent=None if not sys.stdout.isatty() else 2))


@contextmanager
def provider(repo: str) -> Iterator[Provider]:
    """Open the provider of a folder and close it again. Raises `SidecarError`."""
    from sidecar.provider import Provider

    opened = Provider(Path(repo))
    try:
        yield opened
    finally:
        opened.close()


class Progress:
    """A progress line on a terminal for work that takes over a second; silent everywhere else."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.start = time.monotonic()
        self.shown = 0.0
        self.active = not quiet and sys.stderr.isatty()
        self.stage, self.since = "", self.start

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Tell that ``done`` of ``total`` are finished."""
        now = time.monotonic()
        if stage != self.stage:
            self.stage, self.since = stage, now
        if not self.active or now - self.start < 1 or (now - self.shown < 0.1 and done < total):  # noqa: PLR2004 - a second, ten a second
            return
        self.shown = now
        left = (now - self.since) / max(done, 1) * (total - done)
        bar = "#" * (24 * done // max(total, 1))
        print(f"\r{stage} [{bar:<24}] {done}/{total}, {left:.0f} s left ", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Clear the line."""
        if self.shown:
            print("\r" + " " * 78 + "\r", end="", file=sys.stderr, flush=True)
