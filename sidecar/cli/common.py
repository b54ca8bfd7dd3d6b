"""What the commands share: options, JSON output, progress, and the provider of a folder."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from seed.errors import SidecarError

if TYPE_CHECKING:
    from sidecar.provider import Provider

_TELLING = 0.5
"""Seconds of a stage after which the time that is left can be told."""
WIDEST = 110
"""Lines longer than this are hard to read, however wide the terminal is."""
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


def examples(*lines: str) -> str:
    """Return the block of examples that ends the help of every command; a test parses each of them."""
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines)))


def read_text(name: str) -> str:
    """Return the text of a file, or of standard input for "-". Raises `SidecarError`."""
    try:
        return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except OSError as exc:
        raise SidecarError(f"{name} cannot be read: {exc.strerror}", "name a file, or - for standard input") from None
    except UnicodeDecodeError:
        what = "standard input" if name == "-" else name
        raise SidecarError(f"{what} is not UTF-8 text", "save it as UTF-8, or name the file that was meant") from None


def print_json(value: object) -> None:
    """Print one JSON object."""
    print(json.dumps(value, ensure_ascii=narrow(), indent=None if not sys.stdout.isatty() else 2))


def in_colour() -> bool:
    """Tell whether standard output takes colours: a terminal that can, whose user did not set NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def say(text: str) -> None:
    """Print a text, folded to the width of the terminal; whole lines where it goes into a file or a pipe."""
    if sys.stdout.isatty():
        from sidecar.layout import fold

        text = fold(text, min(shutil.get_terminal_size().columns, WIDEST))
    print(text)


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
        print(f"\r{self.line(stage, done, total, now)}\033[K", end="", file=sys.stderr, flush=True)

    def line(self, stage: str, done: int, total: int, now: float) -> str:
        """Return the line, which never fills the terminal's: the bar goes first where there is no room."""
        left = (now - self.since) / done * (total - done) if done else 0.0
        told = f"{done}/{total}" + (f", {_seconds(left)} left" if done and now - self.since > _TELLING else "")
        room = shutil.get_terminal_size().columns - len(stage) - len(told) - 5
        size = min(room, 24)
        bar = f" [{'#' * (size * done // max(total, 1)):<{size}}]" if size >= 8 else ""  # noqa: PLR2004 - a shorter one says nothing
        return f"{stage}{bar} {told}"[: max(shutil.get_terminal_size().columns - 1, 1)]

    def close(self) -> None:
        """Clear the line."""
        if self.shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _seconds(left: float) -> str:
    """Return a time as a person says it."""
    return f"{left:.0f} s" if left < 120 else f"{left / 60:.0f} min"  # noqa: PLR2004 - two minutes
