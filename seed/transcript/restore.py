"""Take sessions out of a backup into an archive: nothing that is here is lost, and a second time changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from seed.transcript import files, manifest
from seed.transcript.archive import Archive
from seed.transcript.frames import FrameFolder
from seed.transcript.manifest import Manifest

Frames = Callable[[str], bytes]
"""Returns the stored bytes of a frame by its digest. Raises KeyError where the backup lacks it."""


def restore(archive: Archive, session: Manifest, stored: Frames) -> bool:
    """Keep a session of a backup. Returns whether that changed anything.

    The longer of two states of one session stays; two that went different ways both stay, the backup's under an id
    of its own. Every frame is read back and compared before the manifest refers to it. Raises StoreError for a frame
    that is damaged, KeyError for one that is missing.
    """
    home = files.private_folder(archive.home(session.id))
    folder = FrameFolder(files.private_folder(home / "frames"))
    with files.exclusive(home / ".lock"):
        here = {one.id: one for one in archive.manifests() if archive.home(one.id) == home}
        if any(session.digest in {state.digest for state in one.states} for one in here.values()):
            return False
        mine = here.get(session.id)
        if mine is not None and mine.digest not in {state.digest for state in session.states}:
            session = replace(session, id=f"{session.identity.base}~{session.digest.removeprefix('sha256:')[:8]}")
        for frame in session.frames:
            path = folder.path(frame.digest)
            if not path.exists():
                files.write_atomically(path, [stored(frame.digest)], sync=False)
            folder.get(frame)
        files.sync_folder(folder.folder)
        files.write_atomically(home / f"{session.id}.json", [manifest.dump(session)])
    return True
