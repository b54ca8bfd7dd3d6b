from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seed.store import words
from seed.store.database import open_database, writing

LISTS = st.dictionaries(st.integers(0, 2**32 - 1), st.integers(1, 400), max_size=50)
TEXTS = st.dictionaries(
    st.integers(1, 500),
    st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 300), max_size=4),
    min_size=1,
    max_size=30,
)


def fresh(folder: Path) -> sqlite3.Connection:
    return open_database(folder / "words.db")


def all_postings(database: sqlite3.Connection) -> dict[str, dict[int, int]]:
    found = {}
    for term in "abcdef":
        numbers, counts = words.postings(database, term)
        found[term] = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
    return found


@given(LISTS)
def test_a_posting_list_survives_packing(documents: dict[int, int]) -> None:
    """Document numbers come back exactly, counts up to 255."""
    numbers, counts = words.unpack(words.pack(list(documents), list(documents.values())))
    assert numbers.tolist() == list(documents)
    assert counts.tolist() == [min(count, 255) for count in documents.values()]


@given(TEXTS, st.integers(1, 5))
def test_segments_and_their_merge_hold_the_same_statistics(
    tmp_path_factory: pytest.TempPathFactory, texts: dict[int, dict[str, int]], parts: int
) -> None:
    """However many segments documents came in, and after a merge, each term has the same documents and counts."""
    expected: dict[str, dict[int, int]] = {term: {} for term in "abcdef"}
    for number, counts in texts.items():
        for term, count in counts.items():
            expected[term][number] = min(count, 255)
    database = fresh(tmp_path_factory.mktemp("words"))
    numbers = sorted(texts)
    for part in range(parts):
        with writing(database):
            words.add_segment(database, {n: Counter(texts[n]) for n in numbers[part::parts]})
    assert all_postings(database) == expected
    with writing(database):
        words.merge(database)
    assert all_postings(database) == expected
    assert database.execute("SELECT COUNT(DISTINCT segment) <= 1 FROM postings").fetchone() == (1,)
    database.close()


@settings(max_examples=12, deadline=None)
@given(st.lists(st.sampled_from([1, 1, 1, 2, 5, 40, 300]), min_size=60, max_size=90))
def test_segments_of_any_sizes_stay_few(tmp_path_factory: pytest.TempPathFactory, sizes: list[int]) -> None:
    """However much or little is added each time, the number of segments is bounded, and no document is lost."""
    database = fresh(tmp_path_factory.mktemp("words"))
    number = 0
    for size in sizes:
        with writing(database):
            words.add_segment(database, {number + n: Counter({"a": 1, f"b{number}": 2}) for n in range(size)})
        number += size
        assert database.execute("SELECT COUNT(*) FROM segments").fetchone()[0] <= words.MAX_SEGMENTS
    assert sorted(words.postings(database, "a")[0].tolist()) == list(range(number))
    assert database.execute("SELECT SUM(LENGTH(data)) FROM postings").fetchone() == (
        database.execute("SELECT SUM(bytes) FROM segments").fetchone()
    )
    database.close()


def test_a_large_segment_is_not_written_again(tmp_path: Path) -> None:
    """Small changes are merged among themselves: the first segment keeps its documents alone."""
    database = fresh(tmp_path)
    for number in range(2 * words.MAX_SEGMENTS):
        with writing(database):
            words.add_segment(database, {number * 1000 + n: Counter({"a": 1}) for n in range(1 if number else 900)})
    (first,) = database.execute("SELECT data FROM postings WHERE segment = 1 AND term = 'a'").fetchone()
    assert words.unpack(first)[0].tolist() == list(range(900))


def test_a_merge_may_drop_what_no_snapshot_holds(tmp_path: Path) -> None:
    """Documents that are not kept are gone from every list, and a list without documents is gone too."""
    database = fresh(tmp_path)
    with writing(database):
        words.add_segment(database, {1: Counter({"a": 1, "b": 2}), 2: Counter({"a": 3})})
        words.merge(database, np.array([2], dtype=np.uint32))
    assert all_postings(database)["a"] == {2: 3}
    assert database.execute("SELECT COUNT(*) FROM postings").fetchone() == (1,)


def test_an_unknown_term_has_no_postings(tmp_path: Path) -> None:
    """A word that is nowhere gives two empty arrays."""
    numbers, counts = words.postings(fresh(tmp_path), "nowhere")
    assert (len(numbers), len(counts)) == (0, 0)
