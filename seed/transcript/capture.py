"""From a session file to the archive: who it is, how much of it, and what was seen in it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from seed.errors import SidecarError
from seed.transcript import turns
from seed.transcript.facts import Facts, parse_row
from seed.transcript.formats import detect, facts_of
from seed.transcript.manifest import Identity
from seed.transcript.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from seed.transcript.archive import Archive, Stored

CHUNK = 1 << 20
HEAD_BYTES = 1 << 20
HEAD_TURNS = 64
NAME_BYTES = 96


@dataclass(frozen=True, slots=True)
class Options:
    """How to capture. ``limit`` in bytes (0: none); past it a capture is refused unless ``incomplete``."""

    limit: int = 0
    incomplete: bool = False
    redact: bool = False


def identify(head: bytes) -> Identity:
    """Return who a session is by its first bytes (at most `HEAD_BYTES` are looked at).

    With no session id in them, the name is a digest of its first turn: that stays when the file grows.
    """
    head = head[:HEAD_BYTES]
    lines = [line for _, line in islice(turns.lines([head]), HEAD_TURNS)]
    rows = [row for row in map(parse_row, lines) if row is not None]
    form = detect(rows)
    facts = [facts_of(form, row) for row in rows]
    session = next((one.session for one in facts if one.session), "")
    cwd = next((one.cwd for one in facts if one.cwd), "")
    agent = _agent(facts)
    name = session or hashlib.sha256(lines[0] if lines else b"").hexdigest()[:16]
    return Identity(_file_name(f"{form}-{name}" + (f"-agent-{agent}" if agent else "")), form, session, agent, cwd)


def _agent(facts: list[Facts]) -> str:
    """Return the sub-agent whose file this is: every message in it is a side chain, by the same agent."""
    said = [one for one in facts if one.blocks]
    agents = {one.agent for one in said}
    return agents.pop() if said and len(agents) == 1 and all(one.sidechain for one in said) else ""


def _file_name(name: str) -> str:
    """Return ``name`` as a name that every file system takes; one that had to change keeps its digest."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "-", name)
    if plain == name and len(name) <= NAME_BYTES:
        return name
    return f"{plain[:NAME_BYTES]}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def capture(archive: Archive, path: Path, captured: str, options: Options = Options()) -> Stored:  # frozen
    """Keep the session file ``path``; ``captured`` is the time, as text.

    Raises SidecarError when the file cannot be read, or is larger than a limit that was not meant to cut it.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            identity = identify(file.read(HEAD_BYTES))
    except OSError as error:
        reason = error.strerror or str(error)
        raise SidecarError(f"cannot read {path}: {reason}", "name a session file, or use --newest") from error
    omitted = _omitted(path, size, options)
    screen = Screen(redact=options.redact)
    if options.redact:
        identity = replace(identity, base=f"{identity.base}-redacted")
    return archive.store(
        identity,
        screen.feed(_chunks(path, options.limit if omitted else 0)),
        source=str(path),
        captured=captured,
        omitted=omitted,
        redacted=screen.findings if options.redact else tuple,
        secrets=tuple if options.redact else screen.findings,
    )


def _omitted(path: Path, size: int, options: Options) -> tuple[tuple[int, int], ...]:
    if not options.limit or size <= options.limit:
        return ()
    if not options.incomplete:
        raise SidecarError(
            f"{path} has {size} bytes, over the limit of {options.limit}; nothing was captured",
            "raise or drop --limit, or add --incomplete to keep the first bytes, marked incomplete",
        )
    return ((options.limit, size),)


def _chunks(path: Path, limit: int) -> Iterator[bytes]:
    """Read the file once, from its start; it is opened when the archive's lock is held, so the last wins."""
    left = limit
    with path.open("rb") as file:
        while chunk := file.read(min(CHUNK, left) if limit else CHUNK):
            yield chunk
            left -= len(chunk)
            if limit and left <= 0:
                return


def follow(
    archive: Archive,
    path: Path,
    now: Callable[[], str],
    wait: Callable[[], bool],
    options: Options = Options(),
) -> Iterator[Stored]:
    """Capture ``path`` now and whenever it changed; ``wait`` pauses, and says False to stop."""
    seen = None
    while True:
        status = path.stat() if path.exists() else None
        mark = (status.st_size, status.st_mtime_ns, status.st_ino) if status else None
        if mark is not None and mark != seen:
            seen = mark
            yield capture(archive, path, now(), options)
        if not wait():
            return
