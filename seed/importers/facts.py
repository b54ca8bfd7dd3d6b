"""Notes to facts and findings that nobody has confirmed; imported again, an item keeps its id. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import PurePosixPath

from seed import secrets
from seed.edit import write
from seed.errors import SidecarError
from seed.importers import ended
from seed.importers.files import mark
from seed.importers.model import Document, Imported, ImportReport, Skipped
from seed.importers.naming import check_prefix, clean
from seed.importers.notes import SPLITS, Note, read
from seed.record import Record

KINDS = ("fact", "finding")
SLUG = 48
CLOSE = 0.6
"""Share of text that two items must have in common to be one item that was changed."""


@dataclass(frozen=True, slots=True)
class Present:
    """A record that is here: its file, and its keys."""

    path: str
    record: Record


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a file of notes is to be read."""

    kind: str = "fact"
    split: str = ""
    prefix: str = ""
    into: str = ""
    retire: bool = False


def read_notes(document: Document, wanted: Wanted, present: Sequence[Present]) -> ImportReport:
    """Decide on one file of notes; its path is the repository's. ``present`` are the records here.

    Raises SidecarError for a kind, split or prefix that cannot be, and for a file without an item.
    """
    if wanted.kind not in KINDS:
        raise SidecarError(f"--kind {wanted.kind!r} cannot be read from notes", f"use one of {', '.join(KINDS)}")
    if wanted.split not in ("", *SPLITS):
        raise SidecarError(f"--split {wanted.split!r} is not known", f"use {' or '.join(SPLITS)}")
    prefix = check_prefix(wanted.prefix or clean(PurePosixPath(document.path).stem.lower()))
    notes, split = read(document.text, wanted.split)
    if not notes:
        raise SidecarError(f"no item found in {document.path}", "it needs list entries, or headings with text")
    unsafe = {note: reason for note in notes if (reason := _secret(note))}
    skipped = [Skipped(f"{document.path}:{note.first}", reason) for note, reason in unsafe.items()]
    kept = [note for note in notes if note not in unsafe]
    earlier = [one for one in present if _is_of(one.record, document.path)]
    ids = _ids(kept, earlier, prefix, {one.record.id.casefold() for one in present})
    into = wanted.into or f"knowledge/{wanted.kind}s"
    by_id = {one.record.id: one for one in earlier}
    whole = ended.of_document(document.text)
    records = [_imported(note, ids[n], by_id.get(ids[n]), wanted, document, into, whole) for n, note in enumerate(kept)]
    gone = [one for one in earlier if one.record.id not in set(ids) and one.record.status != "historical"]
    if wanted.retire:
        records += [_retired(one, document.path) for one in gone]
    told = [f"no longer in {document.path}: {one.record.id}{_what_then(wanted.retire)}" for one in gone]
    return ImportReport(prefix, into, tuple(records), tuple(skipped), (f"{document.path} split by {split}", *told))


def _what_then(retire: bool) -> str:
    return ", historical from now on" if retire else ", which still answers: --retire-missing makes it historical"


def _is_of(record: Record, path: str) -> bool:
    return any(source.get("path") == path and "lines" in source for source in record.source)


def _secret(note: Note) -> str:
    found = secrets.find(f"{note.title}\n{note.body}".encode())
    return f"what looks like a secret (rule {found[0].rule}): left out" if found else ""


def _ids(notes: Sequence[Note], earlier: Sequence[Present], prefix: str, taken: set[str]) -> list[str]:
    """Give every note the id it had: of the same text, else the same title, else the text closest to it."""
    free = list(earlier)
    ids = [""] * len(notes)
    for same in (_same_text, _same_title, _close):
        for n, note in enumerate(notes):
            if not ids[n] and (found := same(note, free)):
                ids[n] = found.record.id
                free.remove(found)
    for n, note in enumerate(notes):
        ids[n] = ids[n] or _new_id(note, prefix, taken)
        taken.add(ids[n].casefold())
    return ids


def _same_text(note: Note, free: Sequence[Present]) -> Present | None:
    same = [one for one in free if one.record.title == note.title and one.record.body == note.body]
    inside = [one for one in same if _tags(note) == one.record.tags]
    return next(iter(inside or same), None)


def _same_title(note: Note, free: Sequence[Present]) -> Present | None:
    return next((one for one in free if one.record.title == note.title), None)


def _close(note: Note, free: Sequence[Present]) -> Present | None:
    text = _words(f"{note.title}\n{note.body}")
    scored = [(SequenceMatcher(None, text, _words(f"{o.record.title}\n{o.record.body}"), autojunk=False).ratio(), n)
              for n, o in enumerate(free)]  # fmt: skip
    best = max(scored, default=(0.0, 0))
    return free[best[1]] if best[0] >= CLOSE else None


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())[:400]


def _new_id(note: Note, prefix: str, taken: set[str]) -> str:
    slug = clean(note.title.casefold())[:SLUG].rstrip("-._")
    base = f"{prefix}-{slug}"
    return next(ident for n in range(1, len(taken) + 2) if (ident := base if n == 1 else f"{base}-{n}") not in taken)


def _tags(note: Note) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys([*(name[:80] for name in note.sections if name.strip()), *(["todo"] if note.open else [])])
    )


def _imported(
    note: Note, ident: str, earlier: Present | None, wanted: Wanted, document: Document, into: str, whole: str
) -> Imported:
    lines = str(note.first) if note.first == note.last else f"{note.first}-{note.last}"
    reason = ended.of_note(note) or whole
    status = "historical" if reason else "unverified"
    data: dict[str, object] = {"id": ident, "kind": wanted.kind, "title": note.title, "status": status}
    data |= {"date": note.date} if note.date else {}
    data |= {"tags": list(_tags(note))} if _tags(note) else {}
    data |= {"trust": "agent_generated", "source": [{"path": document.path, "lines": lines}]}
    body = note.body or (f"{note.title}\n" if wanted.kind == "finding" else "")
    data |= {"body": body} if body else {}
    decided = [f"{note.title[:60]!r} from line{'s' if '-' in lines else ''} {lines}"]
    decided += [f"historical: {reason}"] if reason else []
    if earlier and (earlier.record.title, earlier.record.body) != (note.title, body):
        decided.append(f"changed: it was {earlier.record.title[:60]!r}")
    target = earlier.path if earlier else f"{into}/{ident}.yaml"
    doubts = (document.doubt,) if document.doubt else ()
    text = mark(write(data), document.path)
    return Imported(ident, f"{document.path}:{lines}", target, data, text, tuple(decided), doubts)


def _retired(one: Present, path: str) -> Imported:
    """Make a record historical whose item is gone; one that was edited is kept as it is when it is written."""
    record = one.record
    values: Mapping[str, object] = {
        "id": record.id, "kind": record.kind, "title": record.title, "status": "historical", "date": record.date,
        "tags": list(record.tags), "trust": record.trust, "source": list(record.source), "body": record.body,
    }  # fmt: skip
    data = {key: value for key, value in values.items() if value}
    return Imported(record.id, path, one.path, data, mark(write(data), path), ("historical: its item is gone",))
