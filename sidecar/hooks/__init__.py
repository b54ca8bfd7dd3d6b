"""Git hooks: what stands in the hooks folder, how ours get in beside it and out again, and what they run."""

from __future__ import annotations

from pathlib import Path

from seed.errors import SidecarError

NAMES = ("pre-commit", "post-commit", "post-merge", "post-checkout", "post-rewrite")
SCRIPT = "sidecar-hook"
"""The half that all of them share, beside them in the hooks folder."""


def shim(name: str) -> bytes:
    """Return a shipped file of hooks/: from the installed package, else from the checkout. Raises `SidecarError`."""
    packaged = Path(__file__).parent / "shims"
    folder = packaged if packaged.is_dir() else Path(__file__).parents[2] / "hooks"
    try:
        return (folder / name).read_bytes().replace(b"\r\n", b"\n")
    except OSError:
        raise SidecarError(f"{folder / name} is missing", "install knowledge-sidecar again") from None
