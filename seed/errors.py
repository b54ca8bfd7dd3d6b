"""The one error type: what happened, where, and what to do about it."""

from __future__ import annotations


class SidecarError(Exception):
    """A failure that the user can act on.

    ``message`` says what happened and where, ``fix`` what to do. ``code`` is the exit code of the command
    line: 2 for wrong usage and anything that stops a command, 1 for a gate or check that failed.
    """

    def __init__(self, message: str, fix: str = "", *, code: int = 2) -> None:
        self.message = message
        self.fix = fix
        self.code = code
        super().__init__(f"{message} - {fix}" if fix else message)


class StoreError(SidecarError):
    """The store cannot be read or written (locked, full, of a newer format, damaged)."""


class DamagedStoreError(StoreError):
    """The store's file is damaged: it is set aside and rebuilt, since Git is the truth."""


class UnreachableError(StoreError):
    """No server of the store answers just now: nothing is lost, and a later call may find one."""


class UnfinishedError(StoreError):
    """The time given is up. What was read until then is kept, and the next attempt goes on from there."""


class BusyError(UnfinishedError):
    """The time given is up, and another process still holds the seeding lock."""


class UnseededError(StoreError):
    """There is no snapshot to answer from yet."""


class EmbedderError(SidecarError):
    """The embedding model cannot be found, verified or loaded."""


class IncomparableError(SidecarError):
    """Two vectors or a floor belong to different embedder identities."""
