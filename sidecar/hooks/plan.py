"""Which file of a hooks folder to write, chain or restore. Pure: it is shown what stands there and returns steps.

A hook in shell gets our lines after its first line and keeps its name, folder, arguments, standard input and exit
code. Any other (a program, a link, one that is switched off) is kept under ``sidecar-theirs/`` and run from our file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from seed.errors import SidecarError

OPEN, CLOSE = b"# >>> knowledge-sidecar", b"# <<< knowledge-sidecar\n"
SHEBANG = b"#!/bin/sh\n"
_SHELLS = {b"sh", b"bash", b"dash", b"ksh", b"zsh", b"ash"}

Fires = Literal["ours", "theirs", "both", "none"]


@dataclass(frozen=True, slots=True)
class Found:
    """What stands at a path: ``content`` is None for nothing; a ``link`` is never read through."""

    content: bytes | None = None
    executable: bool = False
    link: bool = False

    @property
    def ours(self) -> bool:
        """Tell whether our lines are in it."""
        return not self.link and self.content is not None and OPEN in self.content

    @property
    def theirs(self) -> bool:
        """Tell whether anything beside our lines is in it."""
        return self.content is not None and not (self.ours and without_block(self.content) == SHEBANG)

    @property
    def runs_legacy(self) -> bool:
        """Tell whether it is the pre-commit framework's, which also runs the ``.legacy`` it found before it."""
        return self.content is not None and b"pre-commit" in self.content and b"hook-impl" in self.content


@dataclass(frozen=True, slots=True)
class Place:
    """One hook: the file that Git runs, the one kept aside for ours to run, and pre-commit's ``.legacy``."""

    name: str
    found: Found
    aside: Found = Found()
    legacy: Found = Found()


@dataclass(frozen=True, slots=True)
class Step:
    """One change: write ``content`` (ours: executable; theirs: as it was), remove, keep a copy aside, bring it back."""

    do: Literal["write", "remove", "aside", "back"]
    name: str
    content: bytes = b""
    keep_mode: bool = False


def block(shim: bytes) -> bytes:
    """Return our lines of a shipped shim."""
    return shim[shim.index(OPEN) : shim.index(CLOSE) + len(CLOSE)]


def without_block(content: bytes) -> bytes:
    """Return a file less our lines, all else byte for byte."""
    start = content.find(OPEN)
    end = content.find(CLOSE, start)
    return content if start < 0 or end < 0 else content[:start] + content[end + len(CLOSE) :]


def with_block(content: bytes, lines: bytes) -> bytes | None:
    """Return a shell script with our lines after its first line, or None for what is no shell script."""
    first, newline, _ = content.partition(b"\n")
    if not newline or b"\0" in content or content == SHEBANG:
        return None
    if not first.startswith(b"#!"):
        return lines + content  # without an interpreter named, Git has sh run it
    words = (word.rsplit(b"/", 1)[-1] for word in first[2:].split(b" "))
    program = next((w for w in words if w and w != b"env" and not w.startswith(b"-")), b"")
    at = len(first) + 1
    return content[:at] + lines + content[at:] if program in _SHELLS else None


def install_steps(place: Place, shim: bytes) -> list[Step]:
    """Return what makes our lines run for a hook; nothing when they do. Raises `SidecarError`."""
    name, found = place.name, place.found
    if found.content is None:
        return [Step("write", name, shim)]
    if found.ours:
        current = _renewed(found.content, block(shim))
        same = current == found.content and (found.executable or found.theirs)
        return [] if same else [Step("write", name, current, keep_mode=found.theirs)]
    if place.legacy.ours and found.runs_legacy:
        return []
    if place.aside.content is not None:
        raise SidecarError(
            f"{name} is not ours, and sidecar-theirs/{name} keeps an older one",
            "compare the two, remove one and run 'sidecar hooks install' again",
        )
    lined = with_block(found.content, block(shim)) if found.executable and not found.link else None
    return [Step("write", name, lined, keep_mode=True)] if lined else [Step("aside", name), Step("write", name, shim)]


def _renewed(content: bytes, lines: bytes) -> bytes:
    start = content.index(OPEN)
    rest = without_block(content)
    return rest[:start] + lines + rest[start:]


def uninstall_steps(place: Place) -> list[Step]:
    """Return what restores a hook as it was. Raises `SidecarError` when it was edited so that this cannot be told."""
    name, found = place.name, place.found
    steps = []
    if place.legacy.ours and not place.legacy.theirs:
        steps = [Step("remove", f"{name}.legacy")]
    kept = place.aside.content is not None
    if found.ours and found.theirs and kept:
        raise SidecarError(
            f"{name} was edited after it was installed, and sidecar-theirs/{name} keeps the one before",
            "merge the two by hand and run 'sidecar hooks uninstall' again",
        )
    if found.ours and found.theirs:
        return [*steps, Step("write", name, without_block(found.content or b""), keep_mode=True)]
    if found.ours:
        return [*steps, Step("back" if kept else "remove", name)]
    return [*steps, Step("back", name)] if kept and found.content is None else steps


def fires(place: Place, obstacle: str) -> tuple[Fires, str]:
    """Return which of the hooks really run, and why. ``obstacle`` is what keeps ours from running anywhere, or ""."""
    found = place.found
    if not found.executable:
        reason = "no such file" if found.content is None else "the file is not executable, so Git ignores it"
        return "none", reason
    how = _how(place)
    if not how:
        return "theirs", "our lines are not in it: run 'sidecar hooks install'"
    theirs = found.theirs or (found.ours and place.aside.executable)
    if obstacle:
        return ("theirs" if theirs else "none"), obstacle
    return ("both", how) if theirs else ("ours", "")


def _how(place: Place) -> str:
    """Return by which way ours run beside theirs, or "" where they do not."""
    if place.found.ours:
        return f"ours, then sidecar-theirs/{place.name}" if place.aside.executable else "our lines stand in your hook"
    if place.found.runs_legacy and place.legacy.ours and place.legacy.executable:
        return f"the pre-commit framework runs {place.name}.legacy, which is ours"
    return ""
