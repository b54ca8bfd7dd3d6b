from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click

from sidecar.cli.group import sidecar

ROOT = Path(__file__).parents[3]
NAMED = re.compile(r"'sidecar ([a-z]+)(?: ([a-z]+))?|(?:^|; |&& )sidecar ([a-z]+)(?: ([a-z]+))?")
PROSE = {"is", "keeps", "was", "reads", "seeding"}  # words of sentences


def texts() -> Iterator[tuple[Path, str]]:
    """Yield every text in the code of seed and sidecar that is no docstring."""
    for package in ("seed", "sidecar"):
        for file in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
                    yield file, node.value


def test_every_command_that_is_advised_exists() -> None:
    """Whatever a finding, an error or an answer tells the user to run is a command of ours, subcommand included."""
    context = click.Context(sidecar)
    advised = 0
    for file, text in texts():
        for match in NAMED.finditer(text):
            name, sub = match[1] or match[3], match[2] or match[4]
            if name in PROSE:
                continue
            command = sidecar.get_command(context, name)
            assert command is not None, f"{file}: {text!r} names 'sidecar {name}'"
            if isinstance(command, click.Group) and sub:
                assert command.get_command(context, sub) is not None, f"{file}: {text!r}"
            advised += 1
    assert advised > 50
