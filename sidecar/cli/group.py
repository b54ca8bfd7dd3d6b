"""The group of commands, each imported only when it is needed; other packages add theirs as entry points."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import click

from sidecar.cli import COMMANDS
from sidecar.cli.common import examples

HELP = ["-h", "--help"]


class LazyGroup(click.Group):
    """A group whose commands are modules that are imported at the last moment."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*COMMANDS, *super().list_commands(ctx), *_extensions()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one command; unknown names are left to click."""
        if cmd_name in COMMANDS:
            module, attribute = COMMANDS[cmd_name]
            command: click.Command = getattr(import_module(module), attribute)
            return _named(command)
        extension = _extensions().get(cmd_name)
        return _named(extension) if extension else super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, naming near misses."""
        from difflib import get_close_matches

        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            near = get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f"did you mean '{near[0]}'?" if near else "see 'sidecar --help'"
            raise click.UsageError(f"there is no command {args[0]!r} - {hint}")
        return super().resolve_command(ctx, args)


def _named(command: click.Command) -> click.Command:
    """Give a command its names of --help, whoever asks it first: click remembers them with the command."""
    command.context_settings.setdefault("help_option_names", HELP)
    for child in command.commands.values() if isinstance(command, click.Group) else ():
        _named(child)
    return command


def _extensions() -> dict[str, click.Command]:
    """Return the commands that installed packages (evals among them) register as `sidecar.commands`."""
    from importlib.metadata import entry_points  # costs a tenth of the start of a command that needs none

    found: dict[str, click.Command] = {}
    for point in entry_points(group="sidecar.commands"):
        register: Callable[[], dict[str, click.Command]] = point.load()
        found.update(register())
    return found


def _version(ctx: click.Context, _: click.Parameter, value: Any) -> None:  # noqa: ANN401 - click's signature
    if value:
        from sidecar.version import VERSION

        click.echo(f"sidecar {VERSION}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": HELP, "max_content_width": 100},
    epilog=examples(
        "sidecar init",
        'sidecar recall "Which database holds session state?"',
        'sidecar new decision "Session state lives in SQLite"',
        "sidecar recall --help",
    ),
)
@click.option("--version", is_flag=True, callback=_version, expose_value=False, is_eager=True, help="Show the version.")
def sidecar() -> None:
    """Ask what a project has decided, and get what still applies, or an honest no match."""
