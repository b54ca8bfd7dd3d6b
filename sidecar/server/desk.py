"""Where every call is worked on: one thread, the open providers, and which folders may be asked about."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from seed.errors import SidecarError, UnseededError

if TYPE_CHECKING:
    from sidecar.provider import Provider

Result = TypeVar("Result")
MAX_OPEN = 8
"""Repositories that are kept open at once; the one asked longest ago is closed first."""
_RESEED_SECONDS = 30.0


class Desk:
    """Runs work on providers in one thread of its own, so that the event loop stays free.

    One thread makes calls serial without a lock: a store connection, its snapshot and its model belong to that thread
    alone, and a call cancelled while it waits its turn never starts. A call cancelled while it runs ends unheard,
    within its budget.
    """

    def __init__(self, folder: Path, allowed: Sequence[Path] = (), *, any_session: bool = False) -> None:
        self.folder = folder.resolve()
        self.any_session = any_session
        self.allowed = tuple(path.resolve() for path in allowed)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sidecar")
        self._providers: OrderedDict[Path, Provider] = OrderedDict()
        self._working: dict[tuple[Path, tuple[str, ...]], tuple[float, subprocess.Popen[bytes]]] = {}

    async def run(self, repo: str, work: Callable[[Provider], Result]) -> Result:
        """Return ``work(provider)`` of the repository asked about, the start folder for "". Raises `SidecarError`."""
        folder = self.resolve(repo)
        # Imported by the main thread, so that no two threads ever import at once and a cancelled call leaves no
        # package half loaded. The first call pays for it, never the reply to `initialize`.
        import sidecar.provider  # noqa: F401

        return await asyncio.get_running_loop().run_in_executor(self._thread, self._work, folder, work)

    def resolve(self, repo: str) -> Path:
        """Return the folder to open: the start folder, one below it, or one below a folder that was allowed."""
        if not repo.strip():
            return self.folder
        try:
            wanted = (self.folder / repo.strip()).resolve()
        except (OSError, ValueError):
            raise SidecarError(f"repo {repo[:80]!r} is not a folder", "leave repo out") from None
        if any(wanted.is_relative_to(root) for root in (self.folder, *self.allowed)):
            return wanted
        raise SidecarError(
            f"repo {repo[:200]!r} is outside {self.folder}, where this server started",
            "leave repo out, or start the server with --allow and a folder above it",
        )

    def close(self) -> None:
        """Close every provider, in the thread that owns them."""
        self._thread.submit(self._close_all)
        self._thread.shutdown(wait=True)

    # --- in the thread ----------------------------------------------------------------------------------------

    def _work(self, folder: Path, work: Callable[[Provider], Result]) -> Result:
        provider = self._open(folder)
        try:
            return work(provider)
        except UnseededError as exc:
            raise SidecarError(exc.message, "seeding goes on in the background, ask again in a while") from None
        finally:
            if provider.behind:
                self._go_on(folder, "seed", "--quiet")
            if scheme := provider.unembedded():
                self._go_on(folder, "transcript", "segment", "--embed", "--scheme", scheme)

    def _open(self, folder: Path) -> Provider:
        from sidecar.provider import Provider

        if folder not in self._providers:
            self._providers[folder] = Provider(folder)
            self._providers[folder].any_session = self.any_session
        self._providers.move_to_end(folder)
        while len(self._providers) > MAX_OPEN:
            self._providers.popitem(last=False)[1].close()
        return self._providers[folder]

    def _go_on(self, folder: Path, *work: str) -> None:
        """Go on with what the budget cut short, in one process of its own for each command (``work``).

        A process rather than a thread: embedding would take the interpreter from the answers, and what was begun
        should survive the agent's session. A lock makes it wait for, or leave it to, any other that does the same.
        """
        started, process = self._working.get((folder, work), (0.0, None))
        if process is not None and (process.poll() is None or time.monotonic() - started < _RESEED_SECONDS):
            return
        # -P: the folder a server starts in is a repository, and nothing in it may be imported.
        command = [
            sys.executable,
            "-P",
            "-c",
            "from sidecar.cli import run; run()",
            *work,
            "--repo",
            str(folder),
        ]
        quiet = subprocess.DEVNULL
        started_process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)  # noqa: S603 - our own command
        self._working[folder, work] = (time.monotonic(), started_process)

    def _close_all(self) -> None:
        while self._providers:
            self._providers.popitem()[1].close()
