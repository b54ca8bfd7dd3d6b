from __future__ import annotations

from sidecar.floors import shipped_glossary
from sidecar.gloss import reverse, translate

BACK = reverse({"database": ["資料庫", "数据库"], "record": ["記錄"], "store": ["store house"]}, {"ledger": ["記錄"]})


def test_longest_known_words_are_translated_in_order() -> None:
    """Each known run becomes its English words, once, and Latin tokens stay as they stand."""
    assert translate("記錄放在哪個資料庫？用 SQLite", BACK) == "record ledger database SQLite"


def test_unknown_words_translate_to_nothing() -> None:
    """A question without a known word gives an empty text, so that the caller asks it as it stands."""
    assert translate("今天天氣", BACK) == ""


def test_only_cjk_forms_are_turned_round() -> None:
    """An English synonym of a glossary is no translation."""
    assert "store house" not in BACK


def test_the_shipped_glossary_has_both_scripts() -> None:
    """Words in traditional and in simplified writing meet the same English word."""
    back = reverse(shipped_glossary())
    assert translate("資料庫", back) == translate("数据库", back) == "database"
