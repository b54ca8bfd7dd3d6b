"""Where the store and what is kept for good lie: outside every checkout, shared by the worktrees of a clone."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from seed.errors import StoreError

STORE_FORMAT = 3
"""A new format is a new folder. How words are cut (seed.text, seed.assemble) is part of it, since terms are kept."""


def home() -> Path:
    """Return $SIDECAR_HOME, else the platform's folder for a user's data."""
    if named := os.environ.get("SIDECAR_HOME"):
        if not (folder := Path(named).expanduser()).is_absolute():
            raise StoreError(f"SIDECAR_HOME is {named!r}, which is not absolute", "name the folder from the root on")
        return folder
    import platformdirs

    return Path(platformdirs.user_data_dir("knowledge-sidecar", appauthor=False))


def repository_key(name: str, common: Path) -> str:
    """Return ``<repository>-<hash of the real path of git's common dir>``: one folder for all worktrees."""
    digest = hashlib.sha256(os.fsencode(common)).hexdigest()[:12]
    return f"{re.sub(r'[^A-Za-z0-9._-]', '_', name)[:48]}-{digest}"


def store_folder(name: str, common: Path) -> Path:
    """Return the disposable folder: deleting it costs time, never knowledge. A new format is a new folder."""
    return home() / "store" / f"v{STORE_FORMAT}" / repository_key(name, common)


def kept_folder(name: str, common: Path) -> Path:
    """Return the folder of receipts and transcripts, which nothing deletes unasked."""
    return home() / "kept" / repository_key(name, common)


def private_folder(folder: Path) -> Path:
    """Create a folder and what is missing above it, all 0700. Raises `StoreError` when the disk refuses."""
    try:
        missing = [part for part in (folder, *folder.parents) if not part.exists()]
        for part in reversed(missing):  # mkdir(parents=True) would give the mode to the last one only
            part.mkdir(exist_ok=True, mode=0o700)
    except OSError as exc:
        raise StoreError(
            f"{folder} cannot be created: {exc.strerror}", "set SIDECAR_HOME to a writable folder"
        ) from None
    return folder
