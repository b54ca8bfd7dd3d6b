"""Which candidates of a session were handed on already, so that asking twice gives nothing new."""

from __future__ import annotations

from collections.abc import Iterable

from seed.transcript import files
from seed.transcript.archive import Archive

_NAME = "handed"


def known(archive: Archive, identifier: str) -> set[str]:
    """Return the keys of the candidates of a session, or of a variant of it, that were handed on."""
    try:
        text = (archive.home(identifier) / _NAME).read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:
        return set()
    return set(text.split())


def remember(archive: Archive, identifier: str, keys: Iterable[str]) -> None:
    """Add keys to those that were handed on."""
    home = archive.home(identifier)
    with files.exclusive(home / ".lock"):
        every = sorted(known(archive, identifier) | set(keys))
        files.write_atomically(home / _NAME, ["".join(f"{key}\n" for key in every).encode()])
