"""From a path to an id, and which files are no records: READMEs, indexes and templates."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from seed.errors import SidecarError

if TYPE_CHECKING:
    from collections.abc import Iterable

_NUMBER = r"(?P<number>\d{4}-\d{2}-\d{2}|\d+(?:(?<=\d{3})[a-z])?)(?=[^A-Za-z0-9]|$)"
_STEM = re.compile(rf"^(?:(?P<label>[A-Za-z]{{1,12}}?)[-_ .#]*)?{_NUMBER}[-_ .:]*(?P<slug>.*)$")
LABELS = frozenset(
    {"adr", "ad", "adl", "rfc", "dr", "decision", "record", "kep", "pep", "edr", "tdr", "no"}
) | frozenset({"dep", "tep", "oep", "eip", "erc", "cip", "jep", "bip", "gep"})
_INDEX = frozenset({"readme", "index", "summary", "toc", "contributing", "changelog", "license", "licence"})
_ABOUT = re.compile(
    r"code-of-conduct|security|support|governance|authors|glossary|overview|about|process|(?:decision-|adr-)?log"
    r"|decisions|adrs|(?:table-of-)?contents"
)
_CODES = (
    "ar|bg|bn|ca|cs|da|de|el|en|es|et|fa|fi|fr|he|hi|hr|hu|id|it|ja|ko|lt|lv|nb|nl|no|pl|pt|ro|ru|sk|sl|sr|sv|th|tr"
    "|uk|ur|vi|zh"
)
_LANGUAGE = re.compile(rf"(?:{_CODES})(?:[-_][a-z]{{2,4}})?", re.IGNORECASE)
_LANGUAGE_ENDING = re.compile(rf"^(?P<stem>.+?)[._](?:{_CODES})(?:[-_][a-z]{{2,4}})?$", re.IGNORECASE)
_TRANSLATED = frozenset({"i18n", "translations", "translated", "locales", "lang", "l10n"})
_TEMPLATE = re.compile(r"templates?|boilerplate|skeleton")
_TEMPLATE_COMPANY = re.compile(
    r"(?:adr|rfc|decision|record|doc|document|option)s?|kep|pep|madr|nygard|architectur(?:e|al)|design|proposal|status"
    r"|short|long|full|minimal|bare|simple|example|sample|new|default|lightweight|annotated|markdown|md|title|name"
    r"|your|the|a|any|of|for|here|copy|(?:adr|dr|rfc|kep)?(?:n{2,}|x{2,}|tbd)|y{4}(?:mmdd)?|v"
)
_PLACEHOLDER = re.compile(r"(?:^|[-_ ])(?:n{3,}|x{3,})(?:[-_ ]|$)", re.IGNORECASE)
FOLDER_PAGES = frozenset({"readme", "index", "kep"})
_IN_FOLDER = re.compile(r"^(?:[A-Za-z]{2,6}-)?\d{2,}[-_].+")
_INVALID = re.compile(r"[^A-Za-z0-9._-]+")
MAX_ID = 128


@dataclass(frozen=True, slots=True)
class Name:
    """What a path says: the number exactly as written or "", the slug, and the label before the number."""

    number: str
    slug: str
    label: str = ""

    @property
    def value(self) -> int | None:
        """The number as an integer, None for none and for a date."""
        digits = re.match(r"\d+(?!\d*-)", self.number)
        return int(digits[0]) if digits else None


def read_name(path: str, labels: frozenset[str] = frozenset()) -> Name:
    """Read one path; a README or index inside a numbered folder is named by the folder."""
    pure = PurePosixPath(path)
    stem = pure.stem
    if stem.lower() in FOLDER_PAGES and _IN_FOLDER.match(pure.parent.name):
        stem = pure.parent.name
    match = _STEM.match(stem)
    if not match or (match["label"] and match["label"].lower() not in LABELS | labels):
        return Name("", stem)
    return Name(match["number"], match["slug"], (match["label"] or "").lower())


def shared_labels(paths: Iterable[str]) -> frozenset[str]:
    """Return labels of the folder's own, e.g. ``arc`` in ``ARC-012-x.md``: on three files and half of all."""
    stems = [PurePosixPath(path).stem for path in paths]
    matches = [match for stem in stems if (match := _STEM.match(stem))]
    counts = Counter(match["label"].lower() for match in matches if match["label"])
    return frozenset(label for label, n in counts.items() if n >= 3 and 2 * n >= len(stems))  # noqa: PLR2004


