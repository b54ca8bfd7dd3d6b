"""Records that something outside kept, to record files: field by field, and none comes back in force. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from seed.edit import write
from seed.errors import SidecarError
from seed.importers.files import mark
from seed.importers.model import Imported, ImportReport, Skipped
from seed.lifecycle import standings
from seed.reader import build_record
from seed.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from seed.importers.exchange import Kept

ROOT = "knowledge"
IN_FORCE = frozenset({"accepted", "verified", "unverified"})
_CONFIGURATION = frozenset({"policy.yaml", "glossary.yaml"})


@dataclass(frozen=True, slots=True)
class _Restored:
    """A record on its way to a file."""

    kept: Kept
    record: Record
    target: str
    doubts: tuple[str, ...]


def restore(kept: Iterable[Kept | Skipped], present: Sequence[tuple[str, Record]], *, into: str = ROOT) -> ImportReport:
    """Decide on records that were read from elsewhere; ``present`` are those here, with their paths.

    A record that was overturned when it was exported, and would be in force here since what overturned it does not
    come along, gets the status it was exported with.
    """
    found: list[_Restored] = []
    skipped: list[Skipped] = []
    targets: Counter[str] = Counter()
    for one in kept:
        made = one if isinstance(one, Skipped) else _restored(one, into, targets)
        if isinstance(made, Skipped):
            skipped.append(made)
        else:
            found.append(made)
    found = _never_revived(found, present)
    ids = {record.id.casefold(): path for path, record in present}
    every = Counter(one.record.id.casefold() for one in found)
    records = tuple(_imported(one, ids, every) for one in found)
    return ImportReport("", into, records, tuple(skipped))


def _restored(one: Kept, into: str, targets: Counter[str]) -> _Restored | Skipped:
    parsed = build_record(one.data)
    if parsed.record is None:
        reasons = "; ".join(problem.reason for problem in parsed.problems if problem.fatal)
        return Skipped(one.where, f"no record: {reasons}")
    ident = parsed.record.id
    doubts = [*one.doubts, *(f"{p.reason} - {p.fix}" for p in parsed.problems if p.level == "error")]
    target = _target(one.path, into)
    if not target or targets[target.casefold()]:
        doubts += [f"its path {one.path[:120]!r} cannot be used: named after its id"] if one.path else []
        target = f"{into}/{ident}.yaml"
    while targets[target.casefold()]:
        target = target.removesuffix(".yaml") + "_.yaml"
    targets[target.casefold()] += 1
    return _Restored(one, parsed.record, target, tuple(doubts))


def _target(path: str, into: str) -> str:
    """Return where a record goes that had this path, "" where that would be no record's place."""
    parts = path.split("/")
    plain = path.isprintable() and "\\" not in path and not {"", ".", "..", ".git"} & {p.casefold() for p in parts}
    if not plain or parts[0] != ROOT or len(parts) == 1 or not path.endswith(".yaml"):
        return ""
    if len(parts) == 2 and parts[1] in _CONFIGURATION:  # noqa: PLR2004 - a file right below knowledge/
        return ""
    return "/".join([into, *parts[1:]])


def _never_revived(found: list[_Restored], present: Sequence[tuple[str, Record]]) -> list[_Restored]:
    targets = {one.target for one in found}
    others = [record for path, record in present if path not in targets]
    here = dict(present)
    states = standings([*(one.record for one in found), *others])
    as_kept = standings([*(here.get(one.target, one.record) for one in found), *others])
    checked = []
    for one, written, kept in zip(found, states, as_kept, strict=False):
        state = kept if kept.status in IN_FORCE else written  # a file that was edited is kept: what it says counts
        was = one.kept.effective
        ended = was == "historical" and one.record.valid_until  # the clock says so here too
        if not was or was in IN_FORCE or state.status not in IN_FORCE or ended or one.record.kind == "history":
            checked.append(one)
            continue
        doubt = f"it was {was} when it was exported, by a record that is not here: its status is now {was}"
        data = {**one.kept.data, "status": was}
        record = build_record(data).record or one.record
        checked.append(replace(one, kept=replace(one.kept, data=data), record=record, doubts=(*one.doubts, doubt)))
    return checked


def _imported(one: _Restored, ids: Mapping[str, str], every: Mapping[str, int]) -> Imported:
    ident, doubts = one.record.id, list(one.doubts)
    other = ids.get(ident.casefold(), one.target)
    if other != one.target:
        doubts.append(f"{other} has the id {ident} too: both answer, marked as a conflict")
    if every[ident.casefold()] > 1:
        doubts.append(f"another record that is imported has the id {ident} too")
    decided = (f"status {one.record.status}", *one.kept.decided)
    if one.record.status_text.strip().casefold() != one.record.status:
        decided = (f"status {one.record.status}: {one.record.status_text[:60]!r}", *one.kept.decided)
    try:
        text = write(one.kept.data)
    except SidecarError as error:
        raise SidecarError(f"{one.kept.where}: {error.message}", error.fix) from None
    return Imported(
        ident, one.kept.where, one.target, one.kept.data, mark(text, one.kept.where), decided, tuple(doubts)
    )


def checked_target(into: str) -> str:
    """Return the folder to restore into. Raises SidecarError where no record would be read from it."""
    parts = into.replace("\\", "/").strip("/").split("/")
    if parts[0] != ROOT or ".." in parts or not all(parts):
        raise SidecarError(f"--into {into!r} is not below {ROOT}/", f"name a folder below it, e.g. {ROOT}/imported")
    return "/".join(parts)
