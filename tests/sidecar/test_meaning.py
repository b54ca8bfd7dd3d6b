from __future__ import annotations

from dataclasses import replace

import pytest

from seed.policy import Policy
from sidecar.meaning import route

ZH = "平台的紀錄放在哪裡？"


@pytest.mark.parametrize(
    ("text", "cjk_records", "changes", "expected"),
    [
        ("where is it kept", False, {}, "first"),
        (ZH, False, {}, "across"),
        (ZH, True, {}, "second"),
        ("where is it kept", True, {}, "second"),
        (ZH, True, {"languages": "off"}, "first"),
        (ZH, False, {"fusion": "lexical"}, "words"),
        (ZH, False, {"fusion": "cosine"}, "second"),
        ("why 資料庫 and not a file on the disk of this machine", False, {}, "first"),  # mixed, mostly English
    ],
)
def test_the_script_of_question_and_records_picks_the_route(
    text: str, cjk_records: bool, changes: dict[str, str], expected: str
) -> None:
    """Each pair of scripts has one route, and a project can switch the second model off."""
    assert route(text, replace(Policy(), **changes), cjk_records=cjk_records).name == expected  # type: ignore[arg-type]


def test_without_the_second_model_a_translation_is_still_asked() -> None:
    """Across scripts the glossary serves the main model alone where a project wants no second one."""
    way = route(ZH, replace(Policy(), languages="off"), cjk_records=False)
    assert (way.first, way.second, way.translated) == (True, False, True)
