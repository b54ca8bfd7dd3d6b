"""Give a record another id: its file, and every relation that names it, all of it or nothing."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from seed.authoring import next_id, taken, worktree_records
from seed.errors import SidecarError
from seed.git.repository import Repository
from seed.git.sources import repository_path
from seed.reader import parse_record
from seed.record import BACKWARD, FORWARD, Record, valid_id
from seed.rewrite import edited
from seed.yamltext import YamlFaultError

_RELATIONS = frozenset((*FORWARD, *BACKWARD))
_Files = list[tuple[str, bytes, Record | None]]


@dataclass(frozen=True, slots=True)
class Renumbered:
    """What was done: ids and paths before and after, and the files whose relations were changed.

    ``left`` is (path, line) of what still says the old id: prose, and relations where another file keeps it.
    """

    old: str
    new: str
    old_path: str
    path: str
    changed: tuple[str, ...]
    left: tuple[tuple[str, int], ...]


def renumber(repo: Repository, which: str, to: str = "") -> Renumbered:
    """Give the record ``which`` (an id, or a path where two share one) the id ``to``, else the next free one.

    Raises `SidecarError`, and has then changed nothing.
    """
    if repo.bare:
        raise SidecarError(f"{repo.name} is bare: it has no working tree to change", "run this in a clone")
    files = worktree_records(repo)
    path, record = _chosen(files, which, repository_path(repo, which))
    new = to or next_id(taken(files), record.id, record.kind)
    if not valid_id(new):
        raise SidecarError(f"id {new[:140]!r} is not allowed", "use letters, digits, '.', '_' and '-', at most 128")
    if new == record.id or new.casefold() in taken(item for item in files if item[0] != path):
        raise SidecarError(f"id {new!r} is taken", "name a free one, or leave out --to")
    shared = sum(1 for _, _, other in files if other and other.id.casefold() == record.id.casefold()) > 1
    plan = _plan(files, path, record.id, new, shared=shared)
    new_path = _renamed(path, record.id, new)
    if new_path != path and (repo.root / new_path).exists() and not (repo.root / new_path).samefile(repo.root / path):
        raise SidecarError(f"{new_path} is there already", "move that file, or name another id with --to")
    _write(repo.root, files, plan, path, new_path)
    left = _mentions(files, plan, record.id, {path: new_path})
    return Renumbered(record.id, new, path, new_path, tuple(sorted(p for p in plan if p != path)), left)


def _chosen(files: _Files, which: str, where: str) -> tuple[str, Record]:
    readable = [(path, record) for path, _, record in files if record is not None]
    by_path = [(path, record) for path, record in readable if path == where]
    found = by_path or [(path, record) for path, record in readable if record.id.casefold() == which.casefold()]
    if len(found) > 1:
        paths = " and ".join(path for path, _ in found)
        raise SidecarError(f"{len(found)} files have the id {which!r}: {paths}", "name the one to change by its path")
    if not found:
        raise SidecarError(f"no record {which!r} in the working tree", "see 'sidecar check' and name an id or a path")
    return found[0]


def _plan(files: _Files, path: str, old: str, new: str, *, shared: bool) -> dict[str, bytes]:
    """Return path -> new bytes. Of two files with one id, references stay with the one that keeps it."""

    def edit(key: str, value: str) -> str:
        return new if key in wanted and value.strip().casefold() == old.casefold() else value

    plan: dict[str, bytes] = {}
    for name, data, record in files:
        if record is None:
            continue
        wanted = (_RELATIONS if not shared else frozenset()) | ({"id"} if name == path else set())
        expected = _with_id(record, old, new, wanted)
        if expected == record:
            continue
        try:
            plan[name] = edited(data, edit)
        except YamlFaultError as fault:
            raise SidecarError(f"{name}:{fault.line}: {fault.reason}", fault.fix) from None
        if parse_record(plan[name]).record != expected:
            raise SidecarError(
                f"{name} writes {old!r} in a way that cannot be changed in place", "write it plainly there"
            )
    return plan


def _with_id(record: Record, old: str, new: str, wanted: frozenset[str] | set[str]) -> Record:
    relations = tuple(
        dict.fromkeys((r, new if r in wanted and t.casefold() == old.casefold() else t) for r, t in record.relations)
    )
    return replace(record, id=new if "id" in wanted else record.id, relations=relations)


def _renamed(path: str, old: str, new: str) -> str:
    """Return the path with the id in its file name changed; a name that does not start with the id stays."""
    folder, _, name = path.rpartition("/")
    rest = name[len(old) :]
    if name[: len(old)].casefold() == old.casefold() and rest[:1] in (".", "-", "_"):
        return f"{folder}/{new}{rest}"
    return path


def _mentions(
    files: _Files, plan: Mapping[str, bytes], old: str, moved: Mapping[str, str]
) -> tuple[tuple[str, int], ...]:
    word = re.compile(rf"(?<![A-Za-z0-9._-]){re.escape(old)}(?![A-Za-z0-9_-])", re.IGNORECASE)
    found = []
    for path, data, record in files:
        own = record is not None and record.id.casefold() == old.casefold() and path not in plan
        for at, line in enumerate(plan.get(path, data).decode("utf-8", "replace").split("\n"), 1):
            if word.search(line) and not (own and line.startswith("id:")):
                found.append((moved.get(path, path), at))
    return tuple(found)


def _write(root: Path, files: _Files, plan: Mapping[str, bytes], path: str, new_path: str) -> None:
    """Write everything beside its place, then move all of it in; on a failure put back what was moved."""
    before = {root / name: data for name, data, _ in files if name in plan}
    scratch = {root / name: (root / name).with_name(f".{Path(name).name}.{os.getpid()}.new") for name in plan}
    moved: list[Path] = []
    try:
        for name, data in plan.items():
            _durably(scratch[root / name], data, like=root / name)
        for file, fresh in scratch.items():
            fresh.replace(file)
            moved.append(file)
        (root / path).rename(root / new_path)
    except OSError as exc:
        for file in moved:
            file.write_bytes(before[file])
        reason = f"{exc.filename or path} cannot be written: {exc.strerror}"
        raise SidecarError(reason, "nothing was changed; check its folder's permissions") from None
    finally:
        for fresh in scratch.values():
            fresh.unlink(missing_ok=True)


def _durably(fresh: Path, data: bytes, *, like: Path) -> None:
    """Write a new file to the disk itself, with the mode of the one it will replace."""
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, stat.S_IMODE(like.stat().st_mode))
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(descriptor)