def translations(paths: Iterable[str]) -> dict[str, str]:
    """Return the paths that are translations, each with its original: ``0001-x.de.md``, ``ja/0001-x.md``.

    A page in another language without an original beside it is an original.
    """
    every = {path.lower(): path for path in paths}
    found: dict[str, str] = {}
    for path in every.values():
        pure = PurePosixPath(path)
        choices: list[PurePosixPath] = []
        if match := _LANGUAGE_ENDING.match(pure.stem):
            choices.append(pure.with_name(match["stem"] + pure.suffix))
        for n, part in enumerate(pure.parts[:-1]):
            if _LANGUAGE.fullmatch(part):
                before, after = pure.parts[:n], pure.parts[n + 1 :]
                choices.append(PurePosixPath(*before, *after))
                choices += [PurePosixPath(*before, "en", *after)] if part.lower() != "en" else []
                choices += [PurePosixPath(*before[:-1], *after)] if before and before[-1] in _TRANSLATED else []
        original = next((every[key] for c in choices if (key := c.as_posix().lower()) in every), "")
        if original and original != path:
            found[path] = original
    return found


def skip_reason(path: str, name: Name) -> str:
    """Return why a file of this name is no record, or ""."""
    pure = PurePosixPath(path)
    if name.number and pure.stem.lower() in FOLDER_PAGES and _IN_FOLDER.match(pure.parent.name):
        return ""  # 0007-some-choice/README.md is the record of its folder
    words = _words(name.slug or pure.stem)
    if _is_template(words) or (not name.number and _PLACEHOLDER.search(pure.stem)):
        return "a template, by its name"
    if any(_is_template(_words(part)) for part in pure.parts[:-1]):
        return "in a folder of templates"
    if set(words) & _INDEX and len(words) <= 2:  # noqa: PLR2004 - "readme", "adr-index", not "index-by-date-in-search"
        return "a README or index, by its name"
    if not name.number and _ABOUT.fullmatch("-".join(words)):
        return "a page about the folder, by its name"
    return ""


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[^a-z]+", text.lower()) if word]


def _is_template(words: list[str]) -> bool:
    """Whether the words speak of a template for records and nothing else ("email-template" is a subject)."""
    others = [word for word in words if not _TEMPLATE.fullmatch(word)]
    return len(others) < len(words) and all(map(_TEMPLATE_COMPANY.fullmatch, others))


def clean(text: str) -> str:
    """Return the text as part of an id: ASCII letters, digits, ``.``, ``_`` and ``-``; never empty."""
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    kept = _INVALID.sub("-", ascii_text)
    kept = re.sub(r"\.{2,}", ".", re.sub(r"-{2,}", "-", kept)).strip("-._")
    kept = re.sub(r"(?:\.lock)+$", "", kept, flags=re.IGNORECASE)
    return kept or "x" + hashlib.sha256(text.encode()).hexdigest()[:8]


def check_prefix(prefix: str) -> str:
    """Return the prefix.

    Raises SidecarError where it cannot begin an id.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", prefix) or ".." in prefix:
        fix = "use letters, digits, '.', '_' and '-', starting with a letter or digit, 64 at most"
        raise SidecarError(f"--prefix {prefix!r} cannot begin an id", fix)
    return prefix


def assign_ids(prefix: str, names: list[tuple[str, Name]]) -> dict[str, str]:
    """Give every path an id: prefix and number; no number: the slug; a clash: the slug appended.

    The first path in order keeps the short id, so that a later file with a taken number renames nothing.
    """
    ids: dict[str, str] = {}
    taken: set[str] = set()
    for path, name in names:
        short = f"{prefix}-{name.number or clean(name.slug)}"
        folder = clean(PurePosixPath(path).parent.as_posix())
        slug = clean(name.slug or PurePosixPath(path).stem)
        choices = [
            short,
            f"{short}-{slug}" if name.number else f"{short}-{folder}",
            f"{short}-{slug}-{folder}",
        ]
        digest = hashlib.sha256(path.encode()).hexdigest()[:8]
        options = [choice[:MAX_ID].rstrip("-._") for choice in choices]
        options.append(f"{short[: MAX_ID - 9]}-{digest}")
        ids[path] = next(option for option in options if option.lower() not in taken)
        taken.add(ids[path].lower())
    return ids
