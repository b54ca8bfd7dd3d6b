"""Search by words: a question over 10,000 and 250,000 records, and how long a changed record takes to count."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from evals.bench import made
from evals.bench.figure import Figure, figure, milliseconds
from seed.reader import parse_record
from seed.store import words
from seed.store.database import open_database, writing
from seed.store.store import Store
from sidecar.lexical import Documents, Words

AIMS = {10_000: 5.0, 250_000: 30.0}
_PASSAGES = 2
_TERMS, _ASKED, _QUESTIONS, _CHANGES = 2000, 8, 40, 120


def figures(scratch: Path, *, quick: bool) -> Iterator[Figure]:
    """Measure questions of eight words that were not asked before, one in eight as common as a stop word."""
    for records, aim in AIMS.items():
        if not quick or records < 100_000:  # noqa: PLR2004 - the large one takes most of the time
            yield _asked(scratch, records, aim)
    yield from _changed(scratch)


def _asked(scratch: Path, records: int, aim: float) -> Figure:
    path = scratch / f"words-{records}.db"
    database = open_database(path)
    passages = records * _PASSAGES
    chance = np.random.default_rng(3)
    with writing(database):
        for term in range(_TERMS):
            share = 0.6 / (1 + term) if term < _TERMS // 2 else 0.0005
            held = np.flatnonzero(chance.random(passages) < share)
            database.execute(
                "INSERT INTO postings VALUES (1, ?, ?)", (f"t{term}", words.pack(held.tolist(), [1] * len(held)))
            )
        database.execute("INSERT INTO segments VALUES (1, 0)")
    numbers = np.arange(passages, dtype=np.uint32)
    documents = Documents(numbers, np.repeat(np.arange(records, dtype=np.uint32), _PASSAGES),
                          np.arange(passages, passages + records, dtype=np.uint32),
                          np.full(passages, 90.0), np.full(records, 9.0))  # fmt: skip
    index = Words(documents, lambda term: words.postings(database, term))
    spent = []
    for question in range(_QUESTIONS):
        common = (question * 3) % 24
        groups = [(f"t{common}",), *((f"t{n}",) for n in (100 + question * 7 + chance.integers(0, 1700, _ASKED - 1)))]
        index.forget()
        spent.append(milliseconds(lambda asked=groups: index.score(asked)))  # type: ignore[misc]
    database.close()
    path.unlink()
    return figure(f"words, {records:,} records", spent, aim=aim, note="synthetic postings, nothing remembered")


def _changed(scratch: Path) -> Iterator[Figure]:
    """Add one changed record after the other to the words of 2,000, and ask for a word that only it has."""
    from seed.blobs import as_unseen
    from seed.policy import Policy

    store = Store(scratch / "changed")
    texts = [text for _, text in made.records(2000)]
    store.add((as_unseen(f"b{n}", parse_record(text.encode()), Policy()) for n, text in enumerate(texts)), "1")
    spent = []
    for n in range(_CHANGES):
        item = as_unseen(
            f"c{n}", parse_record(texts[n].replace("body: |\n", f"body: |\n  onlyhere{n} ").encode()), Policy()
        )
        spent.append(milliseconds(lambda one=item: store.add([one], "1")))  # type: ignore[misc]
        if len(store.postings(f"onlyhere{n}")[0]) != 1:
            raise AssertionError(f"a changed record is not found by its new word {n}")
    store.close()
    yield figure("words, one changed record current", spent, aim=1.0,
                 note=f"longest {max(spent):.1f} ms: many small segments become one")  # fmt: skip
