"""The commands that this package adds to `sidecar`."""

from __future__ import annotations

import click


def register() -> dict[str, click.Command]:
    """Return command name -> command, for the entry-point group `sidecar.commands`."""
    return {}
