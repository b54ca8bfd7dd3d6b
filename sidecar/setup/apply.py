"""Write what was planned, remember what was added, and take exactly that out again.

What was written is noted in this worktree's git folder: in no commit, gone with the clone. Where the note is missing (a
fresh clone of a repository that was set up elsewhere), entries are found by their form.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seed.errors import SidecarError
from seed.git.hooks import git_folder
from seed.git.repository import KNOWLEDGE, Repository
from seed.git.worktree import uncommitted
from sidecar import agents, jsonc
from sidecar.agents import AGENTS, SERVER
from sidecar.jsonc import Insertion
from sidecar.setup import section, toml
from sidecar.setup.plan import SKILL, Change, Plan, Refused, current, digest, reason, resolved, shipped

NOTE = "sidecar-init.json"


@dataclass(slots=True)
class Note:
    """What init wrote here. ``files``: path -> {"made", "sha", "inserted"}; ``folders`` that it made; its hooks."""

    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    hooks: bool = False
    known: bool = False
    """Whether there is a note; without one, what init wrote is found by its form."""

    @property
    def written(self) -> dict[str, str]:
        """Return path -> sha256 of the text last written."""
        return {path: str(one["sha"]) for path, one in self.files.items()}


def _path(repo: Repository) -> Path:
    return git_folder(repo) / NOTE


def read_note(repo: Repository) -> Note:
    """Return what init wrote in this worktree; nothing where there is no note, or it cannot be read."""
    try:
        data = json.loads(_path(repo).read_text(encoding="utf-8"))
        return Note(dict(data["files"]), list(data["folders"]), bool(data["hooks"]), known=True)
    except (OSError, ValueError, KeyError, TypeError):
        return Note()


def write_note(repo: Repository, note: Note, *, empty: bool = False) -> None:
    """Keep the note, or delete it where it says nothing and ``empty`` is not set. Raises `SidecarError`."""
    path = _path(repo)
    try:
        if not (note.files or note.hooks or empty):
            path.unlink(missing_ok=True)
            return
        data = {"format": 1, "files": note.files, "folders": note.folders, "hooks": note.hooks}
        _replace(path, json.dumps(data, indent=1))
    except OSError as exc:
        raise _unwritable(path, exc) from None


def write(repo: Repository, changes: Iterable[Change], note: Note) -> None:
    """Write each change whole or not at all, and note it. Raises `SidecarError`, with the note of what was done."""
    try:
        for change in changes:
            file = repo.root / change.path
            made = [folder for folder in reversed(file.parents) if not folder.exists()]
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                _replace(file, change.after or "")
            except OSError as exc:
                raise _unwritable(file, exc) from None
            if not change.keep:
                note.folders += [folder.relative_to(repo.root).as_posix() for folder in made]
                _noted(note, change)
    finally:
        write_note(repo, note)


def _noted(note: Note, change: Change) -> None:
    known = note.files.get(change.path, {})
    note.files[change.path] = {
        "made": change.before is None or known.get("made", False),
        "sha": digest(change.after or ""),
        "inserted": [list(one) for one in change.inserted],
    }


def _replace(file: Path, text: str) -> None:
    """Replace a file in one move, keeping its mode; a link stays a link."""
    file = file.resolve()
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        part.write_bytes(text.encode())
        if file.exists():
            part.chmod(file.stat().st_mode & 0o7777)
        part.replace(file)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _unwritable(file: Path, exc: OSError) -> SidecarError:
    return SidecarError(
        f"{exc.filename or file} cannot be written: {exc.strerror}", "check its permissions and the disk, and try again"
    )


def plan_removal(repo: Repository, note: Note) -> Plan:
    """Return the changes that take out what init wrote, and what cannot be taken out.

    ``present`` names what stays by the note: what looks like ours and was there before, and what was changed since.
    """
    found = Plan()
    seen: set[Path] = set()
    for path in dict.fromkeys((*note.files, *_known_paths())):
        try:
            before, target = current(repo, path), resolved(repo.root / path)
            after = before if before is None or target in seen else _without(path, before, note.files.get(path, {}))
        except (OSError, ValueError) as exc:
            if path in note.files:
                found.refused.append(Refused(path, reason(exc), "take the entry of sidecar out by hand"))
            continue
        ours = before is not None and target not in seen and SERVER in before
        if ours and note.known and (after == before) == (path in note.files):
            found.present.append(path)
        elif after != before:
            found.changes.append(Change(path, "take out what init wrote", before, after))
        seen.add(target)
    return found


def _known_paths() -> Iterator[str]:
    yield "AGENTS.md"
    for agent in AGENTS:
        yield from (agent.project[0], agent.guide, f"{agent.skills}/{SKILL}")


def _without(path: str, text: str, noted: dict[str, Any]) -> str | None:
    """Return a file's text without what init wrote, None where nothing of anyone else is left in a file it made."""
    if noted.get("made") and noted["sha"] == digest(text):
        return None
    inserted: list[Insertion] = [(int(at), str(new)) for at, new in noted.get("inserted", [])]
    after = jsonc.taken_back(text, inserted) if inserted else None
    if after is None or not _still_reads(path, text, after):
        after = _by_form(path, text)
    made = noted["made"] if noted else after != text
    return None if made and not after.strip(" \t\r\n{}") else after


