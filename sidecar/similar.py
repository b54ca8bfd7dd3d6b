"""How alike two records' texts are, by their words alone: the same on every machine, with no model. Pure."""

from __future__ import annotations

from collections import Counter

from seed.record import Record
from seed.text import words

SAME = 0.8
"""From here on a proposal says what a pending one says already: it is counted there instead of written again."""
ALIKE = 0.5
"""From here on two records are worth a reviewer's look as duplicates."""


def bag(record: Record) -> Counter[str]:
    """Return how often each index word stands in a record's title and body."""
    return Counter(words(f"{record.title}\n{record.body}"))


def overlap(one: Counter[str], other: Counter[str]) -> float:
    """Return the weighted Jaccard similarity (Ruzicka 1958) of two bags of words: shared over all, 0 to 1."""
    together = (one | other).total()
    return (one & other).total() / together if together else 0.0
