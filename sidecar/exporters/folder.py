"""Write an export to the disk: only into a folder of its own, and never over what a person put there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from seed.errors import SidecarError

MANIFEST = ".sidecar-export.json"


@dataclass(frozen=True, slots=True)
class Placed:
    """What writing did, as paths below the folder. ``kept``: edited since the last export, so left alone."""

    written: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def place(folder: Path, files: Mapping[str, str | bytes], *, force: bool = False) -> Placed:
    """Write files (path -> content) into a new or empty folder, or over an earlier export of ours.

    A page that an earlier export wrote and this one does not is removed, or a record that is gone would stay. A page
    that was edited since is kept unless ``force``. Raises `SidecarError` where the folder is somebody else's.
    """
    try:
        before = _manifest(folder, force=force)
        content = {path: data if isinstance(data, bytes) else data.encode() for path, data in files.items()}
        done = _write(folder, content, before, force=force)
        kept = {path: before[path] for path in done.kept if path in before}
        digests = {path: _digest(data) for path, data in sorted(content.items())} | kept
        _replace(folder / MANIFEST, (json.dumps({"format": 1, "files": digests}, indent=1) + "\n").encode())
    except OSError as error:
        raise SidecarError(
            f"{error.filename or folder} cannot be written: {error.strerror}", "check the path"
        ) from None
    return done


def _manifest(folder: Path, *, force: bool) -> dict[str, str]:
    """Return what an earlier export wrote here, path -> digest."""
    if folder.exists() and not folder.is_dir():
        raise SidecarError(f"{folder} is a file", "name a folder to export to")
    try:
        found = json.loads((folder / MANIFEST).read_bytes())
        return {str(path): str(value) for path, value in found["files"].items() if _inside(str(path))}
    except FileNotFoundError:
        empty = not folder.exists() or not any(folder.iterdir())
        if not empty and not force:
            fix = "name an empty folder, or write over it with --force"
            raise SidecarError(f"{folder} is not empty and holds no earlier export", fix) from None
        return {}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SidecarError(f"{folder / MANIFEST} is damaged", "delete it and export with --force") from None


def _inside(path: str) -> bool:
    pure = PurePosixPath(path)
    return not pure.is_absolute() and ".." not in pure.parts and bool(pure.parts)


def _write(folder: Path, files: Mapping[str, bytes], before: Mapping[str, str], *, force: bool) -> Placed:
    written, unchanged, removed, kept = [], [], [], []
    for path, data in files.items():
        present = _present(folder, path)
        if present == data:
            unchanged.append(path)
        elif present is None or force or _digest(present) == before.get(path):
            _replace(folder / path, data)
            written.append(path)
        else:
            kept.append(path)
    for path in before.keys() - files.keys():
        present = _present(folder, path)
        if present is not None and (force or _digest(present) == before[path]):
            (folder / path).unlink()
            removed.append(path)
        elif present is not None:
            kept.append(path)
    return Placed(tuple(written), tuple(unchanged), tuple(sorted(removed)), tuple(sorted(kept)))


def _present(folder: Path, path: str) -> bytes | None:
    file = folder / path
    if file.parent.resolve() != folder.resolve() / PurePosixPath(path).parent or file.is_symlink():
        raise SidecarError(f"{file} is reached through a symbolic link", "export to a real folder")
    return file.read_bytes() if file.exists() else None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _replace(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name[:100]}.tmp")
    draft.write_bytes(data)
    draft.replace(file)
