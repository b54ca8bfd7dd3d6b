"""The importers' only contact with the disk: reading a folder, writing records."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from seed.errors import SidecarError
from seed.importers.model import Document, Imported, Skipped
from seed.yamltext import YamlFaultError, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MAX_BYTES = 1 << 20  # a record over 1 MiB is refused by name, so its source is as well
MAX_EXPORT = 1 << 28  # an export may hold every record there is
_TEXT = frozenset({"", ".adoc", ".asciidoc", ".org", ".txt", ".docx", ".odt", ".html", ".textile", ".wiki"})
IGNORED = frozenset({"node_modules", "__pycache__", "venv", "_site", "_build", "target"})
_MARK = re.compile(r"^# Imported by sidecar from [^\n]*; digest ([0-9a-f]{16})\.[^\n]*\n")


@dataclass(frozen=True, slots=True)
class Written:
    """What writing did, as target paths. ``kept``: edited since it was imported, so left alone."""

    created: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def read_documents(folder: Path, is_read: Callable[[str], bool]) -> tuple[list[Document], list[Skipped]]:
    """Read every file below the folder whose name is accepted, in order of path; links are not followed.

    Raises SidecarError where the folder is missing or cannot be read.
    """
    if not os.path.isdir(folder):  # noqa: PTH112 - unlike Path.is_dir, it never raises
        what = "is a file" if os.path.exists(folder) else "does not exist"  # noqa: PTH110 - as above
        raise SidecarError(f"{folder} {what}", "name the folder that holds the records")
    found: list[Document | Skipped] = []
    for path in sorted(_walk(folder), key=lambda p: p.relative_to(folder).as_posix()):
        # A name that is no UTF-8 keeps a replacement character: it is shown and stored, never opened again.
        relative = os.fsencode(path.relative_to(folder).as_posix()).decode("utf-8", "replace")
        if is_read(path.name):
            found.append(_read(path, relative))
        elif path.suffix.lower() in _TEXT:
            found.append(Skipped(relative, f"{path.suffix or 'files without an ending'}: not read by this importer"))
    documents = [item for item in found if isinstance(item, Document)]
    return documents, [item for item in found if isinstance(item, Skipped)]


def read_texts(paths: Iterable[Path], endings: tuple[str, ...]) -> list[tuple[str, str] | Skipped]:
    """Return (path as given, text with its own line ends) of files, and of every file below folders with an ending.

    Raises SidecarError for a path that does not exist or cannot be read.
    """
    found: list[tuple[str, str] | Skipped] = []
    for path in paths:
        if not os.path.exists(path):  # noqa: PTH110 - never raises
            raise SidecarError(f"{path} does not exist", "name a file or folder to import")
        if path.is_dir():
            inside = sorted(_walk(path), key=lambda p: p.relative_to(path).as_posix())
            found += [_text(file) for file in inside if file.suffix.lower() in endings]
        else:
            found.append(_text(path))
    return found


def _text(path: Path) -> tuple[str, str] | Skipped:
    shown = os.fsencode(path).decode("utf-8", "replace")
    try:
        if not path.is_file():
            return Skipped(shown, "no regular file")
        if path.stat().st_size > MAX_EXPORT:
            return Skipped(shown, f"over {MAX_EXPORT >> 20} MiB: too large to be read at once")
        return shown, path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return Skipped(shown, "not UTF-8")
    except OSError as error:
        return Skipped(shown, f"cannot be read: {error.strerror}")


def _walk(folder: Path) -> Iterable[Path]:
    def fail(error: OSError) -> None:
        raise SidecarError(f"{error.filename} cannot be read: {error.strerror}", "check its permissions")

    for root, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in IGNORED]
        yield from (Path(root, name) for name in names if not name.startswith("."))


def _read(path: Path, relative: str) -> Document | Skipped:
    try:
        if path.is_symlink() or not path.is_file():
            return Skipped(relative, "a link or no regular file: not followed")
        if path.stat().st_size > MAX_BYTES:
            return Skipped(relative, "over 1 MiB: too large for a record")
        return decode(relative, path.read_bytes())
    except OSError as error:
        return Skipped(relative, f"cannot be read: {error.strerror}")


def decode(relative: str, data: bytes) -> Document | Skipped:
    """Return the text with LF line ends, without a byte order mark; the encoding is UTF-8 or a doubt."""
    doubt = ""
    try:
        text = data.decode("utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
        doubt = "not UTF-8: read as Windows-1252, look at its special characters"
    if "\0" in text:
        return Skipped(relative, "not a text file")
    if not text.strip():
        return Skipped(relative, "empty")
    return Document(relative, text.replace("\r\n", "\n").replace("\r", "\n"), doubt)


def repository_root(folder: Path) -> Path | None:
    """Return the nearest folder upwards that holds ``.git``, or None."""
    resolved = folder.resolve()
    here_and_up = (resolved, *resolved.parents)
    return next((path for path in here_and_up if os.path.exists(path / ".git")), None)  # noqa: PTH110 - never raises


def mark(text: str, source: str) -> str:
    """Put a first line over a record's YAML that lets a later import see whether a person changed it."""
    shown = re.sub(r"[^ -~\w]", "?", source)  # a line break in a file name must not end the comment
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"# Imported by sidecar from {shown}; digest {digest}. Edit freely: an edited file is kept.\n{text}"


def is_as_imported(text: str) -> bool:
    """Whether the text still is what an import wrote, of this source or an earlier state of it."""
    match = _MARK.match(text)
    return match is not None and hashlib.sha256(text[match.end() :].encode()).hexdigest()[:16] == match[1]


def write_records(records: Iterable[Imported], root: Path, *, force: bool = False, dry_run: bool = False) -> Written:
    """Write each record below ``root``; one that a person edited is kept unless ``force``.

    Raises SidecarError where a file cannot be written.
    """
    outcome: dict[str, list[str]] = {"created": [], "updated": [], "unchanged": [], "kept": []}
    for record in records:
        path = root / record.target
        if path.is_symlink() or path.parent.resolve() != root.resolve() / Path(record.target).parent:
            raise SidecarError(f"{path} is reached through a symbolic link", "make it a real folder and file")
        try:
            kind = _outcome(path, record.text, force=force)
            if kind in {"created", "updated"} and not dry_run:
                _replace(path, record.text)
        except OSError as error:
            raise SidecarError(
                f"{path} cannot be written: {error.strerror}", "check the path and permissions"
            ) from error
        outcome[kind].append(record.target)
    return Written(**{kind: tuple(paths) for kind, paths in outcome.items()})


def _says(text: str) -> dict[str, object] | None:
    """Return the keys of a record file, None for one that cannot be read and so equals no other."""
    try:
        return parse(text.encode()).data
    except YamlFaultError:
        return None


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.tmp")
    draft.write_bytes(text.encode())
    draft.replace(path)  # whole or not at all: half a file would look edited


def _outcome(path: Path, text: str, *, force: bool) -> str:
    if not path.exists():
        return "created"
    present = path.read_bytes().decode("utf-8", errors="replace").replace("\r\n", "\n")
    if present == text or ((said := _says(text)) is not None and _says(present) == said):
        return "unchanged"
    return "updated" if force or is_as_imported(present) else "kept"
