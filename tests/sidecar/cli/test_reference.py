from __future__ import annotations

from pathlib import Path

from sidecar.cli.reference import updated
from sidecar.cli.reference_pages import pages

ROOT = Path(__file__).parents[3]
README = ROOT / "README.md"


def test_command_reference_is_current() -> None:
    """The README's command reference is what the commands themselves say."""
    text = README.read_text(encoding="utf-8")
    assert updated(text) == text, "run 'just reference'"


def test_reference_pages_are_current() -> None:
    """The pages under docs/reference are what commands, schemas and tools themselves say, and no other is there."""
    folder = ROOT / "docs" / "reference"
    assert {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()} == pages(), "run 'just reference'"
