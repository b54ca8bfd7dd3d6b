"""How a record came about and what became of it: the chain of supersession both ways, and what cites it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from seed import text
from sidecar.corpus import Corpus
from sidecar.quote import one_line

MOST = 40
_TITLE = 120
_PATH = re.compile(r"(?<![\w./:~-])[\w.][\w.+-]*(?:/[\w.+-]+)+(?![\w/])")
"""A relative path with a slash in it; what follows a scheme or a root is none."""
_AFTER: Mapping[str, str] = {"superseded_by": "superseded by", "refuted_by": "refuted by"}
_BEFORE: Mapping[str, str] = {"supersedes": "supersedes", "refutes": "refutes"}


def chain(corpus: Corpus, ordinal: int, today: date) -> list[dict[str, Any]]:
    """Return what the record overturned and what overturned it, step by step, at most 40 of each.

    Each is ``{id, step, relation, of, status, date, title}``: ``step`` counts from the record, below 0 what came
    before it and above 0 what came after; ``relation`` is told of the record ``of``. An id that no record has is
    there with the status ``missing``, and one that closes a circle with ``cycle: true``.
    """
    before = _walk(corpus, ordinal, today, _BEFORE, -1)
    return [*reversed(before), *_walk(corpus, ordinal, today, _AFTER, 1)]


def _walk(corpus: Corpus, start: int, today: date, relations: Mapping[str, str], way: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    seen, waiting = {start}, [(start, 0)]
    while waiting and len(found) < MOST:
        at, step = waiting.pop(0)
        own = corpus.heads[at].record.id
        for link in corpus.heads[at].lineage:
            if link.relation not in relations:
                continue
            told = {"id": link.id, "step": step + way, "relation": relations[link.relation], "of": own}
            others = corpus.ordinals(link.id)
            if not others:
                found.append({**told, "status": "missing", "date": "", "title": ""})
            for other in others:
                record = corpus.heads[other].record
                about = {"status": corpus.status(other, today), "date": one_line(record.date)}
                circle = {"cycle": True} if other in seen else {}
                found.append({**told, **about, "title": one_line(record.title, _TITLE), **circle})
                if other not in seen:
                    seen.add(other)
                    waiting.append((other, step + way))
    return found[:MOST]


def cited_by(corpus: Corpus, ordinal: int, today: date) -> list[dict[str, str]]:
    """Return the records that name this one, in a relation or in their text: ``{id, how, status}``, at most 40."""
    ident = corpus.heads[ordinal].record.id
    wanted = ident.casefold()
    citing = {*corpus.naming(wanted), *corpus.holding(text.EXACT + text.fold(ident)).tolist()}
    found = []
    for n in sorted(citing.difference(corpus.ordinals(wanted))):
        head = corpus.heads[n]
        how = [relation for relation, target in head.record.relations if target.casefold() == wanted]
        found.append({"id": head.record.id, "how": ", ".join(how) or "in its text", "status": corpus.status(n, today)})
    return found[:MOST]


def named_paths(paths: tuple[str, ...], body: str) -> list[str]:
    """Return the repository paths a record names: its `paths`, and what looks like a file's path in its text."""
    in_text = [path for found in _PATH.findall(body) if _is_file(path := found.rstrip("."))]
    return list(dict.fromkeys([*(path.rstrip("/") for path in paths), *in_text]))[:MOST]


def _is_file(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return bool(folder) and "." in name.strip(".")
