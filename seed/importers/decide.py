"""Every decision the importer takes about one page, with the place it was read from in words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from seed.importers import dates, marks, relations
from seed.importers import status as wording
from seed.importers.fields import RELATIONS, is_section

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seed.importers.model import Field, Page
    from seed.importers.naming import Name
    from seed.importers.refs import Index


@dataclass(slots=True)
class Notes:
    """What was decided and what could not be told, in the order it came up."""

    decided: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    dangling: set[str] = field(default_factory=set)


def status(page: Page, missing: str, notes: Notes) -> tuple[str, str]:
    """Return status and wording; what says nothing is ``missing`` or else ``unknown``.

    Where two places differ, the one that takes the record out of force counts: nothing overturned is read as current.
    """
    said: list[tuple[Field, wording.Reading]] = []
    for item in page.named("status", "stage", "state"):
        reading = _reading(item)
        if not reading.status and not said and reading.doubt:
            notes.doubts.append(f"{reading.doubt} ({item.where})")
        said += [(item, reading)] if reading.status else []
    if said:
        item, reading = _gravest(said, notes)
        notes.decided.append(f"status {reading.status} from {item.where}: {reading.raw[:60]!r}")
        notes.doubts += [text for text in (reading.doubt, reading.note) if text]
        return reading.status, reading.raw
    if missing:
        notes.decided.append(f"status {missing} by --missing-status: none is written")
        return missing, ""
    notes.decided.append("status unknown: none is written")
    return "unknown", ""


def _reading(item: Field) -> wording.Reading:
    """Read a field that may say a status; one in the body, or named "state", only where it clearly is one."""
    reading = wording.read(item.value)
    if item.name == "stage" and item.value.strip().lower() == "closed":
        return wording.Reading("rejected", reading.raw)
    if item.value == marks.STRUCK_OUT:
        return wording.Reading("unknown", "", "the title is struck out, so the record may hold no more")
    elsewhere = item.where.startswith(("line", "section")) if item.name == "state" else item.where.startswith("line")
    if (elsewhere or item.name == "state") and (reading.status in {"", "unknown"} or reading.doubt):
        return wording.Reading("")  # "Status: 200 OK" somewhere in the body
    return wording.Reading("") if item.name == "state" and elsewhere else reading


_GRAVITY = {"accepted": 0, "historical": 0, "proposed": 1, "rejected": 2, "deprecated": 3, "superseded": 4}


def _gravest(said: list[tuple[Field, wording.Reading]], notes: Notes) -> tuple[Field, wording.Reading]:
    """Return the first status said, or a later one that puts the record further out of force; doubts say both."""
    chosen = first = said[0]
    for item, reading in said[1:]:
        if reading.status in {"unknown", first[1].status} and not reading.reserved and item.value != marks.STRUCK_OUT:
            continue
        notes.doubts.append(f"{item.where} says {reading.status!r}, {first[0].where} {first[1].status!r}")
        struck = item.value == marks.STRUCK_OUT and chosen[1].status in {"accepted", "proposed"}
        graver = _GRAVITY.get(reading.status, int(reading.reserved)) > _GRAVITY.get(chosen[1].status, 9)
        if struck or (graver and item.name == "status" and not item.where.startswith("line") and not chosen[1].note):
            chosen = (item, reading)
    return chosen


def date_reading(page: Page, name: Name) -> tuple[dates.Reading, str] | None:
    """Return the date that stands for the decision, and where it was read."""
    for names in (("date",), ("created",), ("status",), ("changelog",), ("updated",)):
        for item in page.named(*names):
            readings = [found for line in item.value.split("\n") if (found := dates.find(line))]
            if readings and item.name == "changelog":
                return min(readings, key=lambda r: r.iso or r.day_first or "9"), f"the first entry of {item.where}"
            if readings:
                return readings[0], item.where
    found = dates.find(name.number)
    return (found, "the file name") if found and found.iso else None


def date(reading: tuple[dates.Reading, str] | None, order: dates.Order, notes: Notes) -> str:
    """Return the ISO date, or "" where none is written or the day cannot be told from the month."""
    if reading is None:
        notes.decided.append("no date: none is written")
        return ""
    found, where = reading
    iso = dates.settle(found, order)
    if not iso and found.ambiguous:
        notes.doubts.append(f"date {found.written!r} ({where}) is {found.day_first} or {found.month_first}: left out")
    elif not iso:
        notes.doubts.append(f"date {found.written!r} ({where}) is no day of the calendar: left out")
    else:
        settled = f"; {order}, as in the other dates of this folder" if found.ambiguous else ""
        notes.decided.append(f"date {iso} from {where}: {found.written!r}{settled}")
    return iso


def relate(page: Page, name: Name, index: Index, notes: Notes) -> dict[str, list[str]]:
    """Return relation -> ids, each only as written; ambiguous and dangling references become doubts."""
    found: dict[str, list[str]] = {}
    for claim, where in _claims(page, index):
        for ref in claim.refs:
            target = index.resolve(ref, page.path, name)
            relation = relations.PARTLY.get(claim.relation, claim.relation) if claim.partial else claim.relation
            if not target.id:
                if claim.certain:
                    notes.dangling |= {relation} if "refers to the record itself" not in target.doubt else set()
                    notes.doubts.append(f"{relation} at {where} leads nowhere: {target.doubt}")
            elif not claim.certain:
                said = f"{where}: {claim.quote[:80]!r} is not said of the whole record"
                notes.doubts.append(f"{said}: no relation to {target.id}")
            elif target.id not in found.setdefault(relation, []):
                found[relation].append(target.id)
                part = "; in part, so it retires nothing" if relation != claim.relation else ""
                notes.decided.append(f"{relation} {target.id} from {where}: {claim.quote[:80]!r}{part}")
                notes.doubts += [f"{relation} {target.id}: {target.note}"] if target.note else []
    return {relation: ids for relation, ids in found.items() if ids}


def _claims(page: Page, index: Index) -> list[tuple[relations.Claim, str]]:
    claims: list[tuple[relations.Claim, str]] = []
    for item in page.fields:
        if item.name in RELATIONS:
            claim = relations.from_field(item.name.replace(" ", "_"), item.value, page.links, index)
            claims += [(claim, item.where)] if claim else []
        elif item.name == "status" and not wording.is_menu(item.value):
            still = item.where != marks.TITLE and bool(wording.read(item.value).note)
            for piece in re.split(r"\n\s*\n|\n(?=\s*[-*+>] )", item.value[: wording.ENOUGH]):
                found = relations.from_text(piece, "status", page.links, index)
                claims += [(replace(c, partial=c.partial or still), item.where) for c in found]
    for block in page.blocks:
        claims += [(c, f"line {block.line}") for c in relations.from_text(block.text, "prose", page.links, index)]
    return claims


def tags(page: Page) -> list[str]:
    """Return the tags of the front matter or header, as written."""
    values = [part for item in page.named("tags")[:1] for part in re.split(r"[,\n;]", item.value)]
    cleaned = [wording.clean(value).strip(" -*#[]'\"") for value in values]
    return list(dict.fromkeys(value for value in cleaned if 0 < len(value) <= 60))  # noqa: PLR2004 - a word or two


def has_status(page: Page) -> bool:
    """Whether a status is written, not just offered by template text."""
    return any(wording.read(item.value).status for item in page.named("status", "stage"))


def says_nothing(page: Page) -> bool:
    """Whether a page has no sign of a decision record: no status, no date, and not two of its headings."""
    sections = {heading.lower() for heading in page.headings if is_section(heading)}
    return not page.named("status", "date") and len(sections) < 2  # noqa: PLR2004 - stated above


def settle(state: tuple[str, str], links: Mapping[str, list[str]], notes: Notes) -> tuple[str, str]:
    """Return the status in the light of the relations: a successor named, and no status, means superseded."""
    successors = links.get("superseded_by")
    if state[0] == "unknown" and (successors or "superseded_by" in notes.dangling):
        notes.decided.append(f"status superseded: it names its successor {(successors or ['which is not here'])[0]}")
        return "superseded", state[1]
    if state[0] == "superseded" and not successors:
        notes.doubts.append("superseded, but by which record is not written")
    if state[0] == "accepted" and "superseded_by" in notes.dangling and not successors:
        notes.decided.append("status superseded: it names a successor that is not here")
        return "superseded", state[1]
    if state[0] == "accepted" and successors:
        notes.doubts.append(f"the status says accepted, yet it is written to be superseded by {successors[0]}")
    return state
