from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click
import pytest

from sidecar.cli.group import sidecar

HEAD = "\b\nExamples:\n"


def commands(command: click.Command = sidecar, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Yield the path and the command of every command and group, hidden ones too."""
    yield " ".join(("sidecar", *path)), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from commands(child, (*path, name))


ALL = dict(commands())


def example_lines(command: click.Command) -> list[str]:
    """Return the examples of a command's help."""
    epilog = command.epilog or ""
    assert epilog.startswith(HEAD), "end its help with sidecar.cli.common.examples(...)"
    return [line.strip() for line in epilog.removeprefix(HEAD).split("\n")]


def parse(line: str) -> None:
    """Parse an example with click's own parser, from the group down to the command, and run nothing."""
    words = shlex.split(re.split(r"\s[|><]", line)[0])
    assert words.pop(0) == "sidecar"
    command: click.Command = sidecar
    context = command.make_context("sidecar", words)
    while isinstance(command, click.Group):
        name, found, words = command.resolve_command(context, [*context._protected_args, *context.args])
        assert found is not None
        command, context = found, found.make_context(name, words, parent=context)


@pytest.mark.parametrize("path", ALL)
def test_every_command_has_examples_that_parse(path: str) -> None:
    """Each command ends its help with a block of examples; each is a call of that command with arguments that parse."""
    for line in example_lines(ALL[path]):
        assert line.startswith(path)
        if "--help" not in line:
            parse(line)


@pytest.mark.parametrize("path", ALL)
def test_the_examples_are_shown_one_a_line(path: str) -> None:
    """The help shows the examples as they are, one a line, and nothing that click would reflow."""
    context = click.Context(ALL[path], info_name=path, max_content_width=100, terminal_width=100)
    shown = ALL[path].get_help(context).split("\n")
    start = shown.index("  Examples:")
    assert [line.strip() for line in shown[start + 1 :]] == example_lines(ALL[path])


@pytest.mark.parametrize("path", ALL)
def test_every_command_and_option_says_what_it_does(path: str) -> None:
    """Each command has a help text that starts with a sentence, and each option one of its own."""
    assert (ALL[path].help or "").strip().endswith((".", ")"))
    for parameter in ALL[path].params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            assert parameter.help, parameter.name


@pytest.mark.parametrize(
    "line", ["sidecar recall --no-such", "sidecar new", "sidecar hooks nothing", "sidecar eval -x"]
)
def test_a_wrong_example_is_noticed(line: str) -> None:
    """Negative control: what no command takes is refused by the parser of this test."""
    with pytest.raises(click.UsageError):
        parse(line)
