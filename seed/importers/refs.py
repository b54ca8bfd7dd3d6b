"""References to other records: links, URLs, numbers and titles, and which record each one means."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from seed.importers.naming import FOLDER_PAGES, Name, read_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SERIES = r"(?:adrs?|ad|dr|decisions?|records?|numbers?|no\.?|nr\.?)"
_LINK = re.compile(
    r"!?\[\[(?P<wiki>[^\]|]{1,300})(?:\|[^\]]{0,300})?\]\]"
    r"|!?\[(?P<text>(?:[^\[\]]|\[[^\[\]]{0,300}\]){0,300})\]"
    r"(?:\(\s?<?(?P<to>[^)\s>]{0,2000})>?[^)]{0,300}\)|\[(?P<key>[^\]]{0,300})\])"
    r"|<?(?P<url>https?://[^\s>)\]]+)>?"
    r"|\[(?P<short>[^\[\]]{1,300})\](?!\()"
    r"|(?<![\w./%-])(?P<file>[\w./%-]{1,300}\.(?:md|markdown|rst|mdx))\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?:(?<=[#\s(\[])|^)(?:(?P<label>[A-Za-z]{1,8})[-_ #.]*)?(?P<number>\d{1,6})(?![\d.]*\d|\w)")
TOKEN = re.compile("\ue000(\\d+)\ue001")


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference as written: ``target`` of a link ("" for none) and the text shown."""

    text: str
    target: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What a reference means: an id; or "" and why not. ``note`` says when it had to be looked at twice."""

    id: str
    doubt: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Index:
    """The records of a folder by path, file name, number and title, and the label of each one's number."""

    paths: Mapping[str, str]
    stems: Mapping[str, list[str]] = field(default_factory=dict)
    numbers: Mapping[int, list[str]] = field(default_factory=dict)
    titles: Mapping[str, list[str]] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)

    def resolve(self, ref: Ref, path: str, name: Name) -> Found:
        """Resolve a reference in the page at ``path``: by its target, else its number, else its title."""
        found = self._by_target(ref.target, path) if ref.target else None
        if found is None:
            found = self._by_text(ref.text, name)
            if found.id and ref.target:
                note = f"the link to {ref.target} leads to no record: taken by its number"
                found = Found(found.id, note=note)
        if found.id and found.id == self.paths.get(path.lower()):
            return Found("", f"{ref.text or ref.target!r} refers to the record itself")
        return found

    def is_title(self, text: str) -> bool:
        """Whether exactly one record of the folder has this title."""
        return len(self.titles.get(plain(text), [])) == 1

    def is_label(self, text: str) -> bool:
        """Whether this is a number under the folder's own label, e.g. ``ARC-12``."""
        label, _, number = re.sub(r"[-_]", " ", text).partition(" ")
        return label.lower() in self.labels.values() and number.isdigit()

    def _by_target(self, target: str, path: str) -> Found | None:
        parts = urlsplit(target)
        route = unquote(parts.path)
        if not parts.scheme:
            local = posixpath.normpath(posixpath.join(posixpath.dirname(path), route)).lower()
            if local in self.paths:
                return Found(self.paths[local])
        stem = posixpath.splitext(posixpath.basename(route.rstrip("/")))[0]
        matches = self.stems.get(stem.lower(), [])
        if len(matches) == 1:
            return Found(matches[0])
        if re.search(r"/(?:pull|issues|merge_requests|commit)s?/", route):
            return Found("", f"{target} is no record")
        name = read_name(stem, frozenset(self.labels.values()))
        if parts.scheme or name.value is None:
            return None
        found = self._by_number(name.value, target, name.label)
        return Found(found.id, found.doubt, found.note or f"{target} is a broken link: taken by its number")

    def _by_text(self, text: str, name: Name) -> Found:
        stems = self.stems.get(text.strip().lower(), [])
        titles = self.titles.get(plain(text), [])
        for matches in (stems, titles):
            if len(matches) == 1:
                return Found(matches[0])
        match = _NUMBER.search(text)
        if not match:
            return Found("", f"{text!r} is no record of this folder")
        label = (match["label"] or "").lower().rstrip("s")
        known = {
            *self.labels.values(),
            name.label,
            "",
            "adr",
            "ad",
            "dr",
            "decision",
            "record",
            "number",
            "no",
            "nr",
        }
        if label not in known:
            return Found("", f"{text!r} may be of another series than this folder")
        return self._by_number(int(match["number"]), text, label)

    def _by_number(self, number: int, written: str, label: str) -> Found:
        ids = self.numbers.get(number, [])
        ids = [i for i in ids if label and self.labels[i] == label] or ids
        if len(ids) == 1:
            return Found(ids[0])
        if ids:
            return Found("", f"{written!r} could be {' or '.join(ids)}")
        return Found("", f"{written!r} is no record of this folder")


def build_index(entries: Iterable[tuple[str, Name, str, str]]) -> Index:
    """Build the index of (path, name, id, title)."""
    paths: dict[str, str] = {}
    stems: dict[str, list[str]] = defaultdict(list)
    numbers: dict[int, list[str]] = defaultdict(list)
    titles: dict[str, list[str]] = defaultdict(list)
    labels: dict[str, str] = {}
    for path, name, identifier, title in entries:
        paths[path.lower()] = identifier
        stem = posixpath.splitext(posixpath.basename(path))[0].lower()
        stems[stem].append(identifier)
        if stem in FOLDER_PAGES and "/" in path:  # a link to the folder means its page
            stems[posixpath.basename(posixpath.dirname(path)).lower()].append(identifier)
        if name.value is not None:
            numbers[name.value].append(identifier)
        titles[plain(title)].append(identifier)
        labels[identifier] = name.label
    return Index(paths, stems, numbers, titles, labels)


def plain(title: str) -> str:
    """Return a title for comparison: words in lower case."""
    return " ".join(re.findall(r"\w+", title.lower()))


def tokenise(text: str, definitions: Mapping[str, str]) -> tuple[str, list[Ref]]:
    """Replace every link by a token, so that a sentence can be cut without cutting through a link.

    A link whose own text says the relation (``[Superseded by ADR 5](0005-x.md)``) keeps it before the token.
    """
    refs: list[Ref] = []

    def replace(match: re.Match[str]) -> str:
        shown = next((match[g] for g in ("wiki", "text", "short", "file", "url") if match[g]), "")
        key = (match["key"] or shown).lower()
        target = match["to"] or match["file"] or match["url"] or ""
        if match["short"] or match["key"] is not None:
            target = definitions.get(key, "")
        if match["short"] and not target and not re.search(r"\d", shown):
            return match[0]
        if re.match(r"\W*\w+(?:ed|es)\b(?: (?:by|in part))?", shown) and target:
            shown, kept = re.sub(r"^.*?\b(?:by|with|es)\b\s*", "", shown), shown
            kept = kept[: len(kept) - len(shown)]
            refs.append(Ref(shown, target))
            return f"{kept} \ue000{len(refs) - 1}\ue001"
        refs.append(Ref(shown, target))
        return f"\ue000{len(refs) - 1}\ue001"

    return _LINK.sub(replace, text.replace("\ue000", "").replace("\ue001", "")), refs
