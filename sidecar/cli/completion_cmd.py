"""`sidecar completion`: the line that lets a shell complete commands, options and values."""

from __future__ import annotations

import click

from sidecar.cli.common import examples

SHELLS = ("bash", "zsh", "fish")


@click.command(
    epilog=examples(
        "sidecar completion bash > ~/.local/share/bash-completion/completions/sidecar",
        "sidecar completion zsh > ~/.zfunc/_sidecar",
        "sidecar completion fish > ~/.config/fish/completions/sidecar.fish",
    )
)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script that completes commands, options and values in a shell."""
    from click.shell_completion import get_completion_class

    from sidecar.cli.group import sidecar

    made = get_completion_class(shell)
    if made is not None:
        script = made(sidecar, {}, "sidecar", "_SIDECAR_COMPLETE")
        # Not .source(), which starts the shell to ask for its version: the script may be for another machine.
        click.echo(script.source_template % script.source_vars())
