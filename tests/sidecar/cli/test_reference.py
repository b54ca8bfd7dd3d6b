from __future__ import annotations

from pathlib import Path

from sidecar.cli.reference import updated

README = Path(__file__).parents[3] / "README.md"


def test_command_reference_is_current() -> None:
    """The README's command reference is what the commands themselves say."""
    text = README.read_text(encoding="utf-8")
    assert updated(text) == text, "run 'just reference'"
