from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from seed.embed.base import ToyEmbedder
from seed.policy import Policy
from sidecar.floors import shipped_probes
from sidecar.meaning import Meaning, route
from sidecar.provider import Provider
from sidecar.query import Query

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


def test_a_chinese_record_among_english_ones_is_found_by_its_own_words(
    repository: Path,
    commit: Callable[..., str],
    record_text: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beside the translation the question's own words count where a record has them; without that nothing is found."""
    records = {
        "a": "Jobs run in a queue",
        "b": "Logs are JSON lines",
        "c": "Readings go to a database",
        "d": "登录使用邮件链接",
    }
    commit({f"knowledge/{name}.yaml": record_text(name, title=title) for name, title in records.items()})
    opened = Provider(repository, embedders=lambda _: [ToyEmbedder(), ToyEmbedder(48, "other")])

    def found() -> list[str]:
        return [one["id"] for one in opened.recall(Query("怎么登录，用邮件吗？"))["results"]]

    assert found() == ["d"]
    opened.meaning = Meaning(opened.session)
    monkeypatch.setattr(Meaning, "_words", lambda *_: "login")
    assert found() == []
    opened.close()


def test_a_change_embeds_no_probe_again(
    repository: Path, commit: Callable[..., str], record_text: Callable[..., str]
) -> None:
    """The floor after a change is worked out by a new process from the probes' kept vectors, in both languages."""
    asked: list[str] = []

    class Noting(ToyEmbedder):
        def question(self, text: str) -> NDArray[np.float32]:
            asked.append(text)
            return super().question(text)

    def seeded() -> set[str]:
        asked.clear()
        with closing(Provider(repository, embedders=lambda _: [Noting(), Noting(48, "other")])) as opened:
            opened.seed()
        return set(asked)

    commit({"knowledge/a.yaml": record_text("a", title="Jobs run in a queue")})
    probes = {probe for some in shipped_probes().values() for probe in some}
    assert seeded() > probes
    commit({"knowledge/b.yaml": record_text("b", title="Logs are JSON lines")})
    assert not seeded() & probes
