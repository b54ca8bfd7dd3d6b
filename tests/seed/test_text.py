from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.text import EXACT, content_words, exact_tokens, fold, is_cjk, terms, word_count, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see decision-0007 now", ["decision-0007"]),
        ("in seed/store.py, line 33 or 3", ["seed/store.py", "33"]),
        ("pass --dry-run or -v3", ["--dry-run", "-v3"]),
        ("call std::vector and os.path", ["std::vector", "os.path"]),
        ("MAX_BYTES and getUserName", ["max_bytes", "getusername"]),
        ("(see `ADR-0042`.)", ["adr-0042"]),
        ("version v1.2.3, or 1.10.", ["v1.2.3", "1.10"]),
        ("./run.sh", ["run.sh"]),
        (".github/workflows/ci.yml", [".github/workflows/ci.yml"]),
        ("SIDECAR_HOME=/tmp/x", ["sidecar_home", "tmp/x"]),
        ("plain words, e.g. these and/or those", []),
        ("Postgres and SQLite", []),
        ("adr-0007を見る", ["adr-0007"]),
        ("a -- b - c", []),
        ("twice x1 and x1", ["x1"]),
    ],
)
def test_exact_tokens_are_ids_paths_flags_and_identifiers(text: str, expected: list[str]) -> None:
    """A token with a digit, _, ., /, :: or inner capitals is exact; plain words and abbreviations are not."""
    assert exact_tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("決定", ["決定"]),
        ("決", ["決"]),
        ("平台的資料", ["平台", "台的", "的資", "資料"]),
        ("DBを使う", ["db", "を使", "使う"]),
        ("資料 庫", ["資料", "庫"]),
    ],
)
def test_cjk_text_is_indexed_by_bigrams(text: str, expected: list[str]) -> None:
    """Runs of CJK characters become overlapping pairs; a single one stands alone; Latin words beside them are words."""
    assert words(text) == expected


def test_english_words_are_stemmed() -> None:
    """Forms of one word meet in one stem."""
    assert words("stored records storing") == words("store record store")


def test_words_of_no_meaning_of_their_own_can_be_left_out() -> None:
    """Stop words are indexed, since they help to tell an answered question, but they are no content."""
    assert content_words("what is it for") == []
    assert content_words("where the records are, the records") == words("records")
    assert words("what is it for")


def test_an_identifier_is_found_whole_and_by_its_parts() -> None:
    """getUserName is indexed as one word and as three."""
    found = words("getUserName")
    assert found[0] == "getusernam"
    assert words("user")[0] in found


@given(st.text(max_size=80))
def test_width_and_case_do_not_matter(text: str) -> None:
    """Full-width and compatibility forms and capitals index as their plain forms."""
    assert fold(fold(text)) == fold(text)
    assert words("ＳＱＬＩＴＥ") == words("sqlite")


@given(st.text(max_size=120))
def test_any_text_has_terms_and_the_two_kinds_never_meet(text: str) -> None:
    """Exact tokens carry a mark that no word can start with, and each counts once."""
    counted = terms(text)
    assert all(count == 1 for term, count in counted.items() if term.startswith(EXACT))
    assert not any(word.startswith(EXACT) for word in words(text))
    assert word_count(counted) == len(words(text))


def test_a_path_is_also_found_by_its_base_name() -> None:
    """A file is asked for by its name as often as by its path."""
    counted = terms("see seed/store.py")
    assert counted[EXACT + "seed/store.py"] == counted[EXACT + "store.py"] == 1


@pytest.mark.parametrize(
    ("text", "expected"), [("abc", False), ("a決b", True), ("한국", True), ("かな", True), ("é", False)]
)
def test_any_cjk_character_makes_a_text_cjk(text: str, expected: bool) -> None:
    """One Chinese, Japanese or Korean character is enough to need the other model."""
    assert is_cjk(text) is expected
