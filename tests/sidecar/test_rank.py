from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.lexical import Lexical
from sidecar.rank import Evidence, combine, exact, order, supported, term_groups

MARGIN = st.integers(-(10**6), 10**6).map(lambda n: n / 10**6)
"""Evidence is rounded to 6 decimals before anything is made of it."""
MARGINS = st.lists(MARGIN, min_size=1, max_size=8)


def evidence(margins: list[float], cosine: float = 0.0) -> Evidence:
    n = len(margins)
    lexical = Lexical((), np.zeros(n), np.zeros((0, n), dtype=bool))
    values = np.array(margins, dtype=np.float64)
    return Evidence(np.clip(values, 0, 1), values, np.full(n, cosine), np.arange(n, dtype=np.intp), lexical)


@pytest.mark.parametrize(
    ("scores", "dates", "expected"),
    [
        ([0.1, 0.3, 0.2], ["", "", ""], [1, 2, 0]),
        ([0.5, 0.5, 0.5], ["2026-01-01", "", "2026-02-01"], [2, 0, 1]),
        ([0.5, 0.5], ["2026-01-01", "2026-01-01"], [1, 0]),
        ([0.5000004, 0.5000001], ["2026-01-01", "2026-02-01"], [1, 0]),
    ],
)
def test_order_is_score_then_date_then_id(scores: list[float], dates: list[str], expected: list[int]) -> None:
    """Score rounded to 6 decimals, newer first and undated last, then id."""
    ids = ["b", "a", "c"][: len(scores)]
    assert order(np.array(scores), dates, ids) == expected


@given(
    st.lists(
        st.tuples(st.floats(0, 2), st.sampled_from(["", "2026-01-01", "2026-02-02"]), st.text(max_size=3)), max_size=12
    ),
    st.randoms(),
)
def test_order_does_not_depend_on_how_records_came_in(rows: list[tuple[float, str, str]], chance: Any) -> None:
    """The same records are ordered alike, whatever order the store gave them in."""

    def ordered(items: list[tuple[float, str, str]]) -> list[tuple[float, str, str]]:
        found = order(np.array([i[0] for i in items]), [i[1] for i in items], [i[2] for i in items])
        return [(round(items[n][0], 6), *items[n][1:]) for n in found]

    shuffled = rows[:]
    chance.shuffle(shuffled)
    assert ordered(rows) == ordered(shuffled)


@given(MARGINS)
def test_support_keeps_the_strongest_and_the_order(margins: list[float]) -> None:
    """Support changes neither which record is first, nor its margin, nor the order of the others, nor what is none."""
    among = np.arange(len(margins), dtype=np.intp)
    before, after = evidence(margins), supported(evidence(margins), among)
    assert after.margin.max() == pytest.approx(before.margin.max())
    assert (after.margin.max() > 0) == (before.margin.max() > 0)
    ranked = before.margin[np.argsort(before.margin, kind="stable")]
    assert np.all(np.diff(after.margin[np.argsort(before.margin, kind="stable")]) >= -1e-12), ranked


@given(MARGINS)
def test_support_comes_only_from_those_who_may_answer(margins: list[float]) -> None:
    """A record that is held back lifts nobody, and nobody lifts it."""
    alone = supported(evidence([1.0, *margins]), np.arange(1, len(margins) + 1, dtype=np.intp))
    whole = supported(evidence(margins), np.arange(len(margins), dtype=np.intp))
    assert alone.margin[0] == 1.0
    assert alone.margin[1:].tolist() == whole.margin.tolist()
    assert supported(evidence(margins), np.empty(0, np.intp)).margin.tolist() == margins


@given(MARGINS, st.data())
def test_phrasings_together_stay_between_their_extremes(margins: list[float], data: st.DataObject) -> None:
    """Two phrasings of one question never say more than the better nor less than the worse of them."""
    other = data.draw(st.lists(MARGIN, min_size=len(margins), max_size=len(margins)))
    both = combine([evidence(margins), evidence(other)]).margin
    assert np.all(both <= np.maximum(margins, other) + 1e-12)
    assert np.all(both >= np.minimum(margins, other) - 1e-12)
    assert combine([evidence(margins)]).margin.tolist() == margins


def test_each_word_is_asked_once_with_its_synonyms() -> None:
    """A repeated word does not count twice, and a synonym stands with its word."""
    assert term_groups("cat dog cat", {"cat": ("felin",)}) == [("cat", "felin"), ("dog",)]


def test_exact_tokens_find_who_holds_and_who_is_named(
    commit: Callable[..., str], record_text: Callable[..., str], provider: Any
) -> None:
    """The id of a record names it; one that has an id, path or flag in it holds that; plain words are neither."""
    commit(
        {
            "knowledge/a.yaml": record_text("use-sqlite"),
            "knowledge/b.yaml": record_text("d-2", body="As use-sqlite says, pass --fast to seed/x.py."),
            "knowledge/c.yaml": record_text("d-3", body="Nothing of it.", tags=["x1"], paths=["seed/y.py"]),
        }
    )
    corpus = provider.session.view().corpus
    position = {head.record.id: n for n, head in enumerate(corpus.heads)}
    assert exact(corpus, "what of USE-SQLITE?").named == (position["use-sqlite"],)
    for token, holder in {"--fast": "d-2", "seed/x.py": "d-2", "x.py": "d-2", "x1": "d-3", "seed/y.py": "d-3"}.items():
        assert list(exact(corpus, f"about {token}").holders) == [position[holder]], token
    assert exact(corpus, "nothing of it").holders == {}
