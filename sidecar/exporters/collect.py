"""What an export holds: the records that the one door lets through, each with its effective status and lineage."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, date
from typing import TYPE_CHECKING

from seed.errors import SidecarError
from seed.git.repository import KNOWLEDGE
from seed.git.tree import UnreadableBlobError, read_blob
from seed.reader import parse_record
from seed.record import Record
from seed.yamltext import YamlFaultError, parse
from sidecar.query import Query, by_default, checked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from seed.snapshot import Head
    from sidecar.corpus import Corpus
    from sidecar.provider import Provider

CANDIDATE = "candidate"
_RESERVED = frozenset({"index", "log", "readme"})
_ODD = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\%#\u2028\u2029]')


@dataclass(frozen=True, slots=True)
class Tie:
    """A relation of a record as told in an export: ``name`` is the other's page, "" where it is not exported."""

    relation: str
    id: str
    status: str
    title: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One record: ``status`` is the effective one, ``data`` the keys of its file, ``name`` the path of its page.

    A candidate's ``data`` says that it is one, so that nothing read from an export is taken for reviewed.
    """

    name: str
    path: str
    status: str
    record: Record
    data: dict[str, object]
    ties: tuple[Tie, ...] = ()

    @property
    def in_force(self) -> bool:
        """Tell whether it answers by default."""
        return by_default(self.status, self.record.kind)

    def tied(self, *relations: str) -> tuple[Tie, ...]:
        """Return its ties of these relations, in this order."""
        return tuple(tie for relation in relations for tie in self.ties if tie.relation == relation)


@dataclass(frozen=True, slots=True)
class Export:
    """The records of a commit, in the order of their files. ``candidates`` says how many were left out."""

    repository: str
    commit: str
    day: date
    items: tuple[Item, ...]
    unreadable: tuple[str, ...] = ()
    candidates: int = 0

    @property
    def statuses(self) -> dict[str, int]:
        """Return how many records have each effective status, the most first."""
        return dict(Counter(item.status for item in self.items).most_common())


def collect(provider: Provider, query: Query, budget: float) -> Export:
    """Take the records of HEAD that pass the filters: of every status unless some are named, no candidates then.

    Raises `SidecarError` for filters that cannot be meant, and where the records of HEAD cannot all be read.
    """
    asked = checked(replace(query, statuses=query.statuses or ("all",), listing=True, limit=1))
    view = provider.session.healing(lambda: provider.session.view(vectors=False, budget=budget))
    if view.stale:
        raise SidecarError(f"the records of HEAD could not be read: {view.degraded}", "run 'sidecar seed'")
    corpus, day = view.corpus, provider.clock().astimezone(UTC).date()
    admitted = [int(n) for n in corpus.admit(asked, day, asked.workspace).results]
    wanted = [n for n in admitted if CANDIDATE in asked.statuses or corpus.status(n, day) != CANDIDATE]
    names = page_names([corpus.heads[n].path for n in wanted])
    pages: dict[str, str] = {}
    for n, name in zip(wanted, names, strict=True):
        pages.setdefault(corpus.heads[n].record.id.casefold(), name)
    items, known = [], _known(corpus, day)
    for n, name in zip(wanted, names, strict=True):
        ties = _ties(corpus.heads[n], known, pages)
        items.append(_item(provider, corpus.heads[n], name, corpus.status(n, day), ties))
    unreadable = tuple(one.path for one in corpus.snapshot.unreadable)
    return Export(provider.session.repo.name, view.commit, day, tuple(items), unreadable, len(admitted) - len(wanted))


def _item(provider: Provider, head: Head, name: str, status: str, ties: tuple[Tie, ...]) -> Item:
    try:
        content = read_blob(provider.session.repo, head.blob)
        data, record = parse(content).data, parse_record(content).record
    except UnreadableBlobError as exc:
        raise SidecarError(f"{head.path}: {exc.reason}", exc.fix) from None
    except YamlFaultError as fault:  # it was readable when it was seeded
        raise SidecarError(f"{head.path}: {fault.reason}", fault.fix) from None
    if head.origin:
        data = {**{k: v for k, v in data.items() if k.strip().casefold() != "status"}, "status": CANDIDATE}
    return Item(name, head.path, status, record or head.record, data, ties)


def _known(corpus: Corpus, day: date) -> dict[str, tuple[str, str]]:
    """Return the (status, title) of each id that the door lets through; of several, one that answers by default."""
    found: dict[str, tuple[str, str]] = {}
    for n in corpus.admit(Query("x", statuses=("all",)), day).passed:
        record, status = corpus.heads[n].record, corpus.status(int(n), day)
        if record.id.casefold() not in found or by_default(status, record.kind):
            found[record.id.casefold()] = (status, record.title)
    return found


def _ties(head: Head, known: dict[str, tuple[str, str]], pages: dict[str, str]) -> tuple[Tie, ...]:
    found = []
    for link in head.lineage:
        key = link.id.casefold()
        status, title = known.get(key, (link.status, ""))
        found.append(Tie(link.relation, link.id, status, title, pages.get(key, "")))
    return tuple(found)


def page_names(paths: Sequence[str]) -> list[str]:
    """Return the name of each record's page without its ending: its path below knowledge/, unique on any disk."""
    taken: set[str] = set()
    found = []
    for path in paths:
        name = _plain_name(path.removeprefix(f"{KNOWLEDGE}/").removesuffix(".yaml"))
        while name.casefold() in taken:
            name += "_"
        taken.add(name.casefold())
        found.append(name)
    return found


def _plain_name(path: str) -> str:
    parts = [_ODD.sub("_", part) for part in path.split("/")]
    parts = ["_" + part[1:] if part.startswith(".") else part for part in parts]
    last = parts[-1] or "_"
    return "/".join([*parts[:-1], f"{last}_" if last.casefold() in _RESERVED else last])


def relative(page: str, other: str, ending: str) -> str:
    """Return the link from one page to another, both named without their ending."""
    from urllib.parse import quote

    return quote(posixpath.relpath(other + ending, posixpath.dirname(page) or "."))


def counted(statuses: dict[str, int]) -> str:
    """Return counts in words: "12 accepted, 3 superseded"."""
    return ", ".join(f"{count} {status}" for status, count in statuses.items()) or "none"


def folders(names: Iterable[str]) -> list[str]:
    """Return every folder that has a page in or below it, the outermost ("") first."""
    found = {""}
    for name in names:
        at = posixpath.dirname(name)
        while at:
            found.add(at)
            at = posixpath.dirname(at)
    return sorted(found)
