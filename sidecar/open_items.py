"""Open items: records tagged `todo`, kept out of the ranking and told beside the results they belong to. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from seed.record import KINDS, STATUSES, TRUSTS, Record
from seed.text import fold
from sidecar.corpus import Admitted, Corpus
from sidecar.query import Query, same_path, tag_tokens

TODO = "todo"
MAX_OPEN = 5
_FEW = 5
_SAYS_NOTHING = frozenset({TODO, *KINDS, *STATUSES, *TRUSTS})
"""A tag that repeats a kind, a status or a trust ties no two records together."""


@dataclass(frozen=True, slots=True)
class OpenItem:
    """One open item of an answer: its ordinal, and in words what ties it to the question or its results."""

    ordinal: int
    why: str


def is_open(record: Record) -> bool:
    """Tell whether a record is an open item: one of its tags is `todo`."""
    return any(map(_is_todo, record.tags))


def _is_todo(tag: str) -> bool:
    return TODO in tag.casefold() and tag_tokens(tag) == [TODO]


def set_aside(corpus: Corpus, query: Query, admitted: Admitted) -> tuple[Admitted, tuple[int, ...]]:
    """Return (what the door let through without open items, the open items); a query for the tag `todo` keeps them."""
    if any(tag_tokens(tag) == [TODO] for tag in query.tags):
        return admitted, ()
    is_waiting = corpus.having("tag", _is_todo)[admitted.results]
    waiting = admitted.results[is_waiting]
    return replace(admitted, results=admitted.results[~is_waiting]), tuple(waiting.tolist())


def open_items(
    corpus: Corpus, waiting: Sequence[int], results: Sequence[int], answers: NDArray[np.bool_]
) -> tuple[OpenItem, ...]:
    """Return at most five of the ``waiting`` open items, the closest tied first.

    One is told when it shares a path or a tag that means something with any of ``results``, or when it answers the
    question itself (``answers`` (m,)), since it would be lost otherwise. Equal ties keep newest first, then id.
    """
    heads = corpus.heads
    held = [heads[n].record for n in results]
    telling = telling_tags(corpus) & {fold(tag) for record in held for tag in record.tags} if waiting else set()
    paths = [path for record in held for path in record.paths]
    found: list[tuple[int, OpenItem]] = []
    for n in sorted(waiting, key=lambda n: heads[n].record.id):
        record = heads[n].record
        shared = [path for path in record.paths if any(tied(path, other) for other in paths)]
        tags = [tag for tag in record.tags if fold(tag) in telling]
        if shared:
            found.append((0, OpenItem(n, f"shares the path {shared[0]}")))
        elif tags:
            found.append((1, OpenItem(n, f"shares the tag {tags[0]}")))
        elif answers[n]:
            found.append((2, OpenItem(n, "speaks of this itself")))
    found.sort(key=lambda pair: heads[pair[1].ordinal].record.date, reverse=True)
    found.sort(key=lambda pair: pair[0])
    return tuple(item for _, item in found[:MAX_OPEN])


def telling_tags(corpus: Corpus) -> set[str]:
    """Return the tags that tell records apart: they repeat no label, and at most half of the records carry them."""
    tags = corpus.facets["tag"]
    folded: dict[str, int] = {}
    codes = np.array([folded.setdefault(fold(tag), len(folded)) for tag in tags.values], np.int64)
    carried = np.unique(codes[tags.codes] * tags.size + tags.owners) // max(tags.size, 1)
    counts = np.bincount(carried, minlength=len(folded)).tolist()
    most = max(_FEW, len(corpus.heads) // 2)
    return {tag for tag, count in zip(folded, counts, strict=True) if count <= most and tag not in _SAYS_NOTHING}


def tied(one: str, other: str) -> bool:
    """Tell whether two paths are the same or one lies in the other; a top-level folder holds too much to tell."""
    one, other = one.rstrip("/"), other.rstrip("/")
    return one == other or (same_path(one, other) and "/" in min(one, other, key=len))