def _still_reads(path: str, text: str, after: str) -> bool:
    """Tell whether only our entry is gone from a configuration: lines that were added to it since may belong to it."""
    for agent in AGENTS:
        if path in agent.project:
            try:
                left, had = dict(agents.parse(path, after)), dict(agents.parse(path, text))
            except ValueError:
                return False
            servers: Any = had.pop(agent.key, {})
            rest = left.pop(agent.key, {})
            kept = {name: one for name, one in servers.items() if name != SERVER} if isinstance(servers, dict) else None
            return left == had and rest == kept
    return True


def _by_form(path: str, text: str) -> str:
    """Return the text without what has the form of ours, for a file that was changed since or written elsewhere."""
    if path.endswith(SKILL):
        return "" if text == shipped("skill.md") else text
    if path.endswith(".md"):
        return section.cut(text)
    for agent in AGENTS:
        if path in agent.project:
            servers: Any = agents.parse(path, text).get(agent.key)
            if not isinstance(servers, dict) or servers.get(SERVER) != dict(agent.entry):
                return text
            if path.endswith(".toml"):
                return toml.cut(text, (agent.key, SERVER))
            after = jsonc.cut(text, (agent.key, SERVER))
            return after if agents.parse(path, after)[agent.key] else jsonc.cut(after, (agent.key,))
    return text


def remove(repo: Repository, found: Plan, note: Note) -> None:
    """Make the changes of `plan_removal`, and delete folders that init made and that are empty now.

    What was refused, or was changed since, stays noted. Raises `SidecarError`.
    """
    try:
        for change in found.changes:
            file = repo.root / change.path
            try:
                if change.after is None:
                    file.resolve().unlink()  # a link to it was there before: it stays
                else:
                    _replace(file, change.after)
            except OSError as exc:
                raise _unwritable(file, exc) from None
            note.files.pop(change.path, None)
        for folder in sorted(dict.fromkeys(note.folders), key=len, reverse=True):
            _rmdir(repo.root / folder)
        left = {*found.present, *(one.path for one in found.refused)}
        note.files = {path: one for path, one in note.files.items() if path in left}
        note.folders = [folder for folder in note.folders if (repo.root / folder).is_dir() and note.files]
    finally:
        write_note(repo, note, empty=bool(found.present))  # a second time they must not be taken for ours either


def _rmdir(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return  # somebody put a file there, or it is gone


def to_commit(repo: Repository, note: Note) -> list[str]:
    """Return the git commands that commit what init wrote and is not committed yet; none where all of it is."""
    targets = [(repo.root / path).resolve() for path in note.files]  # git adds nothing that lies behind a link
    files = [one.relative_to(repo.root).as_posix() for one in targets if one.is_relative_to(repo.root)]
    paths = uncommitted(repo, [KNOWLEDGE, *files])
    if not paths:
        return []
    message = "Keep decisions as records that people and agents can ask"
    return [f"git add {' '.join(paths)}", f'git commit -m "{message}"']
